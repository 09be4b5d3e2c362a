"""The state of a variable: an array in the request's dictionary."""

from __future__ import annotations

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero.reference import VariableValues


class TemplateVariableState(VariableState):
    def __init__(self, info: VariableInfo, values: VariableValues) -> None:
        super().__init__(info)
        self._values = values

    def get_state(self) -> Tensor:
        return Tensor(self._values[self.name]) if self.name in self._values else self.empty()

    def set_state(self, tensor: Tensor) -> None:
        self._values[self.name] = tensor.array.copy()

    def reset(self) -> None:
        self._values.pop(self.name, None)

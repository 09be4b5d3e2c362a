"""The state of a variable: an array in the request's dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState

if TYPE_CHECKING:
    from hetero_template.infer_request import TemplateInferRequest


class TemplateVariableState(VariableState):
    def __init__(self, info: VariableInfo, request: TemplateInferRequest) -> None:
        super().__init__(info)
        self._request, self._values = request, request.variables

    @property
    def is_assigned(self) -> bool:
        return self.name in self._request.assigned

    def get_state(self) -> Tensor:
        return Tensor(self._values[self.name]) if self.name in self._values else self.empty()

    def set_state(self, tensor: Tensor) -> None:
        self._values[self.name] = tensor.array.copy()

    def reset(self) -> None:
        self._values.pop(self.name, None)

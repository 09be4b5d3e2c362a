"""The state of a variable: OpenVINO's."""

from __future__ import annotations

import openvino

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero_openvino.memory import array_of, copied_tensor, hetero_type


class OpenVinoVariableState(VariableState):
    def __init__(self, info: VariableInfo, engine: openvino.VariableState) -> None:
        super().__init__(info)
        self._engine = engine

    def get_state(self) -> Tensor:
        content = self._engine.state
        return Tensor(array_of(content, hetero_type(content.element_type)))

    def set_state(self, tensor: Tensor) -> None:
        self._engine.state = copied_tensor(tensor.array, self.info.data_type)

    def reset(self) -> None:
        self._engine.reset()

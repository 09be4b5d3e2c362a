"""The state of a variable: OpenVINO's."""

from __future__ import annotations

import openvino

from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero.tensor import Tensor
from hetero_openvino.memory import array_of, hetero_type, shared_tensor


class OpenVinoVariableState(VariableState):
    def __init__(self, info: VariableInfo, engine: openvino.VariableState) -> None:
        super().__init__(info)
        self._engine = engine

    def get_state(self) -> Tensor:
        content = self._engine.state
        return Tensor(array_of(content, hetero_type(content.element_type)))

    def set_state(self, tensor: Tensor) -> None:
        copy = Tensor(tensor.data)  # OpenVINO may keep the memory that it is given
        self._engine.state = shared_tensor(copy.data, copy.element_type, keeps_alive=True)

    def reset(self) -> None:
        self._engine.reset()

"""The states of variables: OpenVINO's, and those of variables that are ports of OpenVINO's model."""

from __future__ import annotations

import numpy as np
import openvino

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero_openvino.memory import array_of, copied_tensor, hetero_type
from hetero_openvino.translation.variable_ports import VariablePorts


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


class PortVariableState(VariableState):
    """A variable in ``contents``, the input of the next inference, which are not valid unless ``is_set`` is true."""

    is_assigned = False

    def __init__(self, ports: VariablePorts) -> None:
        super().__init__(ports.info)
        self.may_be_assigned = ports.is_assigned
        # OpenVINO fails at values without elements.
        lengths = [dimension.min_length or int(dimension.max_length != 0) for dimension in self.info.data_shape]
        self._nothing = Tensor(self.info.data_type, lengths)
        self.contents, self.is_set = self._nothing, Tensor(np.array(False))

    def assign(self, contents: np.ndarray, is_new: np.ndarray) -> None:
        """Take what an inference assigned, if that is new."""
        self.is_assigned = bool(is_new)
        if self.is_assigned:
            self.set_state(Tensor(contents.view(self.info.data_type.to_dtype()), shared_memory=True))

    def get_state(self) -> Tensor:
        return Tensor(self.contents.array) if self.is_set.array else self.empty()

    def set_state(self, tensor: Tensor) -> None:
        self.contents, self.is_set = Tensor(tensor.array), Tensor(np.array(True))

    def reset(self) -> None:
        self.contents, self.is_set = self._nothing, Tensor(np.array(False))

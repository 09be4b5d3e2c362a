"""The state of a variable: an array in the request's dictionary."""

from __future__ import annotations

from hetero.errors import TensorError
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero.reference import VariableValues
from hetero.shape import PartialShape
from hetero.tensor import Tensor
from hetero.types import Type


class TemplateVariableState(VariableState):
    def __init__(self, info: VariableInfo, values: VariableValues) -> None:
        super().__init__(info.variable_id)
        self._info, self._values = info, values

    def get_state(self) -> Tensor:
        if self.name in self._values:
            return Tensor(self._values[self.name])
        kind, shape = self._info.data_type, self._info.data_shape
        known = shape if shape.has_rank else PartialShape([0])
        return Tensor(Type.f32 if kind.is_dynamic() else kind, [dimension.min_length for dimension in known])

    def set_state(self, tensor: Tensor) -> None:
        kind, shape = self._info.data_type, self._info.data_shape
        if tensor.element_type is not kind and kind.is_static():
            raise TensorError(f"variable '{self.name}' is {kind}, but the tensor has {tensor.element_type}")
        if not shape.compatible(tensor.shape):
            raise TensorError(f"variable '{self.name}' has the shape {shape}, but the tensor has {list(tensor.shape)}")
        self._values[self.name] = tensor.data.copy()

    def reset(self) -> None:
        self._values.pop(self.name, None)

"""VariableState: what an infer request remembers of one variable of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hetero.errors import TensorError
from hetero.graph import VariableInfo
from hetero.shape import PartialShape
from hetero.tensor import Tensor
from hetero.types import Type


class VariableState(ABC):
    """The contents of one variable, which live in an infer request from one inference to the next."""

    def __init__(self, info: VariableInfo) -> None:
        self.info = info

    @property
    def name(self) -> str:
        """The variable's id."""
        return self.info.variable_id

    @property
    def state(self) -> Tensor:
        """A copy of the contents; zeros of the smallest shape that fits while there are none.

        Setting it raises TensorError when type or shape do not fit the variable.
        """
        return self.get_state()

    @state.setter
    def state(self, tensor: Tensor) -> None:
        kind, shape = self.info.data_type, self.info.data_shape
        if tensor.element_type is not kind and kind.is_static():
            raise TensorError(f"variable '{self.name}' is {kind}, but the tensor has {tensor.element_type}")
        if not shape.compatible(tensor.shape):
            raise TensorError(f"variable '{self.name}' has the shape {shape}, but the tensor has {list(tensor.shape)}")
        self.set_state(tensor)

    def empty(self) -> Tensor:
        """Zeros of the smallest shape that fits: what ``state`` is while there are no contents."""
        kind, shape = self.info.data_type, self.info.data_shape
        known = shape if shape.has_rank else PartialShape([0])
        return Tensor(Type.f32 if kind.is_dynamic() else kind, [dimension.min_length for dimension in known])

    @abstractmethod
    def get_state(self) -> Tensor:
        """A copy of the contents, ``empty()`` while there are none (required)."""

    @abstractmethod
    def set_state(self, tensor: Tensor) -> None:
        """Let the contents be a copy of a tensor, of which type and shape are checked already (required)."""

    @abstractmethod
    def reset(self) -> None:
        """Forget the contents: the next inference begins with the model's initial value (required)."""

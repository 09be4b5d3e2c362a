"""VariableState: the contents of one variable of the model in an infer request."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hetero.core.shape import PartialShape
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import VariableInfo
from hetero.system.errors import ArgumentTypeError, TensorError


class VariableState(ABC):
    """The contents of one variable, which an infer request keeps between inferences."""

    def __init__(self, info: VariableInfo) -> None:
        self.info = info

    @property
    def name(self) -> str:
        """The variable's id."""
        return self.info.variable_id

    @property
    def is_assigned(self) -> bool:
        """Whether the last inference assigned the variable (optional): a body or a branch that does may not have run.

        HETERO asks devices whose bodies may have variables. By default each inference assigns each variable.
        """
        return True

    @property
    def state(self) -> Tensor:
        """A copy of the contents, or ``empty()`` if the variable has not been assigned.

        Setting it raises TensorError if type or shape do not fit the variable.
        """
        return self.get_state()

    @state.setter
    def state(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"the state of variable '{self.name}' is a Tensor, not {type(tensor).__name__}")
        kind, shape = self.info.data_type, self.info.data_shape
        if tensor.element_type is not kind and kind.is_static():
            raise TensorError(f"variable '{self.name}' is {kind}, but the tensor has {tensor.element_type}")
        if not shape.compatible(tensor.shape):
            raise TensorError(f"variable '{self.name}' has the shape {shape}, but the tensor has {list(tensor.shape)}")
        self.set_state(tensor)

    def empty(self) -> Tensor:
        """Return zeros of the smallest shape that fits the variable."""
        kind, shape = self.info.data_type, self.info.data_shape
        known = shape if shape.has_rank else PartialShape([0])
        return Tensor(Type.f32 if kind.is_dynamic() else kind, [dimension.min_length for dimension in known])

    @abstractmethod
    def get_state(self) -> Tensor:
        """Return a copy of the contents, or ``empty()`` if the variable has not been assigned (required)."""

    @abstractmethod
    def set_state(self, tensor: Tensor) -> None:
        """Set the contents to a copy of a tensor whose type and shape fit (required)."""

    @abstractmethod
    def reset(self) -> None:
        """Remove the contents, so that the next inference uses the model's initial value (required)."""

"""VariableState: what an infer request remembers of one variable of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hetero.tensor import Tensor


class VariableState(ABC):
    """The contents of one variable, which live in an infer request from one inference to the next."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The variable's id."""
        return self._name

    @property
    def state(self) -> Tensor:
        """A copy of the contents; zeros of the smallest shape that fits while there are none (required)."""
        return self.get_state()

    @state.setter
    def state(self, tensor: Tensor) -> None:
        self.set_state(tensor)

    @abstractmethod
    def get_state(self) -> Tensor:
        """A copy of the contents (required)."""

    @abstractmethod
    def set_state(self, tensor: Tensor) -> None:
        """Set the contents. Raises TensorError when type or shape do not fit the variable (required)."""

    @abstractmethod
    def reset(self) -> None:
        """Forget the contents: the next inference begins with the model's initial value (required)."""

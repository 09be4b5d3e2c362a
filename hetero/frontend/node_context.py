"""NodeContext: what a translator sees of the node that it translates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hetero.graph import Output

# The default of an attribute that must be there.
REQUIRED: Any = object()


class NodeContext(ABC):
    """One node of a model in its own format, with inputs that are translated already."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The node's name, for messages and for the operation that takes its place."""

    @abstractmethod
    def get_op_type(self) -> str:
        """The type of the operation in the format's own words."""

    @abstractmethod
    def get_input_size(self) -> int:
        """The number of inputs, those counted that are left out between others."""

    @abstractmethod
    def get_input(self, index: int) -> Output:
        """The value that an input reads. Raises FrontendError when the input is left out."""

    @abstractmethod
    def has_attribute(self, name: str) -> bool:
        """Whether the node states an attribute."""

    @abstractmethod
    def get_attribute(self, name: str, default: Any = REQUIRED) -> Any:
        """An attribute as a Python value. Raises FrontendError when it is left out and there is no default."""

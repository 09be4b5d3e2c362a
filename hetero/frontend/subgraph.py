"""Subgraphs: graphs among what a node states, which may read values of the graphs around them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from hetero.errors import FrontendError
from hetero.graph import Constant, Model, Node, Output, Parameter, UniqueNames


class Host:
    """A Model in the making: the names that are taken, and what it reads of the graph around it."""

    def __init__(self) -> None:
        self.unique = UniqueNames()
        self.named: set[Node] = set()
        self.captured: dict[Output, Parameter] = {}
        self._constants: dict[Output, Constant] = {}

    def capture(self, value: Output, name: str) -> Output:
        """What stands in this Model for a value of the graph around it: a Parameter, or the same Constant."""
        if isinstance(value.node, Constant):
            if value not in self._constants:
                self._constants[value] = self.name(Constant(value.node.data), name)
            return self._constants[value].output(0)
        if value not in self.captured:
            parameter = Parameter(value.element_type, value.partial_shape)
            parameter.known_value = value.value
            parameter.infer()
            self.captured[value] = self.name(parameter, name)
        return self.captured[value].output(0)

    def name(self, node: Any, name: str) -> Any:
        """The node, under this name or one like it that is free."""
        node.friendly_name = self.unique.take(name)
        self.named.add(node)
        return node


class Body(NamedTuple):
    """A subgraph as a Model. Its parameters are the subgraph's inputs and then those for the ``captured`` values."""

    model: Model
    captured: list[Output]


class Subgraph(ABC):
    """A graph among what a node states, to be translated for inputs of the types at hand."""

    name: str
    input_count: int
    output_count: int

    @abstractmethod
    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        """The subgraph as a Model, in which these nodes are its inputs, which may read ``parameters``.

        Raises FrontendError.
        """

    @abstractmethod
    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        """The outputs of the subgraph, of nodes that are part of the graph around it and whose names begin with this.

        Raises FrontendError.
        """

    def check_input_count(self, given: int) -> None:
        """Raises FrontendError where it does not take so many inputs."""
        if given != self.input_count:
            raise FrontendError(f"its graph '{self.name}' has {self.input_count} inputs, but is given {given}")

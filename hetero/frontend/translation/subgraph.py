"""Subgraphs of control flow nodes, which may read values of the graphs that contain them; the names of their nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from hetero.graph import Constant, Model, Node, Output, Parameter, UniqueNames
from hetero.system.errors import FrontendError

AnyNode = TypeVar("AnyNode", bound=Node)


class ModelScope:
    """The state of a Model under construction: its node names, and the values it captures from the outer graph."""

    def __init__(self) -> None:
        self.unique = UniqueNames()
        self.named: set[Node] = set()
        self.captured: dict[Output, Parameter] = {}
        self._constants: dict[Output, Constant] = {}

    def capture(self, value: Output, name: str) -> Output:
        """Return this Model's value for a value of the outer graph: a Parameter, or a copy of a Constant."""
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

    def name(self, node: AnyNode, name: str) -> AnyNode:
        """Give a node this name, with a suffix if it is taken, and return the node."""
        node.friendly_name = self.unique.take(name)
        self.named.add(node)
        return node


class Body(NamedTuple):
    """A translated subgraph. The model's parameters are the subgraph's inputs, then one for each ``captured`` value."""

    model: Model
    captured: list[Output]


class Subgraph(ABC):
    """A graph in an attribute of a node. It is translated when the types and shapes of its inputs are known."""

    name: str
    input_count: int
    output_count: int

    @abstractmethod
    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        """Translate the subgraph to a Model with these ``parameters``. Raises FrontendError.

        ``inputs``: the nodes that stand for the subgraph's inputs, which are parameters or computed from them.
        """

    @abstractmethod
    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        """Translate the subgraph into the outer graph and return its outputs. Raises FrontendError.

        The friendly names of the new nodes begin with ``name``.
        """

    def check_input_count(self, count: int) -> None:
        """Raise FrontendError if the subgraph does not take this number of inputs."""
        if count != self.input_count:
            raise FrontendError(f"its graph '{self.name}' has {self.input_count} inputs, but is given {count}")


def name_new_nodes(outputs: Sequence[Output], name: str, named: set[Node], unique: UniqueNames) -> None:
    """Name the nodes that a translator made: the node of the first output ``name``, the others ``name/Type``.

    ``named``: the nodes that have names already. The new nodes are added to it.
    """
    worklist = [output.node for output in reversed(outputs)]
    first = outputs[0].node if outputs else None
    while worklist:
        node = worklist.pop()
        if node in named:
            continue
        named.add(node)
        node.friendly_name = name if node is first else unique.take(f"{name}/{node.get_type_name()}")
        worklist += [value.node for value in reversed(node.input_values())]


def name_first_output(name: str, outputs: Sequence[Output | None]) -> None:
    """Give an inlined call's name to the node of its first output.

    Only nodes of the inlined body are renamed; their names begin with ``name/``. An output may also be one of the
    call's inputs, whose node keeps its name.
    """
    if outputs and outputs[0] is not None and outputs[0].node.friendly_name.startswith(f"{name}/"):
        outputs[0].node.friendly_name = name

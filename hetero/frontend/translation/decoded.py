"""A model file as its decoder returns it, the same for all formats, before its operators are translated.

A key identifies a value within its graph. Each format has keys of its own, which are hashable: names, or indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.system.errors import FrontendError

Key = Any


@dataclass
class DecodedTensor:
    """The element type and the shape that the file declares for a value."""

    element_type: Type = Type.dynamic
    partial_shape: PartialShape = field(default_factory=PartialShape.dynamic)


@dataclass
class DecodedNode:
    """A call of an operator.

    ``name``: for messages, and for the operation that replaces the node. ``inputs`` and ``outputs``: the keys of the
    values, None for an omitted one; a format whose ports have names has them by port, and then overrides
    ``input_keys`` and ``output_keys``. ``attributes``: Python values by name. ``bodies``: the graphs that it runs, such
    as branches: each a DecodedGraph, or the key of a function of the model. ``domain``, ``version``: of the operator.
    ``path``: the path of the module or layer that calls the operator, "" in formats without.
    """

    name: str
    op_type: str
    inputs: Any
    outputs: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)
    bodies: Sequence[Any] = ()
    domain: str = ""
    version: int = 1
    path: str = ""

    @property
    def full_name(self) -> str:
        """The name with the path of the module that calls the operator."""
        return f"{self.path}/{self.name}" if self.path else self.name

    @property
    def kind(self) -> str:
        """The operator as messages name it, with what a translator would have to be registered for."""
        return self.op_type

    @property
    def operator_names(self) -> Sequence[str]:
        """The operator types that an extension for this node may have, the most specific first."""
        return [self.op_type]

    @property
    def has_effects(self) -> bool:
        """Whether the node is translated even if no value that it computes is needed."""
        return bool(self.bodies) or next(self.output_keys(), None) is None

    def input_keys(self) -> Iterator[Key]:
        """Yield the keys of the values of this graph that the node, or a graph within it, reads."""
        return (key for key in self.inputs if key is not None)

    def output_keys(self) -> Iterator[Key]:
        """Yield the keys of the values that the node computes."""
        return (key for key in self.outputs if key is not None)


@dataclass
class DecodedGraph:
    """A graph: the main graph, a branch, a loop body or a function. ``nodes`` are in execution order."""

    name: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    nodes: Any

    def name_of(self, key: Key) -> str:
        """Return the name of a value, for messages and for tensor names; "" if it has none."""
        return str(key)


@dataclass
class DecodedModel:
    """A model: its main graph, and the graphs that nodes refer to by their keys."""

    graph: Any
    functions: Mapping[Any, Any] = field(default_factory=dict)

    def graph_of(self, body: DecodedGraph | Key) -> DecodedGraph:
        """Return a graph that a node runs, given as such or by its key. Raises FrontendError if there is none."""
        if isinstance(body, DecodedGraph):
            return body
        if body not in self.functions:
            raise FrontendError(f"there is no function '{body}' in the model")
        return self.functions[body]

    def choose_outputs(self, names: Sequence[str]) -> None:
        """Make these the outputs, so that only what they need is translated.

        ``names``: of values of the main graph, of its nodes with one output, or those that users have for its outputs.
        If there are none, or one is not in the file, because only the translated model has it, the outputs stay.
        """
        by_name = self.keys_by_name()
        if names and all(name in by_name for name in names):
            self.set_outputs({name: by_name[name] for name in names})

    def keys_by_name(self) -> dict[str, Key]:
        """Return the keys of the main graph's values by all names that users may have for them."""
        nodes = [(node, list(node.output_keys())) for node in self.graph.nodes]
        by_node = {node.full_name: keys[0] for node, keys in nodes if len(keys) == 1}
        keys: Iterable[Key] = [*self.graph.inputs, *(key for _, computed in nodes for key in computed)]
        return by_node | {self.graph.name_of(key): key for key in keys}

    def set_outputs(self, outputs: Mapping[str, Key]) -> None:
        """Replace the outputs of the main graph by values, given by the names that users have for them."""
        self.graph = replace(self.graph, outputs=list(dict.fromkeys(outputs.values())))


def needed_nodes(graph: DecodedGraph) -> list[DecodedNode]:
    """Return the nodes that the outputs of a graph depend on, and those with effects, in execution order."""
    needed, nodes = set(graph.outputs), []
    for node in reversed(graph.nodes):
        if node.has_effects or not needed.isdisjoint(node.output_keys()):
            nodes.append(node)
            needed.update(node.input_keys())
    return nodes[::-1]

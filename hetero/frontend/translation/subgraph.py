"""Subgraphs of control flow nodes, which may read values of the graphs that contain them; the names of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hetero.graph import Constant, Model, Node, Output, Parameter, UniqueNames
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.translation.decoded import DecodedGraph
    from hetero.frontend.translation.graph_builder import GraphBuilder
    from hetero.frontend.translation.variables import Variables

AnyNode = TypeVar("AnyNode", bound=Node)
# An Output, None for an omitted value, or an object of the format, such as the handle of a resource.
Value = Any


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
                self._constants[value] = self.name(Constant(value.node.contents), name)
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

    def name_new_nodes(self, outputs: Sequence[Output], name: str) -> None:
        """Name the nodes that a translator made: the node of the first output ``name``, the others ``name/Type``."""
        worklist = [output.node for output in reversed(outputs)]
        first = outputs[0].node if outputs else None
        while worklist:
            node = worklist.pop()
            if node in self.named:
                continue
            self.named.add(node)
            node.friendly_name = name if node is first else self.unique.take(f"{name}/{node.get_type_name()}")
            worklist += [value.node for value in reversed(node.input_values())]


class Body(NamedTuple):
    """A translated subgraph. The model's parameters are the subgraph's inputs, then one for each ``captured`` value."""

    model: Model
    captured: list[Output]


class Subgraph:
    """A graph that a node of ``outer``'s graph runs. It is translated when the types of its inputs are known.

    ``captured``: values of the outer graph that its last inputs stand for; the others are ``input_names``.
    """

    def __init__(self, outer: GraphBuilder, graph: DecodedGraph, captured: Sequence[Output] = ()) -> None:
        self.graph, self._outer, self._captured = graph, outer, captured
        self.name, self.output_count = graph.name or "body", len(graph.outputs)
        self.input_count = len(graph.inputs) - len(captured)
        self.input_names = [graph.name_of(key) for key in graph.inputs[: self.input_count]]

    def with_captured(self, values: Sequence[Output]) -> Subgraph:
        """Return the graph with its last inputs bound to values of the outer graph."""
        return type(self)(self._outer, self.graph, values)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        """Translate the subgraph to a Model with these ``parameters``. Raises FrontendError.

        ``inputs``: the nodes that stand for the subgraph's inputs, which are parameters or computed from them.
        """
        scope = ModelScope()
        for name, node in zip(self.input_names, inputs):
            scope.name(node, name)
        for parameter in parameters:
            if parameter not in scope.named:
                scope.name(parameter, parameter.friendly_name)
        variables = self._outer.variables.in_body(scope)
        results = self._enter([node.output(0) for node in inputs], scope, variables, "").results()
        if variables.assigned:
            raise FrontendError(f"its graph '{self.name}' changes variables, which this operator does not support")
        return Body(Model(results, [*parameters, *scope.captured.values()], self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Value], name: str) -> list[Value]:
        """Translate the subgraph into the outer graph and return its outputs. Raises FrontendError.

        The friendly names of the new nodes begin with ``name``.
        """
        outputs = self.translate_into(self._outer.scope, self._outer.variables, inputs, f"{name}/")
        name_first_output(name, [value for value in outputs if isinstance(value, Output)])
        return outputs

    def translate_into(
        self, scope: ModelScope, variables: Variables, inputs: Sequence[Value], prefix: str = ""
    ) -> list[Value]:
        """Translate the subgraph into any Model under construction; return its outputs. Raises FrontendError."""
        return self._enter(inputs, scope, variables, prefix).translate()

    def _enter(self, inputs: Sequence[Value], scope: ModelScope, variables: Variables, prefix: str) -> GraphBuilder:
        """Return the builder of the subgraph, with its inputs defined."""
        self.check_input_count(len(inputs))
        builder = self._outer.enter(self.graph, scope, variables, prefix)
        names = self.graph.inputs[self.input_count :]
        is_inlined = scope is self._outer.scope
        captured = [
            value if is_inlined else scope.capture(value, self.graph.name_of(key))
            for key, value in zip(names, self._captured)
        ]
        for key, value in zip(self.graph.inputs, [*inputs, *captured]):
            builder.define(key, value)
        return builder

    def check_input_count(self, count: int) -> None:
        """Raise FrontendError if the subgraph does not take this number of inputs."""
        if count != self.input_count:
            raise FrontendError(f"its graph '{self.name}' has {self.input_count} inputs, but is given {count}")


def name_first_output(name: str, outputs: Sequence[Output | None]) -> None:
    """Give an inlined call's name to the node of its first output.

    Only nodes of the inlined body are renamed; their names begin with ``name/``. An output may also be one of the
    call's inputs, whose node keeps its name.
    """
    if outputs and outputs[0] is not None and outputs[0].node.friendly_name.startswith(f"{name}/"):
        outputs[0].node.friendly_name = name

"""Subgraphs: the graphs among the attributes of If, Loop and Scan, which may read values of the graphs around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import GraphProto

from hetero.errors import FrontendError
from hetero.frontend.onnx.names import UniqueNames, let_stand_for
from hetero.graph import Constant, Model, Node, Output, Parameter

if TYPE_CHECKING:
    from hetero.frontend.onnx.graph import GraphBuilder


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


class Subgraph:
    """A graph among a node's attributes, to be translated for inputs of the types at hand."""

    def __init__(self, graph: GraphProto, surroundings: GraphBuilder) -> None:
        self._graph, self._surroundings = graph, surroundings

    @property
    def input_count(self) -> int:
        return len(self._graph.input)

    @property
    def output_count(self) -> int:
        return len(self._graph.output)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        """The subgraph as a Model, in which these nodes are its inputs, which may read ``parameters``.

        Raises FrontendError.
        """
        self._check_count(len(inputs))
        host = Host()
        builder = self._surroundings.enter(host)
        for info, node in zip(self._graph.input, inputs):
            host.name(node, info.name)
            builder.define(info.name, node.output(0))
        for parameter in parameters:
            if parameter not in host.named:
                host.name(parameter, parameter.friendly_name)
        results = builder.results_of(self._graph)
        return Body(Model(results, [*parameters, *host.captured.values()], self._graph.name), list(host.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        """The outputs of the subgraph, of nodes that are part of the graph around it. Raises FrontendError."""
        self._check_count(len(inputs))
        builder = self._surroundings.enter(self._surroundings.host, f"{name}/")
        for info, value in zip(self._graph.input, inputs):
            builder.define(info.name, value)
        outputs = builder.values_of(self._graph)
        let_stand_for(name, outputs)
        return outputs

    def _check_count(self, given: int) -> None:
        if given != self.input_count:
            raise FrontendError(f"its graph '{self._graph.name}' has {self.input_count} inputs, but is given {given}")

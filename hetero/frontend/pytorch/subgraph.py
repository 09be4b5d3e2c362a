"""TorchSubgraph, a graph in an argument of cond, while_loop, scan and other higher-order operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hetero.frontend.pytorch.decoded import DecodedGraph
from hetero.frontend.subgraph import Body, ModelScope, Subgraph, name_first_output
from hetero.graph import Model, Node, Output, Parameter

if TYPE_CHECKING:
    from hetero.frontend.pytorch.graph import GraphBuilder


class TorchSubgraph(Subgraph):
    """A graph, and the builder of the outer graph. It reads no values but its inputs."""

    def __init__(self, graph: DecodedGraph, outer: GraphBuilder) -> None:
        self._graph, self._outer = graph, outer
        self.name, self.input_count, self.output_count = "body", len(graph.inputs), len(graph.outputs)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        scope = ModelScope()
        for name, node in zip(self._graph.inputs, inputs):
            scope.name(node, name)
        outputs = self._translate([node.output(0) for node in inputs], scope)
        return Body(Model(outputs, list(parameters), self.name), [])

    def build_branch(self, inputs: Sequence[Output]) -> Body:
        """Translate the graph to a Model whose parameters stand for values of the outer graph. Raises FrontendError."""
        scope = ModelScope()
        values = [scope.capture(value, name) for name, value in zip(self._graph.inputs, inputs)]
        outputs = self._translate(values, scope)
        return Body(Model(outputs, list(scope.captured.values()), self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        outputs = self._translate(inputs, self._outer.scope, f"{name}/")
        name_first_output(name, outputs)
        return outputs

    def _translate(self, inputs: Sequence[Output], scope: ModelScope, prefix: str = "") -> list[Output]:
        self.check_input_count(len(inputs))
        builder = self._outer.enter(self._graph, scope, prefix)
        for name, value in zip(self._graph.inputs, inputs):
            builder.define(name, value)
        builder.translate()
        return [builder.value(argument, "the output of the graph") for argument in self._graph.outputs]

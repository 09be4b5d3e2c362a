"""OnnxSubgraph, a graph in an attribute of If, Loop or Scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx import GraphProto

from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, name_first_output
from hetero.graph import Model, Node, Output, Parameter

if TYPE_CHECKING:
    from hetero.frontend.onnx.graph import GraphBuilder


class OnnxSubgraph(Subgraph):
    """A graph in a node's attribute, and the builder of the outer graph, which contains the attribute."""

    def __init__(self, graph: GraphProto, outer: GraphBuilder) -> None:
        self._graph, self._outer = graph, outer
        self.name, self.input_count, self.output_count = graph.name, len(graph.input), len(graph.output)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        self.check_input_count(len(inputs))
        scope = ModelScope()
        builder = self._outer.enter(scope)
        for info, node in zip(self._graph.input, inputs):
            scope.name(node, info.name)
            builder.define(info.name, node.output(0))
        for parameter in parameters:
            if parameter not in scope.named:
                scope.name(parameter, parameter.friendly_name)
        results = builder.results_of(self._graph)
        return Body(Model(results, [*parameters, *scope.captured.values()], self._graph.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        self.check_input_count(len(inputs))
        builder = self._outer.enter(self._outer.scope, f"{name}/")
        for info, value in zip(self._graph.input, inputs):
            builder.define(info.name, value)
        outputs = builder.values_of(self._graph)
        name_first_output(name, outputs)
        return outputs

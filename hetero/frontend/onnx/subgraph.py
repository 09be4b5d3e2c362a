"""The graphs among the attributes of If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx import GraphProto

from hetero.frontend.names import name_first_output
from hetero.frontend.subgraph import Body, ModelScope, Subgraph
from hetero.graph import Model, Node, Output, Parameter

if TYPE_CHECKING:
    from hetero.frontend.onnx.graph import GraphBuilder


class OnnxSubgraph(Subgraph):
    """A graph among a node's attributes, and the builder of the graph that the attribute is written in."""

    def __init__(self, graph: GraphProto, surroundings: GraphBuilder) -> None:
        self._graph, self._surroundings = graph, surroundings
        self.name, self.input_count, self.output_count = graph.name, len(graph.input), len(graph.output)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        self.check_input_count(len(inputs))
        host = ModelScope()
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
        self.check_input_count(len(inputs))
        builder = self._surroundings.enter(self._surroundings.host, f"{name}/")
        for info, value in zip(self._graph.input, inputs):
            builder.define(info.name, value)
        outputs = builder.values_of(self._graph)
        name_first_output(name, outputs)
        return outputs

"""TorchSubgraph, a graph in an argument of cond, while_loop, scan and other higher-order operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hetero.frontend.pytorch.decoded import DecodedGraph
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, name_first_output
from hetero.graph import Model, Node, Output, Parameter
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.pytorch.graph import GraphBuilder


class TorchSubgraph(Subgraph):
    """A graph, and the builder of the outer graph. Its last inputs may be values of that graph: ``captured``."""

    def __init__(self, graph: DecodedGraph, outer: GraphBuilder, captured: Sequence[Output] = ()) -> None:
        self._graph, self._outer, self._captured = graph, outer, captured
        self.name, self.output_count = "body", len(graph.outputs)
        self.input_count = len(graph.inputs) - len(captured)

    def with_captured(self, values: Sequence[Output]) -> TorchSubgraph:
        """Return the graph with its last inputs bound to values of the outer graph."""
        return TorchSubgraph(self._graph, self._outer, values)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        scope = ModelScope()
        for name, node in zip(self._graph.inputs, inputs):
            scope.name(node, name)
        names = self._graph.inputs[self.input_count :]
        captured = [scope.capture(value, name) for name, value in zip(names, self._captured)]
        outputs = self._translate([*(node.output(0) for node in inputs), *captured], scope)
        return Body(Model(outputs, [*parameters, *scope.captured.values()], self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        outputs = self._translate([*inputs, *self._captured], self._outer.scope, f"{name}/")
        name_first_output(name, outputs)
        return outputs

    def _translate(self, inputs: Sequence[Output], scope: ModelScope, prefix: str = "") -> list[Output]:
        self.check_input_count(len(inputs) - len(self._captured))
        builder = self._outer.enter(self._graph, scope, prefix)
        for name, value in zip(self._graph.inputs, inputs):
            builder.define(name, value)
        builder.translate()
        if changed := builder.changed() & set(self._graph.inputs):
            raise FrontendError(f"its graph changes its inputs in place ({', '.join(sorted(changed))}): "
                                "export with run_decompositions()")  # fmt: skip
        return [builder.value(argument, "the output of the graph") for argument in self._graph.outputs]

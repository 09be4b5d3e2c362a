"""Parts of a graph as functions of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode
from hetero.system.errors import FrontendError


class GraphSlice:
    """The nodes that some outputs of a graph need, back to values that are given.

    ``arguments``: the name of the argument of each value that ends the slice. ``ends_at``: values that end it as well
    and become arguments when they are met; their names are in ``met``, in order.
    """

    def __init__(
        self,
        graph: TensorflowGraph,
        outputs: Sequence[Reference],
        arguments: Mapping[Reference, str],
        ends_at: Sequence[str] = (),
    ) -> None:
        self._graph, self._outputs, self._arguments = graph, outputs, arguments
        self.met: dict[Reference, None] = {}
        self.nodes: dict[str, TensorflowNode] = {}
        worklist = list(outputs)
        while worklist:
            reference = worklist.pop()
            if reference in arguments or reference.node in self.nodes:
                continue
            node = graph.nodes.get(reference.node)
            if node is None:
                raise FrontendError(f"a node reads '{reference.node}', which is not in the graph")
            if node.op_type in ends_at:
                self.met[reference] = None
                continue
            self.nodes[node.name] = node
            worklist += node.inputs

    def operators(self) -> set[str]:
        return {node.op_type for node in self.nodes.values()}

    def function(self, name: str, inputs: Sequence[str], arguments: Mapping[Reference, str]) -> TensorflowGraph:
        """Return the slice as a function. ``arguments``: the input for each value that ended the slice."""

        def renamed(reference: Reference) -> Reference:
            return Reference(arguments[reference]) if reference in arguments else reference

        nodes = {
            node.name: replace(
                node,
                inputs=[renamed(reference) for reference in node.inputs],
                control_inputs=[other for other in node.control_inputs if other in self.nodes],
            )
            for node in self.nodes.values()
        }
        nodes.update({argument: TensorflowNode(argument, "_Arg") for argument in inputs})
        return TensorflowGraph(name, list(inputs), [renamed(reference) for reference in self._outputs], nodes)

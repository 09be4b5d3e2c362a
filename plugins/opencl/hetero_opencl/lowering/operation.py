"""Kernel operation: one node of a model to lower, alone or fused with others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hetero import ops
from hetero.graph import Node, Output


class KernelOperation:
    """A node of the graph, seen as an anchor with a prologue and an epilogue.

    ``anchor`` is the node itself unless that is Fused; then it may be None. Values inside of a Fused node are those of
    its body; ``outer`` maps those that cross its border to values of the graph.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.anchor: Node | None = node
        self.nodes: Sequence[Node] = [node]
        self.prologue: Sequence[Node] = []
        self.epilogue: Sequence[Node] = []
        if isinstance(node, ops.Fused):
            self.anchor, self.nodes = node.anchor, node.operations
            self.prologue, self.epilogue = node.prologue, node.epilogue

    @cached_property
    def _outer(self) -> dict[Output, Output]:
        if not isinstance(self.node, ops.Fused):
            return {}
        ports = zip(self.node.body.parameters, self.node.input_values())
        result = self.node.body.results[0].input_value(0)
        return {**{parameter.output(0): value for parameter, value in ports}, result: self.node.output(0)}

    def outer(self, value: Output) -> Output:
        """Return the value of the graph that a value of the body stands for, or the value itself if there is none."""
        return self._outer.get(value, value)

    @property
    def name(self) -> str:
        return self.node.friendly_name

    @property
    def main(self) -> Any:
        """The anchor, or the last element-wise node if there is no anchor. Kernels know the attributes of its class."""
        return self.anchor or self.nodes[-1]

    @property
    def type_name(self) -> str:
        return self.main.type_info.name

    @property
    def result(self) -> Output:
        """The only output."""
        return self.node.output(0)

    def source(self, index: int) -> Output:
        """Return an input of the anchor as it is before the prologue."""
        value = self.main.input_value(index)
        while value.node in self.prologue:
            value = value.node.input_value(0)
        return value

    def __contains__(self, node: Node) -> bool:
        return node in self.nodes

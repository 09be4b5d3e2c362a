"""Primitive operation: a node to lower, with the element-wise nodes that are fused to it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from hetero import ops
from hetero.graph import Node, Output


class PrimitiveOperation:
    """A node, or a Fused node: ``main`` and the chain of element-wise nodes after it."""

    def __init__(self, node: Node) -> None:
        self.node = node
        nodes = node.operations if isinstance(node, ops.Fused) else [node]
        #: Of any class: each family knows the attributes of its own.
        self.main: Any = nodes[0]
        self.epilogue = nodes[1:]
        # Values outside a Fused node by the Parameters of its body.
        self._outside: dict[Output, Output] = {}
        if isinstance(node, ops.Fused):
            ports = (parameter.output(0) for parameter in node.body.parameters)
            self._outside = dict(zip(ports, node.input_values()))

    @property
    def result(self) -> Output:
        return self.node.output(0)

    @cached_property
    def inputs(self) -> list[Output]:
        """The inputs of the main node, as values of the model."""
        return [self.outside(value) for value in self.main.input_values()]

    def outside(self, value: Output) -> Output:
        """Return the value of the model that a value of a Fused node's body stands for."""
        return self._outside.get(value, value)

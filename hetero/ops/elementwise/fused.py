"""Fused, which stands for several operations that a device runs as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hetero.graph import Constant, Model, Node, Output, Parameter, Result


class Fused(Node):
    """Operations that run as one. Made by the pass ``fuse_elementwise``, for devices.

    ``body`` computes the only output; its Parameters stand for the inputs, in order. ``anchor`` is the operation of
    the body that is not element-wise, such as a convolution, or None. Operations that it reads are its prologue,
    all others its epilogue.
    """

    def __init__(self, inputs: Sequence[Output], body: Model, anchor: Node | None = None) -> None:
        super().__init__(inputs)
        self.body, self.bodies, self.anchor = body, [body], anchor
        self.infer()

    def validate_and_infer_types(self) -> None:
        result = self.body.results[0].input_value(0)
        self.set_output_type(0, result.element_type, result.partial_shape)

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Fused:
        body, anchor = self.body.clone(), None
        if self.anchor is not None:
            anchor = body.get_ordered_ops()[self.body.get_ordered_ops().index(self.anchor)]
        return Fused(inputs, body, anchor)

    @cached_property
    def operations(self) -> list[Node]:
        """The operations of the body, in order."""
        ports = (Parameter, Constant, Result)
        return [node for node in self.body.get_ordered_ops() if not isinstance(node, ports)]

    @cached_property
    def prologue(self) -> list[Node]:
        """The operations that the anchor reads, directly or indirectly, in order."""
        read = {self.anchor}
        for node in reversed(self.operations):
            if node in read:
                read.update(value.node for value in node.input_values())
        return [node for node in self.operations if node in read and node is not self.anchor]

    @cached_property
    def epilogue(self) -> list[Node]:
        """The operations that are neither the anchor nor in the prologue, in order."""
        others = {self.anchor, *self.prologue}
        return [node for node in self.operations if node not in others]

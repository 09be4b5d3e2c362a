"""Operators that take elements by their places."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64


@translator("GATHER")
def gather(node: TfliteNodeContext) -> Translation:
    axis, batch = node.get_attribute("axis", 0), node.get_attribute("batch_dims", 0)
    return ops.Gather(node.get_input(0), node.get_input(1), int64(axis), batch)


@translator("GATHER_ND")
def gather_nd(node: TfliteNodeContext) -> Translation:
    return ops.GatherND(node.get_input(0), node.get_input(1), 0)

"""Angles of points in the plane."""

from __future__ import annotations

from hetero.frontend.numerics.elementwise import atan2 as angle_of
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation


@translator("Atan2")
def atan2(node: TensorflowNodeContext) -> Translation:
    return angle_of(*node.get_inputs())

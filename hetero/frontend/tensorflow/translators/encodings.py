"""Reinterpretation of the bits of numbers."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation


@translator("Bitcast")
def bitcast(node: TensorflowNodeContext) -> Translation:
    value, kind = node.get_input(0), node.get_attribute("type")
    if value.element_type.bitwidth != kind.bitwidth:
        raise FrontendError(f"{value.element_type} and {kind} have elements of different size")
    return value if value.element_type is kind else ops.BitCast(value, kind)

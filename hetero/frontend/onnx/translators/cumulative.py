"""Cumulative sums and products."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation

_OPERATIONS = {"CumSum": ops.CumSum, "CumProd": ops.CumProd}


@translator("CumSum", since=11)
@translator("CumProd", since=26)
def cumulative(node: OnnxNodeContext) -> Translation:
    directions = bool(node.get_attribute("exclusive", 0)), bool(node.get_attribute("reverse", 0))
    return _OPERATIONS[node.get_op_type()](node.get_input(0), node.get_input(1), *directions)

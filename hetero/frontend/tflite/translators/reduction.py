"""Reductions over axes, arg-max and arg-min, and cumulative sums."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float, preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, scalar_like

_ARITHMETIC = {"MEAN": ops.ReduceMean, "REDUCE_PROD": ops.ReduceProd, "SUM": ops.ReduceSum}
_ORDER_AND_LOGIC = {
    "REDUCE_ALL": ops.ReduceLogicalAnd, "REDUCE_ANY": ops.ReduceLogicalOr, "REDUCE_MAX": ops.ReduceMax,
    "REDUCE_MIN": ops.ReduceMin,
}  # fmt: skip


def _reduce(node: TfliteNodeContext) -> Translation:
    value, axes, keep = node.get_input(0), node.get_input(1), node.get_attribute("keep_dims", False)
    if node.get_op_type() == "MEAN" and value.element_type.is_real() and value.partial_shape.element_count() == 0:
        # The mean of no elements is NaN in TensorFlow Lite, but 0 in OpenVINO's ReduceMean.
        return ops.Divide(ops.ReduceSum(value, axes, keep), scalar_like(value, 0))
    return (_ARITHMETIC | _ORDER_AND_LOGIC)[node.get_op_type()](value, axes, keep)


translator(*_ARITHMETIC)(computes_in_float(_reduce))
translator(*_ORDER_AND_LOGIC)(preserves_quantization(_reduce))


@translator("ARG_MAX", "ARG_MIN")
def arg_max_or_min(node: TfliteNodeContext) -> Translation:
    """Of equal elements the first is chosen."""
    value, axis = node.get_input(0), node.get_values_from_const_input(1, dtype=int)
    axis = axis if isinstance(axis, int) else axis[0]
    mode = "max" if node.get_op_type() == "ARG_MAX" else "min"
    value = convert_to(value, Type.u8) if value.element_type is Type.boolean else value
    best = ops.TopK(value, int64(1), axis, mode, "value", node.output_type(0), True)
    return ops.Squeeze(best.output(1), int64([axis]))


@translator("CUMSUM")
def cumulative_sum(node: TfliteNodeContext) -> Translation:
    exclusive, reverse = node.get_attribute("exclusive", False), node.get_attribute("reverse", False)
    return ops.CumSum(node.get_input(0), node.get_input(1), exclusive, reverse)

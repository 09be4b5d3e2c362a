"""Reductions over axes, global pooling, and cumulative sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.reduction import log_sum_exp
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Op, Output

# Reduces a value over axes, and keeps these with length 1 if the flag is set.
Reduction = Callable[[Output, Output, bool], Op]


def _log_sum(value: Output, axes: Output, keep: bool) -> Op:
    return ops.Log(ops.ReduceSum(value, axes, keep))


def _sum_square(value: Output, axes: Output, keep: bool) -> Op:
    return ops.ReduceSum(ops.Multiply(value, value), axes, keep)


def _extreme(numbers: Reduction, booleans: Reduction, limit: float, value: Output, axes: Output, keep: bool) -> Op:
    """Reduce by ``numbers`` or ``booleans``, by element type. ``limit``: the result for an empty value."""
    if value.element_type is Type.boolean:
        return booleans(value, axes, keep)
    if value.element_type.is_real() and value.partial_shape.element_count() == 0:
        # Infinite in ONNX, but finite in OpenVINO.
        return ops.Add(ops.ReduceSum(value, axes, keep), scalar_like(value, limit))
    return numbers(value, axes, keep)


_REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": ops.ReduceL1, "ReduceL2": ops.ReduceL2, "ReduceLogSum": _log_sum, "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": partial(_extreme, ops.ReduceMax, ops.ReduceLogicalOr, -math.inf), "ReduceMean": ops.ReduceMean,
    "ReduceMin": partial(_extreme, ops.ReduceMin, ops.ReduceLogicalAnd, math.inf), "ReduceProd": ops.ReduceProd,
    "ReduceSum": ops.ReduceSum, "ReduceSumSquare": _sum_square,
}  # fmt: skip


@translator(*_REDUCTIONS)
def reduce_axes(node: OnnxNodeContext) -> Translation:
    value, axes = node.get_input(0), node.get_optional_input_or_attribute(1, "axes")
    if axes is None or axes.partial_shape == [0]:
        if node.get_attribute("noop_with_empty_axes", 0):
            return value
        axes = int64(range(rank_of(value))).output(0)
    return _REDUCTIONS[node.get_op_type()](value, axes, bool(node.get_attribute("keepdims", 1)))


@translator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    reduction = ops.ReduceMean if node.get_op_type() == "GlobalAveragePool" else ops.ReduceMax
    return reduction(value, int64(range(2, rank_of(value))), True)


register_direct({"CumSum": ops.CumSum}, 2, since=11, exclusive=0, reverse=0)
register_direct({"CumProd": ops.CumProd}, 2, since=26, exclusive=0, reverse=0)

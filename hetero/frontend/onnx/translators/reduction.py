"""Reductions over axes, global pooling, cumulative sums and products, and sorting."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.reduction import log_sum_exp
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of, reshape, scalar_like
from hetero.graph import Op, Output, constant_array

# Reduces a value over axes, and keeps these with length 1 if the flag is set.
Reduction = Callable[[Output, Output, bool], Op]


def _extreme(numbers: Reduction, booleans: Reduction, limit: float, value: Output, axes: Output, keep: bool) -> Op:
    """Reduce by ``numbers`` or ``booleans``, by element type. ``limit``: the result for an empty value."""
    if value.element_type is Type.boolean:
        return booleans(value, axes, keep)
    if not value.element_type.is_real():
        return numbers(value, axes, keep)
    # The result for no elements is infinite in ONNX, but finite in OpenVINO.
    if value.partial_shape.element_count() == 0:
        return ops.Add(ops.ReduceSum(value, axes, keep), scalar_like(value, limit))
    reduced = numbers(value, axes, keep)
    if _has_elements(value, axes):
        return reduced
    lengths = ops.Gather(ops.ShapeOf(value), axes, int64(0))
    is_empty = ops.Equal(ops.ReduceProd(lengths, int64([0]), False), int64(0))
    return ops.Select(is_empty, scalar_like(value, limit), reduced)


def _has_elements(value: Output, axes: Output) -> bool:
    """Return whether the reduced axes are known to have elements."""
    shape, known = value.partial_shape, constant_array(axes)
    return shape.has_rank and known is not None and all(shape[axis].min_length for axis in known.reshape(-1).tolist())


_REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": ops.ReduceL1, "ReduceL2": ops.ReduceL2,
    "ReduceLogSum": lambda value, axes, keep: ops.Log(ops.ReduceSum(value, axes, keep)), "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": partial(_extreme, ops.ReduceMax, ops.ReduceLogicalOr, -math.inf), "ReduceMean": ops.ReduceMean,
    "ReduceMin": partial(_extreme, ops.ReduceMin, ops.ReduceLogicalAnd, math.inf), "ReduceProd": ops.ReduceProd,
    "ReduceSum": ops.ReduceSum,
    "ReduceSumSquare": lambda value, axes, keep: ops.ReduceSum(ops.Multiply(value, value), axes, keep),
}  # fmt: skip


@translator(*_REDUCTIONS)
def reduce_axes(node: OnnxNodeContext) -> Translation:
    value, axes = node.get_input(0), node.get_optional_input_or_attribute(1, "axes")
    if axes is None or axes.partial_shape == [0]:
        none = bool(node.get_attribute("noop_with_empty_axes", 0))
        axes = int64([] if none else range(rank_of(value))).output(0)
    return _REDUCTIONS[node.get_op_type()](value, axes, bool(node.get_attribute("keepdims", 1)))


rows({
    "GlobalAveragePool": Row(lambda value: ops.ReduceMean(value, int64(range(2, rank_of(value))), True)),
    "GlobalMaxPool": Row(lambda value: ops.ReduceMax(value, int64(range(2, rank_of(value))), True)),
    "CumProd": Row(ops.CumProd, since=26, exclusive=Attr("exclusive", 0), reverse=Attr("reverse", 0)),
    "CumSum": Row(ops.CumSum, since=11, exclusive=Attr("exclusive", 0), reverse=Attr("reverse", 0)),
    "Unique": Row(
        lambda value, axis, is_sorted: ops.Unique(value, None if axis is None else int64(axis), is_sorted),
        since=11, axis=Attr("axis", None), is_sorted=Attr("sorted", 1),
    ),
})  # fmt: skip


@translator("TopK")
def top_k(node: OnnxNodeContext) -> Translation:
    count = reshape(node.get_input_or_attribute(1, "k"), ())
    mode = "max" if node.get_attribute("largest", 1) else "min"
    order = "value" if node.get_attribute("sorted", 1) else "none"
    return ops.TopK(node.get_input(0), count, node.get_attribute("axis", -1), mode, order, "i64", True)


@translator("ArgMax", "ArgMin")
def arg_max_or_min(node: OnnxNodeContext) -> Translation:
    value, axis = node.get_input(0), node.get_attribute("axis", 0)
    mode = "max" if node.get_op_type() == "ArgMax" else "min"
    last = node.get_attribute("select_last_index", 0)
    if last:  # search the first index in the reversed value
        value = ops.Slice(value, int64([-1]), int64([-(2**63)]), int64([-1]), int64([axis])).output(0)
    index = ops.TopK(value, int64(1), axis, mode, "value", "i64", True).output(1)
    if last:
        index = ops.Subtract(ops.Subtract(axis_length(value, axis), int64(1)), index).output(0)
    return index if node.get_attribute("keepdims", 1) else ops.Squeeze(index, int64([axis]))

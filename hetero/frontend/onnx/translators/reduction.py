"""Reductions over axes, and global pooling."""

from __future__ import annotations

import math
from collections.abc import Callable

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Node, Output
from hetero.types import Type

# Reduces a value over axes, and keeps these with length 1 if the flag is set.
Reduction = Callable[[Output, Output, bool], Node]


def _log_sum(value: Output, axes: Output, keep: bool) -> Node:
    return ops.Log(ops.ReduceSum(value, axes, keep))


def _sum_square(value: Output, axes: Output, keep: bool) -> Node:
    return ops.ReduceSum(ops.Multiply(value, value), axes, keep)


def _log_sum_exp(value: Output, axes: Output, keep: bool) -> Node:
    # Subtracting the maximum keeps exp from overflowing.
    largest = ops.ReduceMax(value, axes, True)
    if value.element_type.is_real():
        largest = ops.Select(ops.IsFinite(largest), largest, scalar_like(value, 0))
    total = ops.Log(ops.ReduceSum(ops.Exp(ops.Subtract(value, largest)), axes, keep))
    return ops.Add(total, largest if keep else ops.Squeeze(largest, axes))


def _max(value: Output, axes: Output, keep: bool) -> Node:
    if value.element_type is Type.boolean:
        return ops.ReduceLogicalOr(value, axes, keep)
    return _reduce_empty(value, axes, keep, -math.inf) or ops.ReduceMax(value, axes, keep)


def _min(value: Output, axes: Output, keep: bool) -> Node:
    if value.element_type is Type.boolean:
        return ops.ReduceLogicalAnd(value, axes, keep)
    return _reduce_empty(value, axes, keep, math.inf) or ops.ReduceMin(value, axes, keep)


def _reduce_empty(value: Output, axes: Output, keep: bool, limit: float) -> Node | None:
    """Return the extreme of an empty value, infinite in ONNX but finite in OpenVINO; None for other values."""
    if not value.element_type.is_real() or value.partial_shape.element_count() != 0:
        return None
    return ops.Add(ops.ReduceSum(value, axes, keep), scalar_like(value, limit))


_REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": ops.ReduceL1, "ReduceL2": ops.ReduceL2, "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _max, "ReduceMean": ops.ReduceMean, "ReduceMin": _min, "ReduceProd": ops.ReduceProd,
    "ReduceSum": ops.ReduceSum, "ReduceSumSquare": _sum_square,
}  # fmt: skip


def _with_axes_attribute(reduction: Reduction) -> Callable[[OnnxNodeContext], Translation]:
    def translate(node: OnnxNodeContext) -> Translation:
        value = node.get_input(0)
        axes = node.get_attribute("axes", None) or range(rank_of(value))
        return reduction(value, int64(axes).output(0), bool(node.get_attribute("keepdims", 1)))

    return translate


def _with_axes_input(reduction: Reduction) -> Callable[[OnnxNodeContext], Translation]:
    def translate(node: OnnxNodeContext) -> Translation:
        value, keep = node.get_input(0), bool(node.get_attribute("keepdims", 1))
        if node.has_input(1) and node.get_input(1).partial_shape != [0]:
            return reduction(value, node.get_input(1), keep)
        if node.get_attribute("noop_with_empty_axes", 0):
            return value
        return reduction(value, int64(range(rank_of(value))).output(0), keep)

    return translate


for _type, _reduction in _REDUCTIONS.items():
    translator(_type)(_with_axes_attribute(_reduction))
    translator(_type, since=13 if _type == "ReduceSum" else 18)(_with_axes_input(_reduction))


@translator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    reduction = ops.ReduceMean if node.get_op_type() == "GlobalAveragePool" else ops.ReduceMax
    return reduction(value, int64(range(2, rank_of(value))), True)

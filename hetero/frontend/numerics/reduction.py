"""Reductions over axes that are several operations, and search in sorted numbers."""

from __future__ import annotations

import math

from hetero import ops
from hetero.frontend.translation.values import rank_of, scalar_like
from hetero.graph import Op, Output


def log_sum_exp(value: Output, axes: Output, keeps_axes: bool) -> Op:
    """Return log(∑ exp(x)) over axes, relative to the largest x, so that exp does not overflow."""
    largest: Op = ops.ReduceMax(value, axes, True)
    if value.element_type.is_real():
        # The difference of infinities of one sign would be NaN.
        largest = ops.Select(ops.IsFinite(largest), largest, scalar_like(value, 0))
    total = ops.Log(ops.ReduceSum(ops.Exp(ops.Subtract(value, largest)), axes, keeps_axes))
    return ops.Add(total, largest if keeps_axes else ops.Squeeze(largest, axes))


def norm(value: Output, axes: Output, order: float, keeps_axes: bool) -> Op:
    """Return (∑ |x|ᵖ)^(1/p) over axes; the largest |x| for p = ∞, the least for -∞, the count of x ≠ 0 for p = 0."""
    if order in (1, 2):
        return (ops.ReduceL1 if order == 1 else ops.ReduceL2)(value, axes, keeps_axes)
    if order == 0:
        is_counted = ops.NotEqual(value, scalar_like(value, 0))
        return ops.ReduceSum(ops.Convert(is_counted, value.element_type), axes, keeps_axes)
    size = ops.Abs(value)
    if math.isinf(order):
        return (ops.ReduceMax if order > 0 else ops.ReduceMin)(size, axes, keeps_axes)
    total = ops.ReduceSum(ops.Power(size, scalar_like(value, order)), axes, keeps_axes)
    return ops.Power(total, scalar_like(value, 1 / order))


def search_sorted(limits: Output, value: Output, right: bool, kind: str) -> Op:
    """Return the index of each number in sorted numbers: before or, with ``right``, after those that are equal."""
    if rank_of(limits) == 1:
        return ops.Bucketize(value, limits, kind, not right)
    return ops.SearchSorted(limits, value, right, kind)

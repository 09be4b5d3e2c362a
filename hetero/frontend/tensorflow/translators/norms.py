"""Norms, and cumulative sums and products."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    constant_input,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)


@translator("EuclideanNorm")
def euclidean_norm(node: TensorflowNodeContext) -> Translation:
    """The norm of integers is truncated."""
    value, keep = node.get_input(0), node.get_attribute("keep_dims", False, bool)
    if value.element_type.is_real():
        return ops.ReduceL2(value, node.get_input(1), keep)
    squares = ops.ReduceSum(ops.Multiply(value, value), node.get_input(1), keep)
    return ops.Convert(ops.Sqrt(ops.Convert(squares, Type.f64)), value.element_type)


@translator("Cumsum", "Cumprod")
def cumulative(node: TensorflowNodeContext) -> Translation:
    operation = ops.CumSum if node.get_op_type() == "Cumsum" else ops.CumProd
    exclusive, reverse = (node.get_attribute(name, False, bool) for name in ("exclusive", "reverse"))
    return operation(node.get_input(0), reshape(node.get_input(1), ()), exclusive, reverse)


@translator("CumulativeLogsumexp")
def cumulative_log_sum_exp(node: TensorflowNodeContext) -> Translation:
    """The logarithm of the sum of exponentials of the elements up to each one, by a square of all pairs of elements.

    Each sum is relative to the maximum of its own elements: relative to that of all, small ones would be lost.
    """
    value, axis = node.get_input(0), normalize_axis(int(constant_input(node, 1, "axis")), rank_of(node.get_input(0)))
    exclusive, reverse = (node.get_attribute(name, False, bool) for name in ("exclusive", "reverse"))
    positions = arange(axis_length(value, axis))
    earlier, later = (ops.Unsqueeze(positions, int64([side])) for side in ((0, 1) if not reverse else (1, 0)))
    is_part = (ops.Less if exclusive else ops.LessEqual)(earlier, later)
    # Pairs have the axis of the sums, then that of the elements, then the axes that follow.
    trailing = int64(range(2, rank_of(value) + 1 - axis))
    lowest = scalar_like(value, -np.inf)
    pairs = ops.Select(ops.Unsqueeze(is_part, trailing), ops.Unsqueeze(value, int64([axis])), lowest)
    largest = ops.ReduceMax(pairs, int64([axis + 1]), True)
    # A maximum of -infinity or infinity is the result; its difference to itself would be NaN.
    offset = ops.Select(ops.IsFinite(largest), largest, scalar_like(value, 0))
    total = ops.ReduceSum(ops.Exp(ops.Subtract(pairs, offset)), int64([axis + 1]), True)
    return ops.Squeeze(ops.Add(ops.Log(total), offset), int64([axis + 1]))


@translator("L2Loss")
def l2_loss(node: TensorflowNodeContext) -> Translation:
    """Half the sum of the squares of all elements."""
    value = node.get_input(0)
    total = ops.ReduceSum(ops.Multiply(value, value), int64(range(rank_of(value))), False)
    return ops.Multiply(total, scalar_like(value, 0.5))

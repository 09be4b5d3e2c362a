"""Norms, and cumulative sums and products."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like
from hetero.types import Type


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
    value, axis = node.get_input(0), reshape(node.get_input(1), ())
    exclusive, reverse = (node.get_attribute(name, False, bool) for name in ("exclusive", "reverse"))
    # Relative to the maximum, so that no exponential overflows.
    largest = ops.ReduceMax(value, axis, True)
    total = ops.CumSum(ops.Exp(ops.Subtract(value, largest)), axis, exclusive, reverse)
    return ops.Add(ops.Log(total), largest)


@translator("L2Loss")
def l2_loss(node: TensorflowNodeContext) -> Translation:
    """Half the sum of the squares of all elements."""
    value = node.get_input(0)
    total = ops.ReduceSum(ops.Multiply(value, value), int64(range(rank_of(value))), False)
    return ops.Multiply(total, scalar_like(value, 0.5))

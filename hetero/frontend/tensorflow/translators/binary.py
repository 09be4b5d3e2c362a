"""Element-wise functions of several inputs: divisions, bits, products without NaN."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from hetero import ops
from hetero.frontend.numerics.elementwise import log1p
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import scalar_like
from hetero.graph import Node, Output

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "BitwiseAnd": ops.BitwiseAnd, "BitwiseOr": ops.BitwiseOr, "BitwiseXor": ops.BitwiseXor, "FloorMod": ops.FloorMod,
    "LeftShift": ops.BitwiseLeftShift, "LogicalXor": ops.LogicalXor, "Mod": ops.Mod,
    "RightShift": ops.BitwiseRightShift, "TruncateDiv": partial(ops.Divide, m_pythondiv=False), "TruncateMod": ops.Mod,
}  # fmt: skip


@translator(*_FUNCTIONS)
def binary(node: TensorflowNodeContext) -> Translation:
    return _FUNCTIONS[node.get_op_type()](*node.get_inputs())


@translator("FloorDiv")
def floor_divide(node: TensorflowNodeContext) -> Translation:
    quotient = ops.Divide(node.get_input(0), node.get_input(1), m_pythondiv=True)
    return ops.Floor(quotient) if quotient.output(0).element_type.is_real() else quotient


@translator("AddN", "AccumulateNV2")
def add_n(node: TensorflowNodeContext) -> Translation:
    return reduce(lambda left, right: ops.Add(left, right).output(0), node.get_inputs())


@translator("ClipByValue")
def clip_by_value(node: TensorflowNodeContext) -> Translation:
    value, low, high = node.get_inputs()
    return ops.Minimum(ops.Maximum(value, low), high)


@translator("DivNoNan")
def divide_no_nan(node: TensorflowNodeContext) -> Translation:
    """x / y, 0 where y is 0."""
    x, y = node.get_inputs()
    return _select_zero(y, ops.Divide(x, y))


@translator("MulNoNan")
def multiply_no_nan(node: TensorflowNodeContext) -> Translation:
    """x · y, 0 where y is 0, even if x is infinite or NaN."""
    x, y = node.get_inputs()
    return _select_zero(y, ops.Multiply(x, y))


@translator("Xdivy")
def x_divided_by_y(node: TensorflowNodeContext) -> Translation:
    x, y = node.get_inputs()
    return _select_zero(x, ops.Divide(x, y))


@translator("Xlogy")
def x_log_y(node: TensorflowNodeContext) -> Translation:
    x, y = node.get_inputs()
    return _select_zero(x, ops.Multiply(x, ops.Log(y)))


@translator("Xlog1py")
def x_log1p_y(node: TensorflowNodeContext) -> Translation:
    x, y = node.get_inputs()
    return _select_zero(x, ops.Multiply(x, log1p(y)))


def _select_zero(factor: Output, result: Node) -> Node:
    """Return the result with zeros where the factor is 0."""
    zero = scalar_like(factor, 0)
    return ops.Select(ops.Equal(factor, zero), zero, result)


@translator("ApproximateEqual")
def approximate_equal(node: TensorflowNodeContext) -> Translation:
    x, y = node.get_inputs()
    return ops.Less(ops.Abs(ops.Subtract(x, y)), scalar_like(x, node.get_attribute("tolerance", 1e-5, float)))

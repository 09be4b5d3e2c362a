"""Element-wise functions of several inputs: arithmetic, comparison, logic, bits, selection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.complex_numbers import divide_complex, multiply_complex
from hetero.frontend.tensorflow.translators.unary import log_of_one_plus
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like
from hetero.graph import Node, Output

# Division of integers truncates, except in FloorDiv.
_truncating_divide = partial(ops.Divide, m_pythondiv=False)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Add": ops.Add, "AddV2": ops.Add, "BitwiseAnd": ops.BitwiseAnd, "BitwiseOr": ops.BitwiseOr,
    "BitwiseXor": ops.BitwiseXor, "Div": _truncating_divide, "FloorMod": ops.FloorMod,
    "LeftShift": ops.BitwiseLeftShift, "LogicalAnd": ops.LogicalAnd, "LogicalOr": ops.LogicalOr,
    "LogicalXor": ops.LogicalXor, "Maximum": ops.Maximum, "Minimum": ops.Minimum, "Mod": ops.Mod,
    "Mul": ops.Multiply, "Pow": ops.Power, "RealDiv": _truncating_divide, "RightShift": ops.BitwiseRightShift,
    "SquaredDifference": ops.SquaredDifference, "Sub": ops.Subtract, "TruncateDiv": _truncating_divide,
    "TruncateMod": ops.Mod, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual, "Less": ops.Less,
    "LessEqual": ops.LessEqual, "Equal": ops.Equal, "NotEqual": ops.NotEqual, "SelectV2": ops.Select,
}  # fmt: skip


# Functions of complex values; the others work on the parts as they do on real values.
_OF_COMPLEX: dict[str, Callable[..., Any]] = {
    "Mul": multiply_complex, "Div": divide_complex, "RealDiv": divide_complex,
}  # fmt: skip


@translator(*_FUNCTIONS)
def elementwise(node: TensorflowNodeContext) -> Translation:
    functions = _FUNCTIONS | _OF_COMPLEX if node.is_complex() else _FUNCTIONS
    return functions[node.get_op_type()](*node.get_inputs())


@translator("FloorDiv")
def floor_divide(node: TensorflowNodeContext) -> Translation:
    quotient = ops.Divide(node.get_input(0), node.get_input(1), True)
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
    return _select_zero(x, ops.Multiply(x, log_of_one_plus(y)))


def _select_zero(factor: Output, result: Node) -> Node:
    """Return the result with zeros where the factor is 0."""
    zero = scalar_like(factor, 0)
    return ops.Select(ops.Equal(factor, zero), zero, result)


@translator("ApproximateEqual")
def approximate_equal(node: TensorflowNodeContext) -> Translation:
    x, y = node.get_inputs()
    return ops.Less(ops.Abs(ops.Subtract(x, y)), scalar_like(x, node.get_attribute("tolerance", 1e-5, float)))


@translator("Select")
def select_rows(node: TensorflowNodeContext) -> Translation:
    """A vector as the condition selects whole rows of inputs of a higher rank."""
    condition, chosen, other = node.get_inputs()
    rank = rank_of(chosen)
    if condition.partial_shape.rank == 1 and rank > 1:
        condition = reshape(condition, (-1, *[1] * (rank - 1)))
    return ops.Select(condition, chosen, other)

"""Element-wise functions of one input: mathematics, activation functions, classification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import scalar_like
from hetero.graph import Node, Output

_FUNCTIONS: dict[str, Callable[[Output], Any]] = {
    "Acos": ops.Acos, "Acosh": ops.Acosh, "Asin": ops.Asin, "Asinh": ops.Asinh, "Atan": ops.Atan, "Atanh": ops.Atanh,
    "Ceil": ops.Ceiling, "Cos": ops.Cos, "Cosh": ops.Cosh, "Floor": ops.Floor, "Invert": ops.BitwiseNot,
    "IsFinite": ops.IsFinite, "IsInf": ops.IsInf, "IsNan": ops.IsNaN, "Mish": ops.Mish, "Rint": ops.Round,
    "Sign": ops.Sign, "Sin": ops.Sin, "Sinh": ops.Sinh, "Softsign": ops.SoftSign, "Swish": ops.Swish, "Tan": ops.Tan,
}  # fmt: skip


@translator(*_FUNCTIONS)
def unary(node: TensorflowNodeContext) -> Translation:
    return _FUNCTIONS[node.get_op_type()](node.get_input(0))


@translator("Round")
def round_half_to_even(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Round(value) if value.element_type.is_real() else value


@translator("Reciprocal", "Inv")
def reciprocal(node: TensorflowNodeContext) -> Translation:
    return ops.Divide(scalar_like(node.get_input(0), 1), node.get_input(0))


@translator("Log1p")
def log1p(node: TensorflowNodeContext) -> Translation:
    return log_of_one_plus(node.get_input(0))


def log_of_one_plus(value: Output) -> Node:
    """Return log(1 + x), computed as 2·atanh(x / (2 + x)) near 0, where 1 + x loses the digits of x."""
    one, two, zero = (scalar_like(value, number) for number in (1, 2, 0))
    is_small = ops.Less(ops.Abs(value), scalar_like(value, 0.25))
    near_zero = ops.Select(is_small, value, zero)
    precise = ops.Multiply(two, ops.Atanh(ops.Divide(near_zero, ops.Add(near_zero, two))))
    return ops.Select(is_small, precise, ops.Log(ops.Add(value, one)))


@translator("Expm1")
def expm1(node: TensorflowNodeContext) -> Translation:
    """e^x - 1 = 2·tanh(x / 2) / (1 - tanh(x / 2)) near 0, where e^x - 1 loses the digits of x."""
    value = node.get_input(0)
    one, half, zero = (scalar_like(value, number) for number in (1, 0.5, 0))
    is_small = ops.Less(ops.Abs(value), one)
    tanh = ops.Tanh(ops.Multiply(ops.Select(is_small, value, zero), half))
    precise = ops.Divide(ops.Add(tanh, tanh), ops.Subtract(one, tanh))
    return ops.Select(is_small, precise, ops.Subtract(ops.Exp(value), one))


@translator("Erfc")
def complementary_error_function(node: TensorflowNodeContext) -> Translation:
    return ops.Subtract(scalar_like(node.get_input(0), 1), ops.Erf(node.get_input(0)))


@translator("ToBool")
def to_bool(node: TensorflowNodeContext) -> Translation:
    """A scalar is true if it is not 0, another tensor if it is not empty."""
    value = node.get_input(0)
    if value.partial_shape.has_rank and len(value.partial_shape) == 0:
        return ops.NotEqual(value, scalar_like(value, 0))
    size = ops.ReduceProd(ops.ShapeOf(value), np.array([0]), False)
    return ops.NotEqual(size, np.int64(0))

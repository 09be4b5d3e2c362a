"""Element-wise arithmetic."""

from __future__ import annotations

import math
from functools import reduce

from hetero import ops
from hetero.frontend.tflite.complex_numbers import multiply_complex
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float, preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.translation import Translation
from hetero.frontend.values import scalar_like
from hetero.graph import Node, Output

_UNARY = {
    "ABS": ops.Abs, "CEIL": ops.Ceiling, "COS": ops.Cos, "EXP": ops.Exp, "FLOOR": ops.Floor,
    "ROUND": ops.Round, "SIGN": ops.Sign, "SIN": ops.Sin, "SQRT": ops.Sqrt,
}  # fmt: skip

_BINARY = {"ADD": ops.Add, "POW": ops.Power, "SQUARED_DIFFERENCE": ops.SquaredDifference, "SUB": ops.Subtract}

_EXTREMES = {"MAXIMUM": ops.Maximum, "MINIMUM": ops.Minimum}


@translator(*_UNARY)
@computes_in_float
def unary(node: TfliteNodeContext) -> Translation:
    return _UNARY[node.get_op_type()](node.get_input(0))


@translator(*_BINARY)
@computes_in_float
def binary(node: TfliteNodeContext) -> Translation:
    return apply_activation(node, _BINARY[node.get_op_type()](node.get_input(0), node.get_input(1)))


@translator("MUL")
def multiply(node: TfliteNodeContext) -> Translation:
    if node.output_tensor(0).is_complex:
        return multiply_complex(node.get_input(0), node.get_input(1))
    return _multiply(node)


@computes_in_float
def _multiply(node: TfliteNodeContext) -> Translation:
    return apply_activation(node, ops.Multiply(node.get_input(0), node.get_input(1)))


@translator(*_EXTREMES)
@preserves_quantization
def extreme(node: TfliteNodeContext) -> Translation:
    return _EXTREMES[node.get_op_type()](node.get_input(0), node.get_input(1))


@translator("DIV")
@computes_in_float
def divide(node: TfliteNodeContext) -> Translation:
    """Integer division truncates."""
    return apply_activation(node, ops.Divide(node.get_input(0), node.get_input(1), m_pythondiv=False))


# LiteRT ignores the quantization in these three and computes on the integers.


@translator("NEG")
def negate(node: TfliteNodeContext) -> Translation:
    return ops.Negative(node.get_input(0))


@translator("FLOOR_MOD")
def floor_modulo(node: TfliteNodeContext) -> Translation:
    return ops.FloorMod(node.get_input(0), node.get_input(1))


@translator("FLOOR_DIV")
def floor_divide(node: TfliteNodeContext) -> Translation:
    quotient = ops.Divide(node.get_input(0), node.get_input(1))
    return ops.Floor(quotient) if quotient.output(0).element_type.is_real() else quotient


@translator("LOG")
@computes_in_float
def log(node: TfliteNodeContext) -> Translation:
    value = node.get_input(0)
    # Quantized NaN and -infinity are both the least integer, so take log(0) = -infinity for negative inputs.
    return ops.Log(ops.Relu(value) if node.is_quantized else value)


@translator("SQUARE")
@computes_in_float
def square(node: TfliteNodeContext) -> Translation:
    return ops.Multiply(node.get_input(0), node.get_input(0))


@translator("RSQRT", "STABLEHLO_RSQRT")
@computes_in_float
def reciprocal_square_root(node: TfliteNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Divide(scalar_like(value, 1), ops.Sqrt(value))


@translator("ADD_N")
@computes_in_float
def add_n(node: TfliteNodeContext) -> Translation:
    return reduce(lambda total, value: ops.Add(total, value).output(0), node.get_inputs())


@translator("ATAN2")
def atan2(node: TfliteNodeContext) -> Translation:
    """atan2(y, x) by the atan of the smaller of |y|, |x| over the larger, then moved to the right octant."""
    y, x = node.get_input(0), node.get_input(1)
    abs_y, abs_x = ops.Abs(y), ops.Abs(x)
    larger = ops.Maximum(abs_y, abs_x)
    zero, one, right_angle = (scalar_like(y, number) for number in (0, 1, math.pi / 2))
    # Avoids infinity / infinity and 0 / 0.
    ratio = ops.Select(ops.Equal(abs_y, abs_x), one, ops.Divide(ops.Minimum(abs_y, abs_x), larger))
    octant = ops.Atan(ops.Select(ops.Equal(larger, zero), zero, ratio))
    acute = ops.Select(ops.Greater(abs_y, abs_x), ops.Subtract(right_angle, octant), octant)
    upper = ops.Select(_sign_bit(x), ops.Subtract(scalar_like(y, math.pi), acute), acute)
    return ops.Select(_sign_bit(y), ops.Negative(upper), upper)


def _sign_bit(value: Output) -> Node:
    """Return whether each element is negative; true for -0.0."""
    zero = scalar_like(value, 0)
    return ops.LogicalOr(ops.Less(value, zero), ops.Less(ops.Divide(scalar_like(value, 1), value), zero))

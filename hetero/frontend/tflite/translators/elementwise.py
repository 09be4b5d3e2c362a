"""Element-wise operators: arithmetic, activation functions, comparison, logic and selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.numerics.complex_numbers import multiply_complex
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Quantization, computes_in_float, dequantize, preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, prelu_broadcasting, rank_of, scalar_like
from hetero.graph import Output

# Functions of all inputs, by operator. Quantized inputs are dequantized. Integer division truncates.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ABS": ops.Abs, "ADD": ops.Add, "ADD_N": lambda *values: reduce(ops.Add, values), "CEIL": ops.Ceiling,
    "COS": ops.Cos, "DIV": partial(ops.Divide, m_pythondiv=False), "ELU": partial(ops.Elu, alpha=1.0),
    "EXP": ops.Exp, "FLOOR": ops.Floor, "HARD_SWISH": ops.HSwish,
    "LOGISTIC": ops.Sigmoid, "MUL": ops.Multiply, "POW": ops.Power, "PRELU": prelu_broadcasting, "RELU": ops.Relu,
    "RELU6": partial(ops.Clamp, min_value=0, max_value=6), "RELU_0_TO_1": partial(ops.Clamp, min_value=0, max_value=1),
    "RELU_N1_TO_1": partial(ops.Clamp, min_value=-1, max_value=1), "ROUND": ops.Round, "SIGN": ops.Sign,
    "SIN": ops.Sin, "SQRT": ops.Sqrt, "SQUARE": lambda value: ops.Multiply(value, value),
    "SQUARED_DIFFERENCE": ops.SquaredDifference, "SUB": ops.Subtract, "TANH": ops.Tanh,
}  # fmt: skip
_SELECTIONS = {"MAXIMUM": ops.Maximum, "MINIMUM": ops.Minimum, "SELECT_V2": ops.Select}
# LiteRT ignores the quantization in FLOOR_MOD and NEG and computes on the integers.
_ON_INTEGERS = {
    "BITWISE_XOR": ops.BitwiseXor, "FLOOR_MOD": ops.FloorMod, "LOGICAL_AND": ops.LogicalAnd,
    "LOGICAL_NOT": ops.LogicalNot, "LOGICAL_OR": ops.LogicalOr, "NEG": ops.Negative,
}  # fmt: skip
_COMPARISONS = {
    "EQUAL": ops.Equal, "GREATER": ops.Greater, "GREATER_EQUAL": ops.GreaterEqual, "LESS": ops.Less,
    "LESS_EQUAL": ops.LessEqual, "NOT_EQUAL": ops.NotEqual,
}  # fmt: skip
# LiteRT compares quantized values after rescaling them to multiples of this.
_STEP = 1 / 256


@translator(*_FUNCTIONS)
def function(node: TfliteNodeContext) -> Translation:
    if node.get_op_type() == "MUL" and node.output_tensor(0).is_complex:
        return multiply_complex(node.get_input(0), node.get_input(1))
    return _real_elementwise(node)


@computes_in_float
def _real_elementwise(node: TfliteNodeContext) -> Translation:
    return apply_activation(node, _FUNCTIONS[node.get_op_type()](*node.get_inputs()))


@translator(*_SELECTIONS)
@preserves_quantization
def selection(node: TfliteNodeContext) -> Translation:
    return _SELECTIONS[node.get_op_type()](*node.get_inputs())


@translator(*_ON_INTEGERS)
def elementwise_on_integers(node: TfliteNodeContext) -> Translation:
    return _ON_INTEGERS[node.get_op_type()](*node.get_inputs())


@translator("FLOOR_DIV")
def floor_divide(node: TfliteNodeContext) -> Translation:
    """LiteRT ignores the quantization, and computes the quotient of floats in double precision."""
    return elementwise.floor_divide(node.get_input(0), node.get_input(1))


@translator("LOG")
@computes_in_float
def log(node: TfliteNodeContext) -> Translation:
    value = node.get_input(0)
    # Quantized NaN and -infinity are both the least integer, so take log(0) = -infinity for negative inputs.
    return ops.Log(ops.Relu(value) if node.is_quantized else value)


@translator("RSQRT", "STABLEHLO_RSQRT")
@computes_in_float
def reciprocal_square_root(node: TfliteNodeContext) -> Translation:
    return elementwise.reciprocal_square_root(node.get_input(0))


@translator("ATAN2")
def atan2(node: TfliteNodeContext) -> Translation:
    return elementwise.atan2(node.get_input(0), node.get_input(1))


@translator("GELU")
@computes_in_float
def gelu(node: TfliteNodeContext) -> Translation:
    return activation.gelu(node.get_input(0), node.get_attribute("approximate", False))


@translator("LEAKY_RELU")
@computes_in_float
def leaky_relu(node: TfliteNodeContext) -> Translation:
    return activation.leaky_relu(node.get_input(0), node.get_attribute("alpha", 0.0))


@translator(*_COMPARISONS)
def compare(node: TfliteNodeContext) -> Translation:
    inputs = node.get_inputs()
    first, second = node.input_tensor(0).quantization, node.input_tensor(1).quantization
    # With equal quantization and a scale of a step or more, rescaling keeps the order of the integers.
    if first is not None and not (first.equals(second) and first.scale >= _STEP):
        inputs = [_steps(value, node.input_tensor(index).required_quantization) for index, value in enumerate(inputs)]
    return _COMPARISONS[node.get_op_type()](*inputs)


def _steps(value: Output, params: Quantization) -> Output:
    """Rescale to multiples of ``_STEP``.

    Like LiteRT, multiplies by the scale's mantissa (0.5 to 1) and then by a power of two, rounding after each.
    """
    mantissa, exponent = math.frexp(params.scale)
    scaled = dequantize(value, params._replace(scales=np.array([mantissa / _STEP], np.float32)))
    rounded = ops.Round(scaled, "half_away_from_zero")
    power = scalar_like(rounded.output(0), 2.0**exponent)
    return ops.Round(ops.Multiply(rounded, power), "half_away_from_zero").output(0)


@translator("RIGHT_SHIFT")
def right_shift(node: TfliteNodeContext) -> Translation:
    """The shift is clamped to 0 … the bit width minus 1."""
    value, shift = node.get_input(0), node.get_input(1)
    return ops.BitwiseRightShift(value, ops.Clamp(shift, 0, value.element_type.bitwidth - 1))


@translator("SELECT")
@preserves_quantization
def select(node: TfliteNodeContext) -> Translation:
    """A one-dimensional condition selects along the first axis."""
    condition, then = node.get_input(0), node.get_input(1)
    if rank_of(condition) == 1 and rank_of(then) > 1:
        condition = ops.Unsqueeze(condition, int64(range(1, rank_of(then)))).output(0)
    return ops.Select(condition, then, node.get_input(2))

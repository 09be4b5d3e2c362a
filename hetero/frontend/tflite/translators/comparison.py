"""Comparison, logical and bitwise operators, and selection by a condition."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Quantization, dequantize, preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Output

_COMPARISONS = {
    "EQUAL": ops.Equal, "GREATER": ops.Greater, "GREATER_EQUAL": ops.GreaterEqual, "LESS": ops.Less,
    "LESS_EQUAL": ops.LessEqual, "NOT_EQUAL": ops.NotEqual,
}  # fmt: skip

_BINARY = {"BITWISE_XOR": ops.BitwiseXor, "LOGICAL_AND": ops.LogicalAnd, "LOGICAL_OR": ops.LogicalOr}

# LiteRT compares quantized values after rescaling them to multiples of this.
_STEP = 1 / 256


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


@translator(*_BINARY)
def binary(node: TfliteNodeContext) -> Translation:
    return _BINARY[node.get_op_type()](node.get_input(0), node.get_input(1))


@translator("RIGHT_SHIFT")
def right_shift(node: TfliteNodeContext) -> Translation:
    """The shift is clamped to 0 … the bit width minus 1."""
    value, shift = node.get_input(0), node.get_input(1)
    return ops.BitwiseRightShift(value, ops.Clamp(shift, 0, value.element_type.bitwidth - 1))


@translator("LOGICAL_NOT")
def logical_not(node: TfliteNodeContext) -> Translation:
    return ops.LogicalNot(node.get_input(0))


@translator("SELECT")
@preserves_quantization
def select(node: TfliteNodeContext) -> Translation:
    """A one-dimensional condition selects along the first axis."""
    condition, then = node.get_input(0), node.get_input(1)
    if rank_of(condition) == 1 and rank_of(then) > 1:
        condition = ops.Unsqueeze(condition, int64(range(1, rank_of(then)))).output(0)
    return ops.Select(condition, then, node.get_input(2))


@translator("SELECT_V2")
@preserves_quantization
def broadcasting_select(node: TfliteNodeContext) -> Translation:
    return ops.Select(*node.get_inputs())

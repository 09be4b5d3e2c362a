"""Element-wise operators: arithmetic, activation functions, comparison, logic and selection; complex numbers.

A complex tensor is a real one with an additional last axis: real part, imaginary part. The shapes and axes in the file
do not count that axis.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from hetero import ops
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.numerics.complex_numbers import multiply_complex, real_and_imaginary
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import (
    Quantization,
    Translator,
    computes_in_float,
    dequantize,
    preserves_quantization,
)
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import int64, prelu_broadcasting, rank_of, scalar_like
from hetero.graph import Output

# LiteRT compares quantized values after rescaling them to multiples of this.
_STEP = 1 / 256


def _compares(operator: Row) -> Translator:
    """Return a translator of a comparison, which rescales quantized inputs if that may change their order."""

    def translate(node: TfliteNodeContext) -> Translation:
        inputs = node.get_inputs()
        first, second = node.input_tensor(0).quantization, node.input_tensor(1).quantization
        # With equal quantization and a scale of a step or more, rescaling keeps the order of the integers.
        if first is not None and not (first.equals(second) and first.scale >= _STEP):
            inputs = [_steps(value, node.input_tensor(at).required_quantization) for at, value in enumerate(inputs)]
        return operator.make(node, inputs)

    return translate


def _steps(value: Output, params: Quantization) -> Output:
    """Rescale to multiples of ``_STEP``.

    Like LiteRT, multiplies by the scale's mantissa (0.5 to 1) and then by a power of two, rounding after each.
    """
    mantissa, exponent = math.frexp(params.scale)
    scaled = dequantize(value, params._replace(scales=np.array([mantissa / _STEP], np.float32)))
    rounded = ops.Round(scaled, "half_away_from_zero")
    power = scalar_like(rounded.output(0), 2.0**exponent)
    return ops.Round(ops.Multiply(rounded, power), "half_away_from_zero").output(0)


rows(
    {
        "ABS": Row(ops.Abs),
        "ADD": Row(ops.Add),
        "ADD_N": Row(lambda *values: reduce(ops.Add, values)),
        "CEIL": Row(ops.Ceiling),
        "COS": Row(ops.Cos),
        "DIV": Row(elementwise.truncate_divide),
        "ELU": Row(ops.Elu, alpha=1.0),
        "EXP": Row(ops.Exp),
        "FLOOR": Row(ops.Floor),
        "GELU": Row(activation.gelu, approximate=Attr("approximate", False)),
        "HARD_SWISH": Row(ops.HSwish),
        "LEAKY_RELU": Row(activation.leaky_relu, slope=Attr("alpha", 0.0)),
        "LOGISTIC": Row(ops.Sigmoid),
        "POW": Row(ops.Power),
        "PRELU": Row(prelu_broadcasting),
        "RELU": Row(ops.Relu),
        "RELU6": Row(ops.Clamp, min_value=0, max_value=6),
        "RELU_0_TO_1": Row(ops.Clamp, min_value=0, max_value=1),
        "RELU_N1_TO_1": Row(ops.Clamp, min_value=-1, max_value=1),
        "ROUND": Row(ops.Round),
        "RSQRT": Row(elementwise.reciprocal_square_root),
        "SIGN": Row(ops.Sign),
        "SIN": Row(ops.Sin),
        "SQRT": Row(ops.Sqrt),
        "SQUARE": Row(elementwise.square),
        "SQUARED_DIFFERENCE": Row(ops.SquaredDifference),
        "SUB": Row(ops.Subtract),
        "TANH": Row(ops.Tanh),
    },
    activated,
)
rows({"MAXIMUM": Row(ops.Maximum), "MINIMUM": Row(ops.Minimum), "SELECT_V2": Row(ops.Select)}, preserves_quantization)
rows(
    {
        "EQUAL": Row(ops.Equal),
        "GREATER": Row(ops.Greater),
        "GREATER_EQUAL": Row(ops.GreaterEqual),
        "LESS": Row(ops.Less),
        "LESS_EQUAL": Row(ops.LessEqual),
        "NOT_EQUAL": Row(ops.NotEqual),
    },
    _compares,
)
rows(
    {
        "ATAN2": Row(elementwise.atan2),
        "BITWISE_XOR": Row(ops.BitwiseXor),
        "COMPLEX_ABS": Row(ops.ReduceL2, reduction_axes=np.array([-1]), keep_dims=False),
        # LiteRT ignores the quantization in FLOOR_DIV, FLOOR_MOD and NEG and computes on the integers.
        "FLOOR_DIV": Row(elementwise.floor_divide),
        "FLOOR_MOD": Row(ops.FloorMod),
        "IMAG": Row(lambda value: real_and_imaginary(value)[1]),
        "LOGICAL_AND": Row(ops.LogicalAnd),
        "LOGICAL_NOT": Row(ops.LogicalNot),
        "LOGICAL_OR": Row(ops.LogicalOr),
        "NEG": Row(ops.Negative),
        "REAL": Row(lambda value: real_and_imaginary(value)[0]),
        # Transforms the last two axes, truncated or zero-padded to the lengths in input 1.
        "RFFT2D": Row(lambda value, lengths: ops.RDFT(value, int64([-2, -1]), lengths)),
    }
)


_multiply_real = activated(Row(ops.Multiply))


rows(
    {
        "MUL": lambda node: (
            multiply_complex(*node.get_inputs()) if node.output_tensor(0).is_complex else _multiply_real(node)
        ),
        # Quantized NaN and -infinity are both the least integer, so take log(0) = -infinity for negative inputs.
        "LOG": computes_in_float(
            lambda node: ops.Log(ops.Relu(node.get_input(0)) if node.is_quantized else node.get_input(0))
        ),
        # The shift is clamped to 0 … the bit width minus 1.
        "RIGHT_SHIFT": Row(
            lambda value, shift: ops.BitwiseRightShift(value, ops.Clamp(shift, 0, value.element_type.bitwidth - 1))
        ),
    }
)


@translator("SELECT")
@preserves_quantization
def select(node: TfliteNodeContext) -> Translation:
    """A one-dimensional condition selects along the first axis."""
    condition, then = node.get_input(0), node.get_input(1)
    if rank_of(condition) == 1 and rank_of(then) > 1:
        condition = ops.Unsqueeze(condition, int64(range(1, rank_of(then)))).output(0)
    return ops.Select(condition, then, node.get_input(2))

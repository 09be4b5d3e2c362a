"""StableHLO element-wise operators."""

from __future__ import annotations

import numpy as np
from tflite import StablehloComparisonDirection as Direction
from tflite import StablehloComparisonType as Comparison

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import elementwise
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import computes_in_float, preserves_quantization
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import convert_to, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

_COMPARISONS: dict[int, type[Op]] = {
    Direction.STABLEHLO_COMPARISON_DIRECTION_EQ: ops.Equal,
    Direction.STABLEHLO_COMPARISON_DIRECTION_NE: ops.NotEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_GE: ops.GreaterEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_GT: ops.Greater,
    Direction.STABLEHLO_COMPARISON_DIRECTION_LE: ops.LessEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_LT: ops.Less,
}


rows(
    {
        "STABLEHLO_ABS": Row(ops.Abs),
        "STABLEHLO_ADD": Row(elementwise.on_booleans(ops.Add, ops.LogicalOr)),
        "STABLEHLO_CBRT": Row(
            lambda value: ops.Multiply(ops.Sign(value), ops.Power(ops.Abs(value), scalar_like(value, 1 / 3)))
        ),
        "STABLEHLO_COSINE": Row(ops.Cos),
        "STABLEHLO_DIVIDE": Row(elementwise.truncate_divide),
        "STABLEHLO_EXPONENTIAL": Row(ops.Exp),
        "STABLEHLO_FLOOR": Row(ops.Floor),
        "STABLEHLO_LOG": Row(ops.Log),
        "STABLEHLO_LOGISTIC": Row(ops.Sigmoid),
        "STABLEHLO_MULTIPLY": Row(elementwise.on_booleans(ops.Multiply, ops.LogicalAnd)),
        "STABLEHLO_NEGATE": Row(ops.Negative),
        "STABLEHLO_POWER": Row(ops.Power),
        "STABLEHLO_REMAINDER": Row(ops.Mod),
        "STABLEHLO_RSQRT": Row(elementwise.reciprocal_square_root),
        "STABLEHLO_SUBTRACT": Row(ops.Subtract),
        "STABLEHLO_TANH": Row(ops.Tanh),
    },
    computes_in_float,
)
rows(
    {
        "STABLEHLO_AND": Row(elementwise.on_booleans(ops.BitwiseAnd, ops.LogicalAnd)),
        # The bounds are scalars or have the operand's shape.
        "STABLEHLO_CLAMP": Row(lambda low, value, high: ops.Minimum(ops.Maximum(value, low), high)),
        "STABLEHLO_MAXIMUM": Row(elementwise.on_booleans(ops.Maximum, ops.LogicalOr)),
        "STABLEHLO_MINIMUM": Row(elementwise.on_booleans(ops.Minimum, ops.LogicalAnd)),
        "STABLEHLO_OR": Row(elementwise.on_booleans(ops.BitwiseOr, ops.LogicalOr)),
        "STABLEHLO_SELECT": Row(ops.Select),
    },
    preserves_quantization,
)
# A shift by the bit width or more gives 0, as BitwiseLeftShift does.
rows({"STABLEHLO_SHIFT_LEFT": Row(ops.BitwiseLeftShift)})


rows(
    {
        "STABLEHLO_CONVERT": computes_in_float(
            lambda node: (
                node.get_input(0)
                if node.output_tensor(0).quantization
                else convert_to(node.get_input(0), node.output_type(0))
            )
        ),
    }
)


@translator("STABLEHLO_COMPARE")
@computes_in_float
def compare(node: TfliteNodeContext) -> Translation:
    left, right = node.get_input(0), node.get_input(1)
    direction = node.get_attribute("comparison_direction")
    if direction not in _COMPARISONS:
        raise FrontendError(f"comparison direction {direction} is not supported")
    if node.get_attribute("compare_type") == Comparison.STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER:
        left, right = _total_order_key(left), _total_order_key(right)
    return _COMPARISONS[direction](left, right)


def _total_order_key(value: Output) -> Output:
    """Return integers with the order of IEEE 754's totalOrder: -NaN, -∞ … -0, +0 … ∞, NaN."""
    kind = {16: Type.i16, 32: Type.i32, 64: Type.i64}[value.element_type.bitwidth]
    bits = ops.BitCast(value, kind)
    largest = Constant(np.array((1 << kind.bitwidth - 1) - 1, kind.to_dtype()))
    negative = ops.Less(bits, scalar_like(bits.output(0), 0))
    return ops.Select(negative, ops.BitwiseXor(bits, largest), bits).output(0)

"""StableHLO element-wise operators."""

from __future__ import annotations

import numpy as np
from tflite import StablehloComparisonDirection as Direction
from tflite import StablehloComparisonType as Comparison

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float, preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

_UNARY: dict[str, type[Op]] = {
    "ABS": ops.Abs, "COSINE": ops.Cos, "EXPONENTIAL": ops.Exp, "FLOOR": ops.Floor, "LOG": ops.Log,
    "LOGISTIC": ops.Sigmoid, "NEGATE": ops.Negative, "TANH": ops.Tanh,
}  # fmt: skip
_BINARY: dict[str, type[Op]] = {
    "ADD": ops.Add, "MULTIPLY": ops.Multiply, "POWER": ops.Power, "REMAINDER": ops.Mod, "SUBTRACT": ops.Subtract,
}  # fmt: skip
_EXTREMES: dict[str, type[Op]] = {"MAXIMUM": ops.Maximum, "MINIMUM": ops.Minimum}
_BITWISE: dict[str, type[Op]] = {"AND": ops.BitwiseAnd, "OR": ops.BitwiseOr}
# The operations for booleans.
_LOGICAL: dict[str, type[Op]] = {
    "ADD": ops.LogicalOr, "MAXIMUM": ops.LogicalOr, "OR": ops.LogicalOr,
    "MULTIPLY": ops.LogicalAnd, "MINIMUM": ops.LogicalAnd, "AND": ops.LogicalAnd,
}  # fmt: skip
_COMPARISONS: dict[int, type[Op]] = {
    Direction.STABLEHLO_COMPARISON_DIRECTION_EQ: ops.Equal,
    Direction.STABLEHLO_COMPARISON_DIRECTION_NE: ops.NotEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_GE: ops.GreaterEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_GT: ops.Greater,
    Direction.STABLEHLO_COMPARISON_DIRECTION_LE: ops.LessEqual,
    Direction.STABLEHLO_COMPARISON_DIRECTION_LT: ops.Less,
}


def _listed(*tables: dict[str, type[Op]]) -> list[str]:
    return [f"STABLEHLO_{name}" for table in tables for name in table]


def _kind(node: TfliteNodeContext) -> str:
    return node.get_op_type().removeprefix("STABLEHLO_")


@translator(*_listed(_UNARY))
@computes_in_float
def unary(node: TfliteNodeContext) -> Translation:
    return _UNARY[_kind(node)](node.get_input(0))


@translator(*_listed(_BINARY))
@computes_in_float
def binary(node: TfliteNodeContext) -> Translation:
    return _binary(node, _BINARY)


@translator(*_listed(_EXTREMES, _BITWISE))
@preserves_quantization
def extreme_or_bitwise(node: TfliteNodeContext) -> Translation:
    return _binary(node, _EXTREMES | _BITWISE)


def _binary(node: TfliteNodeContext, operations: dict[str, type[Op]]) -> Translation:
    left, right, kind = node.get_input(0), node.get_input(1), _kind(node)
    if left.element_type is Type.boolean:
        if kind not in _LOGICAL:
            raise FrontendError("its inputs must be numbers, but are booleans")
        return _LOGICAL[kind](left, right)
    return operations[kind](left, right)


@translator("STABLEHLO_DIVIDE")
@computes_in_float
def divide(node: TfliteNodeContext) -> Translation:
    """Integer division truncates."""
    return ops.Divide(node.get_input(0), node.get_input(1), m_pythondiv=False)


@translator("STABLEHLO_CBRT")
@computes_in_float
def cbrt(node: TfliteNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Multiply(ops.Sign(value), ops.Power(ops.Abs(value), scalar_like(value, 1 / 3)))


@translator("STABLEHLO_SHIFT_LEFT")
def shift_left(node: TfliteNodeContext) -> Translation:
    """A shift by the bit width or more gives 0, as BitwiseLeftShift does."""
    return ops.BitwiseLeftShift(node.get_input(0), node.get_input(1))


@translator("STABLEHLO_CLAMP")
@preserves_quantization
def clamp(node: TfliteNodeContext) -> Translation:
    """The bounds are scalars or have the operand's shape."""
    low, value, high = node.get_inputs()
    return ops.Minimum(ops.Maximum(value, low), high)


@translator("STABLEHLO_SELECT")
@preserves_quantization
def select(node: TfliteNodeContext) -> Translation:
    return ops.Select(*node.get_inputs())


@translator("STABLEHLO_CONVERT")
@computes_in_float
def convert(node: TfliteNodeContext) -> Translation:
    value, kind = node.get_input(0), node.output_type(0)
    return value if node.output_tensor(0).quantization else convert_to(value, kind)


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

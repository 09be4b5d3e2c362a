"""Element-wise operations, conversions of element types, and FakeQuantize."""

from __future__ import annotations

import math

import ml_dtypes

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import (
    NodeWriter,
    NotInOnnx,
    emit,
    emit_rows,
    emitter,
    onnx_type,
    op_type_of,
    write_row,
)
from hetero.frontend.translation.translators import Row

# Operators that functions read, because they take more than the operations.
emit_rows({
    "Identity": Row(ops.Identity), "Max": Row(ops.Maximum), "Min": Row(ops.Minimum), "Pow": Row(ops.Power),
})  # fmt: skip


@emitter(
    ops.Acos, ops.Acosh, ops.Asin, ops.Asinh, ops.Atan, ops.Atanh, ops.Cos, ops.Cosh, ops.Erf, ops.Exp, ops.Log,
    ops.Sin, ops.Sinh, ops.Sqrt, ops.Tan, ops.Tanh,
)  # fmt: skip
def real_function(node: NodeWriter) -> str:
    """Integers give the nearest integer to the result."""
    op_type = op_type_of(type(node.op))
    if node.kind(0).is_real():
        return node.add(op_type, node.input(0))
    return node.cast(node.add("Round", node.add(op_type, node.cast(node.input(0), Type.f32))), node.kind(0))


@emitter(ops.Elu, ops.HSwish, ops.Mish, ops.Sigmoid, ops.SoftPlus, ops.SoftSign)
def activation(node: NodeWriter) -> list[str]:
    node.check_real()
    return write_row(node)


@emitter(ops.Ceiling, ops.Floor)
def round_to_integer(node: NodeWriter) -> str:
    if node.kind(0).is_integer():
        return node.input(0)
    return node.add(op_type_of(type(node.op)), node.input(0))


emit(
    {
        ops.NotEqual: lambda node: node.add("Not", node.add("Equal", *node.inputs)),
        ops.Mod: lambda node: node.add("Mod", *node.inputs, fmod=1),
        ops.Convert: lambda node: node.cast(node.input(0), node.op.destination_type),
        ops.ConvertPromoteTypes: lambda node: [
            node.cast(node.input(index), node.op.get_output_element_type(index)) for index in (0, 1)
        ],
        ops.IsFinite: lambda node: node.add(
            "Not", node.add("Or", node.add("IsInf", node.input(0)), node.add("IsNaN", node.input(0)))
        ),
        ops.HardSigmoid: lambda node: node.add(
            "HardSigmoid", node.input(0), alpha=float(node.numbers(1)[0]), beta=float(node.numbers(2)[0])
        ),
        ops.Selu: lambda node: node.add(
            "Selu", node.input(0), alpha=float(node.numbers(1)[0]), gamma=float(node.numbers(2)[0])
        ),
    }
)


@emitter(ops.BitwiseAnd, ops.BitwiseOr, ops.BitwiseXor, ops.BitwiseNot)
def bitwise(node: NodeWriter) -> str:
    name = node.op.type_info.name
    return node.add(name.removeprefix("Bitwise") if node.kind(0) == Type.boolean else name, *node.inputs)


@emitter(ops.BitwiseLeftShift, ops.BitwiseRightShift)
def shift(node: NodeWriter) -> str:
    if node.kind(0).signed:
        raise NotInOnnx("signed integers")
    direction = "LEFT" if isinstance(node.op, ops.BitwiseLeftShift) else "RIGHT"
    return node.add("BitShift", *node.inputs, direction=direction)


@emitter(ops.Divide)
def divide(node: NodeWriter) -> str:
    """ONNX truncates the quotient of integers; with m_pythondiv it is rounded down."""
    quotient = node.add("Div", *node.inputs)
    if not (node.kind(0).is_integer() and node.kind(0).signed and node.op.m_pythondiv):
        return quotient
    # The remainder with the sign of the divisor, and of the dividend, differ if the quotient is not an integer and
    # negative.
    floored, truncated = (node.add("Mod", *node.inputs, fmod=fmod) for fmod in (0, 1))
    is_lower = node.add("Not", node.add("Equal", floored, truncated))
    return node.add("Sub", quotient, node.cast(is_lower, node.kind(0)))


@emitter(ops.FloorMod)
def floor_mod(node: NodeWriter) -> str:
    if node.kind(0).is_integer():
        return node.add("Mod", *node.inputs, fmod=0)
    remainder = node.add("Mod", *node.inputs, fmod=1)
    zero = node.number(0)
    has_other_sign = node.add("Less", node.add("Mul", remainder, node.input(1)), zero)
    return node.add("Where", has_other_sign, node.add("Add", remainder, node.input(1)), remainder)


@emitter(ops.SquaredDifference)
def squared_difference(node: NodeWriter) -> str:
    difference = node.add("Sub", *node.inputs)
    return node.add("Mul", difference, difference)


@emitter(ops.Clamp)
def clamp(node: NodeWriter) -> str:
    low, high, kind = node.op.min_value, node.op.max_value, node.kind(0)
    if kind.is_integer():
        limits = ml_dtypes.iinfo(kind.to_dtype())
        low = limits.min if low <= limits.min else math.ceil(low)
        high = limits.max if high >= limits.max else math.floor(high)
    return node.add("Clip", node.input(0), node.number(low), node.number(high))


@emitter(ops.Cast)
def cast(node: NodeWriter) -> str:
    attributes = node.op.attribute_values()
    return node.add(
        "Cast", node.input(0), to=onnx_type(attributes["destination_type"]), saturate=int(attributes["saturate"]),
        round_mode=attributes["round_mode"],
    )  # fmt: skip


@emitter(ops.HSigmoid)
def h_sigmoid(node: NodeWriter) -> str:
    node.check_real()
    return node.add("HardSigmoid", node.input(0), alpha=1 / 6, beta=0.5)


@emitter(ops.Swish)
def swish(node: NodeWriter) -> str:
    beta = node.optional("beta")
    scaled = node.add("Mul", node.input(0), beta) if beta else node.input(0)
    return node.add("Mul", node.input(0), node.add("Sigmoid", scaled))


@emitter(ops.PRelu)
def prelu(node: NodeWriter) -> str:
    """A slope that is a vector as long as axis 1 applies along that axis; ONNX aligns it with the last axis."""
    slope, data = node.shape(1), node.shape(0)
    if len(slope) == 1 and len(data) > 2 and slope[0] != 1 and None in (slope[0], data[1]):
        raise NotInOnnx("a slope or channels of unknown length")
    if len(slope) == 1 and len(data) > 2 and slope[0] is not None and slope[0] in (1, data[1]):
        return node.add("PRelu", node.input(0), node.reshaped(1, [slope[0], *[1] * (len(data) - 2)]))
    return node.add("PRelu", *node.inputs)


@emitter(ops.Round)
def round_(node: NodeWriter) -> str:
    if not node.kind(0).is_real():
        return node.input(0)
    if node.op.mode == "half_to_even":
        return node.add("Round", node.input(0))
    # The fraction is computed without rounding, so that the largest number below 0.5 is not rounded up.
    magnitude = node.add("Abs", node.input(0))
    whole = node.add("Floor", magnitude)
    is_upper_half = node.add("GreaterOrEqual", node.add("Sub", magnitude, whole), node.number(0.5))
    rounded = node.add("Add", whole, node.cast(is_upper_half, node.kind(0)))
    return node.add("Mul", rounded, node.add("Sign", node.input(0)))


@emitter(ops.FakeQuantize)
def fake_quantize(node: NodeWriter) -> str:
    """Round to levels between input_low and input_high, mapped to the range from output_low to output_high."""
    data, low, high, output_low, output_high = node.inputs
    steps = node.number(node.op.levels - 1)
    position = node.add("Div", node.add("Sub", data, low), node.add("Sub", high, low))
    level = node.add("Div", node.add("Round", node.add("Mul", position, steps)), steps)
    inside = node.add("Add", node.add("Mul", level, node.add("Sub", output_high, output_low)), output_low)
    bounded = node.add("Where", node.add("Greater", data, node.add("Max", low, high)), output_high, inside)
    return node.add("Where", node.add("LessOrEqual", data, node.add("Min", low, high)), output_low, bounded)

"""Quantized numbers: a number is (integer - zero point) · scale.

Sums of products of integers are made in i32, so they are exact.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.values import int64, length_of, normalized, rank_of, reshape
from hetero.graph import Output, is_constant
from hetero.types import Type


def spread(parameter: Output, value: Output, axis: int, block: int = 0) -> Output:
    """A scale or a zero point in a shape that broadcasts to the value: it is one for all, for each place or block of
    an axis."""
    shape = parameter.partial_shape
    if shape.has_rank and len(shape) == 0:
        return parameter
    if shape == [1] and not block:
        return one(parameter)
    rank = rank_of(value)
    axis = normalized(axis, rank)
    if block:
        length = length_of(value, axis)
        places = ops.Divide(ops.Range(int64(0), length, int64(1), "i64"), int64(block))
        return ops.Gather(parameter, places, int64(axis)).output(0)
    return reshape(parameter, (*[1] * axis, -1, *[1] * (rank - axis - 1)))


def one(parameter: Output) -> Output:
    """A vector of one element as a scalar, so that it adds no dimension to a scalar."""
    return reshape(parameter, ()) if parameter.partial_shape == [1] else parameter


def quantize(value: Output, scale: Output, zero_point: Output | None, kind: Type, saturate: bool = True) -> Output:
    """Numbers as integers of a kind, or as f8: rounded to the nearest, halves to even, and kept in the kind's range."""
    # Halves do not hold all integers of 16 bits.
    return quantize_quotient(converted(ops.Divide(value, scale).output(0), Type.f32), zero_point, kind, saturate)


def quantize_quotient(
    scaled: Output,
    zero_point: Output | None,
    kind: Type,
    saturate: bool = True,
    limits: tuple[int, int] | None = None,
) -> Output:
    """The same for numbers that are divided by the scale already, f32. ``limits`` of integers: a narrower range."""
    if kind.is_integral():
        scaled = ops.Round(scaled, "half_to_even").output(0)
    if zero_point is not None and not is_zero(zero_point):
        scaled = ops.Add(scaled, converted(zero_point, Type.f32)).output(0)
    if kind.is_real():
        return ops.Cast(scaled, kind, saturate).output(0)
    if not kind.is_integral():
        raise FrontendError(f"numbers cannot be quantized to {kind}")
    low = -(1 << kind.bitwidth - 1) if kind.is_signed() else 0
    return ops.Convert(ops.Clamp(scaled, *(limits or (low, low + (1 << kind.bitwidth) - 1))), kind).output(0)


def dequantize(value: Output, scale: Output, zero_point: Output | None, kind: Type) -> Output:
    """Integers, or f8, as numbers of a kind, computed in f32."""
    # Integers of 32 bits do not fit into f32 before the zero point is gone.
    exact = Type.i32 if value.element_type is Type.i32 else Type.f32
    number = converted(less_zero_point(value, zero_point, exact), Type.f32)
    return converted(ops.Multiply(number, converted(scale, Type.f32)).output(0), kind)


def less_zero_point(value: Output, zero_point: Output | None, kind: Type) -> Output:
    """Integers less their zero point, as a kind that holds them exactly."""
    number = converted(value, kind)
    if zero_point is None or is_zero(zero_point):
        return number
    return ops.Subtract(number, converted(zero_point, kind)).output(0)


def converted(value: Output, kind: Type) -> Output:
    return value if value.element_type is kind else ops.Convert(value, kind).output(0)


def is_zero(zero_point: Output) -> bool:
    """Whether all zero points are known to be 0."""
    return is_constant(zero_point) and not zero_point.node.data.astype(np.float32).any()

"""Quantization and dequantization: a real number is (integer - zero point) · scale.

Integer matrix products and convolutions accumulate in i32, so they are exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetero import ops
from hetero.core.compressed import PackedArray
from hetero.core.types import Type
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, normalize_axis, rank_of, reshape
from hetero.graph import Constant, Output, constant_array
from hetero.system.errors import FrontendError


def broadcast_along_axis(parameter: Output, value: Output, axis: int, block: int = 0) -> Output:
    """Return a scale or zero point in a shape that broadcasts to the value.

    The parameter is a scalar, a vector along ``axis``, or, with a ``block`` size, has one number for each block of the
    axis.
    """
    shape = parameter.partial_shape
    if shape.has_rank and len(shape) == 0:
        return parameter
    if shape == [1] and not block:
        return as_scalar(parameter)
    rank = rank_of(value)
    axis = normalize_axis(axis, rank)
    if block:
        blocks = ops.Divide(arange(axis_length(value, axis)), int64(block))
        return ops.Gather(parameter, blocks, int64(axis)).output(0)
    return reshape(parameter, (*[1] * axis, -1, *[1] * (rank - axis - 1)))


def as_scalar(parameter: Output) -> Output:
    """Return a vector of one element as a scalar, which keeps the rank of scalars in arithmetic."""
    return reshape(parameter, ()) if parameter.partial_shape == [1] else parameter


def quantize(value: Output, scale: Output, zero_point: Output | None, kind: Type, saturate: bool = True) -> Output:
    """Quantize to an integer type or f8: divide by the scale, round half to even, saturate to the range of ``kind``."""
    # f16 cannot represent all 16-bit integers, so the rest is computed in f32.
    return quantize_scaled(convert_to(ops.Divide(value, scale).output(0), Type.f32), zero_point, kind, saturate)


def quantize_scaled(
    scaled: Output,
    zero_point: Output | None,
    kind: Type,
    saturate: bool = True,
    limits: tuple[int, int] | None = None,
) -> Output:
    """Quantize f32 numbers that are divided by the scale already. ``limits``: a narrower range of integers."""
    if kind.is_integer():
        scaled = ops.Round(scaled, "half_to_even").output(0)
    if zero_point is not None and not is_zero(zero_point):
        scaled = ops.Add(scaled, convert_to(zero_point, Type.f32)).output(0)
    if kind.is_real():
        return ops.Cast(scaled, kind, saturate).output(0)
    if not kind.is_integer():
        raise FrontendError(f"numbers cannot be quantized to {kind}")
    low = -(1 << kind.bitwidth - 1) if kind.is_signed() else 0
    return ops.Convert(ops.Clamp(scaled, *(limits or (low, low + (1 << kind.bitwidth) - 1))), kind).output(0)


def dequantize(value: Output, scale: Output, zero_point: Output | None, kind: Type) -> Output:
    """Return (value - zero_point) · scale as real numbers of type ``kind``, computed in f32."""
    # f32 cannot represent all i32 values, so the zero point is subtracted in i32.
    exact = Type.i32 if value.element_type is Type.i32 else Type.f32
    number = convert_to(subtract_zero_point(value, zero_point, exact), Type.f32)
    return convert_to(ops.Multiply(number, convert_to(scale, Type.f32)).output(0), kind)


def dequantize_in_blocks(
    codes: Constant, scale: Output, zero_point: Output | None, axis: int, block: int, kind: Type
) -> Output:
    """Return ``dequantize`` of a constant with a scale, and maybe a zero point, for each block of ``block`` elements.

    Blocks, which follow each other along ``axis``, have an axis of their own in the arithmetic, so that scales are not
    repeated.
    """
    shape, contents = codes.contents.shape, codes.contents
    lengths = (*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :])
    blocks = replace(contents, shape=lengths) if isinstance(contents, PackedArray) else codes.data.reshape(lengths)

    def for_blocks(parameter: Output) -> Output:
        array = constant_array(parameter)
        if not rank_of(parameter):
            return parameter
        if array is not None:  # at once, as devices do not move elements of less than a byte
            return Constant(np.expand_dims(array, axis + 1)).output(0)
        return ops.Unsqueeze(parameter, int64([axis + 1])).output(0)

    zero_point = None if zero_point is None else for_blocks(zero_point)
    return reshape(dequantize(Constant(blocks).output(0), for_blocks(scale), zero_point, kind), shape)


def subtract_zero_point(value: Output, zero_point: Output | None, kind: Type) -> Output:
    """Return integers minus their zero point, computed in the type ``kind``, which must represent them exactly."""
    number = convert_to(value, kind)
    if zero_point is None or is_zero(zero_point):
        return number
    return ops.Subtract(number, convert_to(zero_point, kind)).output(0)


def is_zero(zero_point: Output) -> bool:
    """Return whether the zero points are constant and all 0."""
    data = constant_array(zero_point)
    return data is not None and not data.astype(np.float32).any()

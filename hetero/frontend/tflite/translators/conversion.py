"""Conversions between element types."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted, quantize_scaled, subtract_zero_point
from hetero.frontend.tflite.complex_numbers import joined, parts
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("CAST")
def cast(node: TfliteNodeContext) -> Translation:
    """Integers that stand for numbers are taken as they are; of complex numbers the real part is kept."""
    value, target = node.get_input(0), node.output_tensor(0)
    if node.input_tensor(0).is_complex:
        if target.is_complex:
            return value
        value = parts(value)[0]
    if target.is_complex:
        real = converted(value, Type.f32)
        return joined(real, ops.Multiply(real, scalar_like(real, 0)))
    if value.element_type.is_real() and target.element_type.is_integral():
        return _cut_off(value, target.element_type)
    return converted(value, target.element_type)


def _cut_off(value: Output, kind: Type) -> Output:
    """Numbers without their fraction; those that are too great, and what is no number, are the greatest one."""
    value = converted(value, Type.f32) if value.element_type.bitwidth < 32 else value
    limits = np.iinfo(kind.to_dtype())
    whole = ops.Convert(ops.Maximum(value, scalar_like(value, limits.min)), kind).output(0)
    fits = ops.Less(value, scalar_like(value, limits.max))
    return ops.Select(fits, whole, scalar_like(whole, limits.max)).output(0)


@translator("BITCAST")
def bitcast(node: TfliteNodeContext) -> Translation:
    """Elements of narrower types are along a last axis, the lowest bits first."""
    value, target = node.get_input(0), node.output_tensor(0).element_type
    if target is None:
        raise FrontendError(f"a tensor of {node.output_tensor(0).kind} is not supported")
    have, want = value.element_type.bitwidth, target.bitwidth
    if have > want:
        value = ops.Unsqueeze(_bits(value, have), int64(-1)).output(0)
        value = ops.Convert(ops.BitwiseRightShift(value, _places(have, want)), Type(f"u{want}")).output(0)
    elif have < want:
        value = ops.Convert(_bits(value, have), Type(f"u{want}"))
        value = ops.ReduceSum(ops.BitwiseLeftShift(value, _places(want, have)), int64([-1]), False).output(0)
    return value if value.element_type is target else ops.BitCast(value, target)


def _bits(value: Output, width: int) -> Output:
    kind = Type(f"u{width}")
    return value if value.element_type is kind else ops.BitCast(value, kind).output(0)


def _places(wide: int, narrow: int) -> Constant:
    """Where the narrow ones begin in a wide one."""
    return Constant(np.arange(0, wide, narrow, Type(f"u{wide}").to_dtype()))


@translator("DEQUANTIZE")
def from_integers(node: TfliteNodeContext) -> Translation:
    """Of halves, too."""
    by, value = node.input_tensor(0).quantization, node.get_input(0)
    return converted(value if by is None else dequantize(value, by), node.output_tensor(0).element_type)


@translator("QUANTIZE")
def to_integers(node: TfliteNodeContext) -> Translation:
    """Of integers of another scale, too."""
    value, source, target = node.get_input(0), node.input_tensor(0), node.output_tensor(0)
    if source.quantization is None:
        return quantize(value, target.quantization, target.element_type)
    rank, old, by = rank_of(value), source.quantization, target.quantization
    if source.element_type is target.element_type and old.equals(by):
        return value
    number = subtract_zero_point(value, old.spread(old.zero_points, rank), Type.i32)
    factor = (old if old.is_per_channel else by).spread(old.scales / by.scales, rank)
    scaled = ops.Multiply(converted(number, Type.f32), factor).output(0)
    # Other than of numbers, halves are rounded up.
    rounded = ops.Floor(ops.Add(scaled, scalar_like(scaled, 0.5))).output(0)
    return quantize_scaled(rounded, by.spread(by.zero_points, rank), target.element_type)


@translator("FAKE_QUANT")
def fake_quantize(node: TfliteNodeContext) -> Translation:
    """The range is moved a little, so that zero is one of the levels."""
    low, high = (np.float32(node.get_attribute(name)) for name in ("min", "max"))
    bits = node.get_attribute("num_bits")
    if not 2 <= bits <= 16:
        raise FrontendError(f"num_bits must be 2 to 16, but is {bits}")
    first, last = int(node.get_attribute("narrow_range", False)), (1 << bits) - 1
    scale = (high - low) / np.float32(last - first)
    if not scale > 0:
        raise FrontendError(f"max must be above min, but they are {high} and {low}")
    zero_point = np.clip(np.round(first - low / scale), first, last)
    bounds = [np.float32((level - zero_point) * scale) for level in (first, last)]
    return ops.FakeQuantize(node.get_input(0), *bounds, *bounds, last - first + 1)


@translator("DENSIFY")
def densify(node: TfliteNodeContext) -> Translation:
    """Constants are dense once they are read."""
    return node.get_input(0)

"""Conversion between element types, quantization and dequantization."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.complex_numbers import complex_from_parts, real_and_imaginary
from hetero.frontend.numerics.elementwise import reinterpret
from hetero.frontend.numerics.quantization import quantize_scaled, subtract_zero_point
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import convert_to, rank_of, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("CAST")
def cast(node: TfliteNodeContext) -> Translation:
    """Quantized integers are converted without dequantization; a complex value converts to its real part."""
    value, target = node.get_input(0), node.output_tensor(0)
    if node.input_tensor(0).is_complex:
        if target.is_complex:
            return value
        value = real_and_imaginary(value)[0]
    if target.is_complex:
        real = convert_to(value, Type.f32)
        return complex_from_parts(real, ops.Multiply(real, scalar_like(real, 0)))
    kind = node.output_type(0)
    return _truncate(value, kind) if value.element_type.is_real() and kind.is_integer() else convert_to(value, kind)


def _truncate(value: Output, kind: Type) -> Output:
    """Convert real values to integers: truncated and saturated, with NaN as the largest integer."""
    value = convert_to(value, Type.f32) if value.element_type.bitwidth < 32 else value
    limits = np.iinfo(kind.to_dtype())
    truncated = ops.Convert(ops.Maximum(value, scalar_like(value, limits.min)), kind).output(0)
    fits = ops.Less(value, scalar_like(value, limits.max))
    return ops.Select(fits, truncated, scalar_like(truncated, limits.max)).output(0)


@translator("DEQUANTIZE")
def dequantize_operator(node: TfliteNodeContext) -> Translation:
    """Also converts f16 to f32."""
    params, value = node.input_tensor(0).quantization, node.get_input(0)
    return convert_to(value if params is None else dequantize(value, params), node.output_type(0))


@translator("QUANTIZE")
def quantize_operator(node: TfliteNodeContext) -> Translation:
    """Also requantizes integers from one scale to another."""
    value, source, target = node.get_input(0), node.input_tensor(0), node.output_tensor(0)
    if source.quantization is None:
        return quantize(value, target.required_quantization, target.element_type)
    rank, old, new = rank_of(value), source.quantization, target.required_quantization
    if source.element_type is target.element_type and old.equals(new):
        return value
    number = subtract_zero_point(value, old.broadcastable(old.zero_points, rank), Type.i32)
    factor = (old if old.is_per_channel else new).broadcastable(old.scales / new.scales, rank)
    scaled = ops.Multiply(convert_to(number, Type.f32), factor).output(0)
    # Requantization rounds halves up, unlike quantization of floats, which rounds them to even.
    rounded = ops.Floor(ops.Add(scaled, scalar_like(scaled, 0.5))).output(0)
    return quantize_scaled(rounded, new.broadcastable(new.zero_points, rank), target.element_type)


@translator("FAKE_QUANT")
def fake_quantize(node: TfliteNodeContext) -> Translation:
    """The range is shifted slightly so that zero is one of the levels."""
    low, high = (np.float32(node.get_attribute(name)) for name in ("min", "max"))
    bits = node.get_attribute("num_bits")
    if not 2 <= bits <= 16:
        raise FrontendError(f"num_bits must be 2 to 16, but is {bits}")
    first, last = int(node.get_attribute("narrow_range", False)), (1 << bits) - 1
    scale = (high - low) / np.float32(last - first)
    if not scale > 0:
        raise FrontendError(f"max must be greater than min, but they are {high} and {low}")
    zero_point = np.clip(np.round(first - low / scale), first, last)
    bounds = [np.float32((level - zero_point) * scale) for level in (first, last)]
    return ops.FakeQuantize(node.get_input(0), *bounds, *bounds, last - first + 1)


# The decoder has made sparse constants dense.
rows({"DENSIFY": Row(lambda value: value, 0)})
# Between types of different widths, an additional last axis has the narrow elements, lowest bits first.
rows({"BITCAST": lambda node: reinterpret(node.get_input(0), node.output_type(0))})

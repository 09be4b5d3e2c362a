"""Conversions between element types, and fake quantization."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from hetero import ops
from hetero.core.packing import as_numbers
from hetero.core.type_conversion import converted
from hetero.core.types import Type
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Convert, ops.ConvertLike)
def convert(node: ops.Convert | ops.ConvertLike, x: Array, *like: Array) -> Array:
    return converted(x, node.get_output_element_type(0))


@evaluates(ops.ConvertPromoteTypes)
def convert_promote_types(node: ops.ConvertPromoteTypes, left: Array, right: Array) -> tuple[Array, Array]:
    return converted(left, node.get_output_element_type(0)), converted(right, node.get_output_element_type(1))


@evaluates(ops.BitCast)
def bit_cast(node: ops.BitCast, x: Array) -> Array:
    target = node.destination_type.to_dtype()
    return np.ascontiguousarray(x).view(target).reshape(x.shape)


@evaluates(ops.Cast)
def cast(node: ops.Cast, x: Array) -> Array:
    target = node.destination_type
    if target is Type.string:
        return _as_text(x)
    if x.dtype.kind == "U":
        x = np.array([_parsed(text, target) for text in x.reshape(-1).tolist()]).reshape(x.shape)
    if target is Type.f8e8m0:
        return _as_power_of_two(x, node.round_mode, node.saturate)
    if node.saturate and target.is_real() and target.bitwidth <= 8:
        limits = ml_dtypes.finfo(target.to_dtype())
        x = np.clip(x.astype(np.float32), np.float32(limits.min), np.float32(limits.max))
    return converted(x, target)


def _as_text(x: Array) -> Array:
    special = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}
    texts = [str(item) for item in as_numbers(x).reshape(-1)]
    return np.array([special.get(text, text) for text in texts], np.str_).reshape(x.shape)


def _parsed(text: str, target: Type) -> float | int:
    return int(text) if target.is_integer() else float(text)


def _as_power_of_two(x: Array, round_mode: str, saturate: bool) -> Array:
    """Convert to f8e8m0: the codes 0 to 254 are 2^-127 to 2^127, 255 is NaN."""
    mantissa, exponent = np.frexp(np.abs(x.astype(np.float64)))  # 0.5 <= mantissa < 1
    up = {"up": mantissa > 0.5, "down": np.zeros(x.shape, bool), "nearest": mantissa >= 0.75}[round_mode]
    code = exponent - 1 + up + 127
    code = np.where(x == 0, 0, np.where(np.isinf(x), 255, code))
    too_large, too_small = code > 254, code < 0
    code = np.where(too_large, 254 if saturate else 255, np.where(too_small, 0 if saturate else 255, code))
    return np.where(np.isnan(x), 255, code).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


@evaluates(ops.FakeConvert, in_f32=True)
def fake_convert(node: ops.FakeConvert, data: Array, scale: Array, shift: Array | None = None) -> Array:
    target = Type(node.destination_type).to_dtype()
    limit = np.float32(ml_dtypes.finfo(target).max)
    scaled = data * scale if shift is None else data * scale - shift
    # Rounded to f16 first, as in OpenVINO.
    rounded = np.clip(scaled, -limit, limit).astype(np.float16).astype(target).astype(np.float32)
    return (rounded if shift is None else rounded + shift) / scale


@evaluates(ops.FakeQuantize, in_f32=True)
def fake_quantize(
    node: ops.FakeQuantize, data: Array, input_low: Array, input_high: Array, output_low: Array, output_high: Array
) -> Array:
    steps = data.dtype.type(node.levels - 1)
    level = np.rint((data - input_low) / (input_high - input_low) * steps)
    result = level / steps * (output_high - output_low) + output_low
    result = np.where(data > np.maximum(input_low, input_high), output_high, result)
    return np.where(data <= np.minimum(input_low, input_high), output_low, result)

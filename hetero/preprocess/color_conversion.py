"""Conversion between color formats."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.layout import Layout
from hetero.core.types import Type
from hetero.graph import Constant, Output
from hetero.preprocess.conversion import index_of, transposition
from hetero.preprocess.formats import ColorFormat
from hetero.preprocess.operations import cut_chrominance, cut_last_channel, indices, on_one_plane, reverse_channels
from hetero.preprocess.step import Context
from hetero.system.errors import GraphError

RGB, BGR, GRAY = ColorFormat.RGB, ColorFormat.BGR, ColorFormat.GRAY
_NV12 = (ColorFormat.NV12_SINGLE_PLANE, ColorFormat.NV12_TWO_PLANES)
_I420 = (ColorFormat.I420_SINGLE_PLANE, ColorFormat.I420_THREE_PLANES)
# The shares of red, green and blue in luminance, by ITU-R BT.601.
_LUMINANCE = [0.299, 0.587, 0.114]


def convert_color(values: list[Output], context: Context, target: ColorFormat) -> list[Output]:
    """Convert an image to another color format. Raises GraphError if there is no conversion."""
    source = context.color_format
    if source is target:
        return values
    converted = _converted(values, context, source, target)
    context.color_format = target
    return converted


def _converted(values: list[Output], context: Context, source: ColorFormat, target: ColorFormat) -> list[Output]:
    if target in (RGB, BGR):
        if source in _NV12:
            return [(ops.NV12toRGB if target is RGB else ops.NV12toBGR)(*values).output(0)]
        if source in _I420:
            return [(ops.I420toRGB if target is RGB else ops.I420toBGR)(*values).output(0)]
        if source in (RGB, BGR):
            return reverse_channels(values, context)
        if source in (ColorFormat.RGBX, ColorFormat.BGRX):
            without_x = cut_last_channel(values, context)
            return without_x if source.name == f"{target.name}X" else reverse_channels(without_x, context)
    if target is GRAY and source in (*_NV12, *_I420):
        return values[:1] if source.planes > 1 else cut_chrominance(values, context)
    if target is GRAY and source in (RGB, BGR):
        return luminance(values, context, _LUMINANCE if source is RGB else _LUMINANCE[::-1])
    raise GraphError(f"convert_color cannot convert {source.description} to {target.description}")


@on_one_plane
def luminance(value: Output, context: Context, shares: list[float]) -> Output:
    """Weigh the channels by a convolution; integers are rounded to even."""
    shape, element_type = value.partial_shape, value.element_type
    channels = index_of("C", context.layout, shape)
    if len(shape) != 4 or shape[channels] != 3:
        raise GraphError(f"convert_color to GRAY needs images with 4 dimensions and 3 channels, not {shape}")
    if element_type.is_integer():
        value = ops.Convert(value, Type.f32).output(0)
    channels_second = Layout("NC...")
    if channels == 3:
        value = ops.Transpose(value, indices(transposition(context.layout, shape, channels_second))).output(0)
    weights = Constant(np.array(shares, np.float32).reshape(1, 3, 1, 1).astype(value.element_type.to_dtype()))
    value = ops.Convolution(value, weights, [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
    if element_type.is_integer():
        value = ops.Convert(ops.Round(value, "half_to_even"), element_type).output(0)
    if channels == 3:
        value = ops.Transpose(value, indices(transposition(channels_second, shape, context.layout))).output(0)
    return value

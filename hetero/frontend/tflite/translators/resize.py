"""Resizing of images."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import channels_last, channels_second, int64
from hetero.graph import Output
from hetero.types import Type


@translator("RESIZE_BILINEAR")
def resize_bilinear(node: TfliteNodeContext) -> Translation:
    """Results of integers are rounded, halves away from zero.

    Interpolation weights are exact, as in LiteRT's fast kernels. Those of its reference kernels have ten bits, which
    is too coarse for large images.
    """
    data = node.get_input(0)
    resized = _resize(node, convert_to(data, Type.f32), "linear_onnx", "half_pixel", "simple")
    if data.element_type.is_real():
        return resized
    return convert_to(ops.Round(resized, "half_away_from_zero").output(0), data.element_type)


@translator("RESIZE_NEAREST_NEIGHBOR")
def resize_nearest(node: TfliteNodeContext) -> Translation:
    rounding = "round_prefer_ceil" if node.get_attribute("align_corners", False) else "floor"
    return _resize(node, node.get_input(0), "nearest", "tf_half_pixel_for_nn", rounding)


def _resize(node: TfliteNodeContext, value: Output, mode: str, half_pixel: str, rounding: str) -> Output:
    """Resize to the height and width in input 1. ``half_pixel``: the coordinate mode if half_pixel_centers is set."""
    coordinates = "asymmetric"
    if node.get_attribute("align_corners", False):
        coordinates = "align_corners"
    elif node.get_attribute("half_pixel_centers", False):
        coordinates = half_pixel
    resized = ops.Interpolate(
        channels_second(value),
        node.get_input(1),
        mode,
        "sizes",
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
        axes=int64([2, 3]),
    )
    return channels_last(resized)

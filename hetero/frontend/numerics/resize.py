"""Resizing of images as in TensorFlow, whose images are [batch, height, width, channels]."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.values import channels_last, channels_second, convert_to, int64
from hetero.graph import Output


def resize_bilinear(node: NodeContext) -> Output:
    """Resize input 0 to the height and width in input 1. The result is f32, of images of integers too."""
    return _resize(node, convert_to(node.get_input(0), Type.f32), "linear_onnx", "half_pixel", "simple")


def resize_nearest(node: NodeContext) -> Output:
    """Resize input 0 to the height and width in input 1, without interpolation."""
    rounding = "round_prefer_ceil" if node.get_attribute("align_corners", False) else "floor"
    return _resize(node, node.get_input(0), "nearest", "tf_half_pixel_for_nn", rounding)


def coordinate_mode(node: NodeContext, half_pixel: str) -> str:
    """Return the coordinate mode in the attributes; it is ``half_pixel`` if half_pixel_centers is set."""
    if node.get_attribute("align_corners", False):
        return "align_corners"
    return half_pixel if node.get_attribute("half_pixel_centers", False) else "asymmetric"


def _resize(node: NodeContext, value: Output, mode: str, half_pixel: str, rounding: str) -> Output:
    resized = ops.Interpolate(
        channels_second(value),
        node.get_input(1),
        mode,
        "sizes",
        coordinate_transformation_mode=coordinate_mode(node, half_pixel),
        nearest_mode=rounding,
        axes=int64([2, 3]),
    )
    return channels_last(resized)

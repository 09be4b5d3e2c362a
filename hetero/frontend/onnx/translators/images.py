"""Resizing and sampling of images, regions of interest, and image decoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.numerics.spacing import grid_coordinates
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    int64,
    known_length,
    multiply_by,
    per_channel,
    rank_of,
)
from hetero.graph import Constant, Op, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

_MODES = {"nearest": "nearest", "linear": "linear_onnx", "bilinear": "linear_onnx", "cubic": "cubic"}


@translator("Upsample")
def upsample(node: OnnxNodeContext) -> Translation:
    names = ("height_scale", "width_scale")
    scales = node.get_attribute("scales", None) or (1, 1, *(node.get_attribute(name) for name in names))
    return _interpolate(node, Constant(np.array(scales, np.float32)).output(0), "scales", "asymmetric", "floor")


@translator("Upsample", since=9)
@translator("Resize", since=10)
def resize_10(node: OnnxNodeContext) -> Translation:
    return _interpolate(node, node.get_input(1), "scales", "asymmetric", "floor")


@translator("Resize", since=11)
def resize(node: OnnxNodeContext) -> Translation:
    # An empty tensor means an omitted input.
    has_scales = node.has_input(2) and node.get_input(2).partial_shape != [0]
    calculation, target = ("scales", node.get_input(2)) if has_scales else ("sizes", node.get_input(3))
    coordinates = node.get_attribute("coordinate_transformation_mode", "half_pixel")
    rounding = node.get_attribute("nearest_mode", "round_prefer_floor")
    if _is_interpolate(node, calculation, target, coordinates):
        return _interpolate(node, target, calculation, coordinates, rounding)
    roi = node.get_input(1) if coordinates == "tf_crop_and_resize" else None
    return ops.Resize(
        node.get_input(0),
        target,
        roi,
        axes=_axes(node),
        mode=node.get_attribute("mode", "nearest"),
        shape_calculation_mode=calculation,
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
        antialias=bool(node.get_attribute("antialias", 0)),
        cube_coeff=node.get_attribute("cubic_coeff_a", -0.75),
        exclude_outside=bool(node.get_attribute("exclude_outside", 0)),
        extrapolation_value=node.get_attribute("extrapolation_value", 0.0),
        keep_aspect_ratio_policy=node.get_attribute("keep_aspect_ratio_policy", "stretch"),
    )


def _axes(node: OnnxNodeContext) -> list[int]:
    rank = rank_of(node.get_input(0))
    return [axis % rank for axis in node.get_attribute("axes", tuple(range(rank)))]


def _is_interpolate(node: OnnxNodeContext, calculation: str, target: Output, coordinates: str) -> bool:
    """Return whether OpenVINO's Interpolate, which other devices know too, computes the same."""
    if any(node.get_attribute(name, 0) for name in ("antialias", "exclude_outside")):
        return False
    if node.get_attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        return False
    if coordinates == "align_corners" and calculation == "scales":
        return _has_integral_sizes(node.get_input(0), _axes(node), target)
    return coordinates not in ("tf_crop_and_resize", "half_pixel_symmetric")


def _has_integral_sizes(value: Output, axes: list[int], scales: Output) -> bool:
    """Return whether lengths times scales are known to be integers. Else ONNX aligns corners with fractional sizes."""
    known, lengths = exact_value(scales), [value.partial_shape[axis] for axis in axes]
    if known is None or known.size != len(axes):
        return False
    return all(
        float(scale).is_integer() or (length.is_static and float(length.get_length() * scale).is_integer())
        for length, scale in zip(lengths, known)
    )


def _interpolate(
    node: OnnxNodeContext, target: Output, calculation: str, coordinates: str, rounding: str
) -> Translation:
    value, mode = node.get_input(0), node.get_attribute("mode", "nearest")
    if mode not in _MODES:
        raise FrontendError(f"mode must be one of {', '.join(_MODES)}, but is {mode}")
    axes, target = _changed_axes(value, _axes(node), target, calculation)
    if not axes:
        return value
    return ops.Interpolate(
        value,
        target,
        _MODES[mode],
        calculation,
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
        cube_coeff=node.get_attribute("cubic_coeff_a", -0.75),
        axes=int64(axes),
    )


def _changed_axes(value: Output, axes: list[int], target: Output, calculation: str) -> tuple[list[int], Output]:
    """Return the axes without those that are known to keep their length, and the scales or sizes of these axes."""
    known = exact_value(target)
    if known is None:
        return axes, target
    if known.shape != (len(axes),):
        raise FrontendError(f"there are {known.size} {calculation} for {len(axes)} axes")
    identity = [1] * len(axes) if calculation == "scales" else [value.partial_shape[axis] for axis in axes]
    changed = [index for index, number in enumerate(known) if identity[index] != number.item()]
    return [axes[index] for index in changed], Constant(known[changed]).output(0)


# Before operator set 20, the names of the modes are those of the operation.
GRID_SAMPLE: dict[str, Any] = {
    "align_corners": Attr("align_corners", 0),
    "mode": Attr("mode", "linear", values={"linear": "bilinear", "cubic": "bicubic"}),
    "padding_mode": Attr("padding_mode", "zeros"),
}
rows({
    "GridSample": Row(ops.GridSample, since=16, **GRID_SAMPLE),
    "ImageDecoder": Row(
        ops.ImageDecoder, since=20,
        pixel_format=Attr("pixel_format", "RGB", values={"RGB": "rgb", "BGR": "bgr", "Grayscale": "grayscale"}),
    ),
    "MaxRoiPool": Row(
        ops.ROIPooling, output_roi=Attr("pooled_shape"), spatial_scale=Attr("spatial_scale", 1.0), method="max"
    ),
})  # fmt: skip


@translator("AffineGrid", since=20)
def affine_grid(node: OnnxNodeContext) -> Translation:
    """Return the grid ``[N, …, n]``: theta ``[N, n, n + 1]`` times the homogeneous coordinates of each output point.

    The coordinate of the last dimension comes first.
    """
    theta, size = node.get_input(0), node.get_input(1)
    count = known_length(theta, 1, "dimension 1 of theta, the number of spatial dimensions,")
    align = bool(node.get_attribute("align_corners", 0))
    total = _column(theta, count, count)
    for dimension in range(count):
        length = ops.Gather(size, int64(2 + dimension), int64(0)).output(0)
        points = ops.Unsqueeze(grid_coordinates(length, theta, align), int64(range(1, count - dimension + 1)))
        total = ops.Add(total, ops.Multiply(points, _column(theta, count - 1 - dimension, count)))
    return total


def _column(theta: Output, index: int, count: int) -> Op:
    """Return a column of each matrix as ``[N, 1, …, 1, n]``."""
    return ops.Unsqueeze(ops.Gather(theta, int64(index), int64(2)), int64(range(1, count + 1)))


@translator("NonMaxSuppression", since=10)
def non_max_suppression(node: OnnxNodeContext) -> Translation:
    boxes, scores, count, overlap = (node.get_optional_input(index) for index in range(4))
    # Without score_threshold every box may be selected.
    threshold = node.get_input(4) if node.has_input(4) else np.array(-np.inf, np.float32)
    encoding = "center" if node.get_attribute("center_point_box", 0) else "corner"
    return ops.NonMaxSuppression(
        boxes, scores, count, overlap, threshold, box_encoding=encoding, sort_result_descending=False
    ).output(0)


@translator("RoiAlign", since=10)
def roi_align(node: OnnxNodeContext) -> Translation:
    # ONNX's half_pixel shifts by 0.5 only after the scale, which OpenVINO calls half_pixel_for_nn.
    default = "half_pixel" if node.get_opset_version() >= 16 else "output_half_pixel"
    is_half_pixel = node.get_attribute("coordinate_transformation_mode", default) == "half_pixel"
    mode = node.get_attribute("mode", "avg")
    operation = ops.ROIAlign if mode == "avg" else ops.ROIAlignLargestTerm
    return operation(
        *(node.get_input(index) for index in range(3)),
        pooled_h=node.get_attribute("output_height", 1),
        pooled_w=node.get_attribute("output_width", 1),
        sampling_ratio=node.get_attribute("sampling_ratio", 0),
        spatial_scale=node.get_attribute("spatial_scale", 1.0),
        mode=mode,
        aligned_mode="half_pixel_for_nn" if is_half_pixel else "asymmetric",
    )


@translator("ImageScaler")
def image_scaler(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    scaled = multiply_by(value, node.get_attribute("scale", 1.0))
    bias = Constant(np.array(node.get_attribute("bias", (0.0,)), value.element_type.to_dtype())).output(0)
    return ops.Add(scaled, per_channel(bias, rank_of(value)))


@translator("Crop")
def crop(node: OnnxNodeContext) -> Translation:
    """Remove ``border`` (left, top, right, bottom) from an image, or keep a part of size ``scale`` at left and top."""
    border, size = node.get_attribute("border"), node.get_attribute("scale", None)
    if len(border) != 4 or (size is not None and len(size) != 2):
        raise FrontendError(f"border must be four numbers and scale two, but they are {border} and {size}")
    left, top, right, bottom = border
    if size is None:
        pads = ((0, 0, -top, -left), (0, 0, -bottom, -right))
        return ops.Pad(node.get_input(0), *map(int64, pads), "constant")
    ends = int64([top + size[0], left + size[1]])
    return ops.Slice(node.get_input(0), int64([top, left]), ends, int64([1, 1]), int64([2, 3]))

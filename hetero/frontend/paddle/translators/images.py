"""Interpolation, and sampling at places."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import stack
from hetero.frontend.numerics.spacing import grid_coordinates
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.paddle.translators.convolution import channels_moved
from hetero.frontend.translation.translators import Attr, ConversionResult, Row
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Constant, Output, as_output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

_MODES = {"nearest": "nearest", "linear": "linear_onnx", "bilinear": "linear_onnx", "trilinear": "linear_onnx",
          "bicubic": "cubic"}  # fmt: skip


@translator(*(f"{mode}_interp{version}" for mode in _MODES for version in ("", "_v2")))
def interpolate(node: PaddleNodeContext) -> ConversionResult:
    value, restored = channels_moved(node, node.get_input("X"))
    mode = node.get_op_type().partition("_")[0]
    aligned = node.get_attribute("align_corners", True)
    if mode == "nearest":
        coordinates = "align_corners" if aligned else "asymmetric"
        nearest = "round_prefer_ceil" if aligned else "floor"
    else:
        is_asymmetric = mode != "bicubic" and node.get_attribute("align_mode", 1) == 1
        coordinates = "align_corners" if aligned else "asymmetric" if is_asymmetric else "half_pixel"
        nearest = "floor"
    target, calculation = _target(node, value)
    # A scale that is used for the places of corners would give another length.
    if aligned and calculation == "scales":
        target, calculation = _sizes(value, target), "sizes"
    if not aligned and calculation == "sizes" and mode in ("bilinear", "bicubic"):
        value = _first_of_single(value, target, mode)
    result = ops.Interpolate(
        value, target, _MODES[mode], calculation, coordinate_transformation_mode=coordinates,
        nearest_mode=nearest, cube_coeff=-0.75, axes=int64(range(2, rank_of(value))),
    )  # fmt: skip
    return restored(result.output(0))


def _first_of_single(value: Output, target: Output, mode: str) -> Output:
    """Cut an axis of which the result has one element to its first element, the one that PaddlePaddle takes."""
    sizes = exact_value(target)
    single = [] if sizes is None else [at + 2 for at, size in enumerate(sizes) if size == 1]
    if single and mode == "bicubic":
        raise FrontendError("bicubic interpolation to the size 1 is not supported")
    if not single:
        return value
    first, step = int64([0] * len(single)), int64([1] * len(single))
    return ops.Slice(value, first, step, step, int64(single)).output(0)


def _target(node: PaddleNodeContext, value: Output) -> tuple[Output, str]:
    """Return the sizes or the scales of the image, and which of them."""
    count = rank_of(value) - 2
    if node.has_input("SizeTensor") or node.has_input("OutSize"):
        return node.integers("out_size", "SizeTensor", "OutSize"), "sizes"
    if node.has_input("Scale"):
        scales = ops.Convert(ops.Reshape(node.get_input("Scale"), int64([-1]), False), Type.f32)
        return ops.Broadcast(scales, int64([count])).output(0), "scales"
    factors = node.get_attribute("scale", [])
    factors = [factors] if isinstance(factors, float) else list(factors)
    factors = factors * count if len(factors) == 1 else factors
    if factors and all(scale > 0 for scale in factors):
        return as_output(Constant(np.array(factors, np.float32))), "scales"
    names = ("out_d", "out_h", "out_w")[-count:]
    return int64([node.get_attribute(name) for name in names]).output(0), "sizes"


def _sizes(value: Output, scales: Output) -> Output:
    lengths = ops.Slice(ops.ShapeOf(value), int64([2]), int64([rank_of(value)]), int64([1]))
    sizes = ops.Convert(ops.Floor(ops.Multiply(ops.Convert(lengths, Type.f32), scales)), Type.i64).output(0)
    known = exact_value(sizes)
    return sizes if known is None else int64(known).output(0)


@translator("affine_grid")
def affine_grid(node: PaddleNodeContext) -> ConversionResult:
    """The grid ``[N, H, W, 2]``: theta ``[N, 2, 3]`` times the coordinates of each output point."""
    theta = node.get_input("Theta")
    shape, align = node.integers("output_shape", "OutputShape"), node.get_attribute("align_corners", True)
    height, width = (ops.Gather(shape, int64(axis), int64(0)).output(0) for axis in (2, 3))
    rows = ops.Unsqueeze(grid_coordinates(height, theta, align), int64([1]))
    columns = ops.Unsqueeze(grid_coordinates(width, theta, align), int64([0]))
    size = stack((height, width), 0)
    grids = [ops.Broadcast(coordinates, size) for coordinates in (columns, rows, scalar_like(theta, 1))]
    points = stack(grids, 2)
    flat = ops.MatMul(ops.Reshape(points, int64([-1, 3]), False), theta, False, True)
    return ops.Reshape(flat, ops.Concat([int64([-1]), size, int64([2])], 0), False)


rows(
    {
        "grid_sampler": Row(
            ops.GridSample,
            "X",
            "Grid",
            align_corners=Attr("align_corners", True),
            mode=Attr("mode", "bilinear"),
            padding_mode=Attr("padding_mode", "zeros", values={"reflect": "reflection"}),
        )
    }
)

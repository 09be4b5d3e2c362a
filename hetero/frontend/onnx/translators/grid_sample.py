"""GridSample, and AffineGrid, which computes sampling points for it."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, int64, known_length, scalar_like
from hetero.graph import Op, Output

# OpenVINO's names of the modes of operator set 20; older ONNX names are the same as OpenVINO's.
_MODES = {"linear": "bilinear", "cubic": "bicubic"}


@translator("GridSample", since=16)
def grid_sample(node: OnnxNodeContext) -> Translation:
    mode = node.get_attribute("mode", "bilinear")
    attributes = {
        "align_corners": node.get_attribute("align_corners", 0),
        "mode": _MODES.get(mode, mode),
        "padding_mode": node.get_attribute("padding_mode", "zeros"),
    }
    return ops.GridSample(node.get_input(0), node.get_input(1), attributes)


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
        points = ops.Unsqueeze(_coordinates(length, theta, align), int64(range(1, count - dimension + 1)))
        total = ops.Add(total, ops.Multiply(points, _column(theta, count - 1 - dimension, count)))
    return total


def _column(theta: Output, index: int, count: int) -> Op:
    """Return a column of each matrix as ``[N, 1, …, 1, n]``."""
    return ops.Unsqueeze(ops.Gather(theta, int64(index), int64(2)), int64(range(1, count + 1)))


def _coordinates(length: Output, theta: Output, align: bool) -> Op:
    """Return ``length`` coordinates from -1 to 1: of pixel corners if ``align``, else of pixel centers."""
    points = ops.Convert(arange(length), theta.element_type)
    steps = ops.Maximum(ops.Subtract(length, int64(1)), int64(1)) if align else length
    step = ops.Divide(scalar_like(theta, 2), ops.Convert(steps, theta.element_type))
    first: Op = scalar_like(theta, -1)
    if not align:
        first = ops.Add(first, ops.Divide(step, scalar_like(theta, 2)))
    return ops.Add(ops.Multiply(points, step), first)

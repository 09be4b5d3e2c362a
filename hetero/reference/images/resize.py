"""ONNX's Resize, with taps for each axis as in Interpolate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.reference.images.interpolation import Taps, cubic, grid, nearest, resample, rounded
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import check_allocation


@evaluates(ops.Resize)
def resize(node: ops.Resize, image: Array, target: Array, roi: Array | None = None) -> Array:
    result, beyond = image, np.zeros((), np.bool_)
    for axis, taps, outside in resized_axes(node, image.shape, target, roi):
        result = resample(result, axis, *taps)
        if outside is not None:
            beyond = beyond | outside.reshape(-1, *[1] * (image.ndim - axis - 1))
    if beyond.any():
        result = np.where(beyond, node.extrapolation_value, result)
    return rounded(result, image.dtype)


def resized_axes(
    node: ops.Resize, shape: tuple[int, ...], target: Array, roi: Array | None
) -> list[tuple[int, Taps, Array | None]]:
    """Return the axes that a Resize resamples for data of a shape, each with its taps and a mask or None.

    The mask is True for coordinates outside of the data, which get the extrapolation value.
    """
    axes = [axis % len(shape) for axis in node.axes]
    sizes, scales = node.sizes_and_scales([shape[axis] for axis in axes], target)
    parts = [(0.0, 1.0)] * len(axes) if roi is None or not roi.size else roi.astype(float).reshape(2, -1).T.tolist()
    resized = []
    for axis, size, scale, part in zip(axes, sizes, scales, parts):
        length, outside = shape[axis], None
        check_allocation(64 * size, f"the table of {size} coordinates")
        coordinate = _coordinates(node.coordinate_transformation_mode, length, size, scale, part)
        if node.coordinate_transformation_mode == "tf_crop_and_resize":
            outside = (coordinate < 0) | (coordinate > length - 1)
        elif size == length and scale == 1:
            continue
        resized.append((axis, _taps(node, length, scale, coordinate), outside))
    return resized


def _coordinates(mode: str, length: int, size: int, scale: float, part: Sequence[float]) -> Array:
    """Return the coordinates of the output elements in the data."""
    index, width = np.arange(size, dtype=np.float64), length * scale
    if mode == "asymmetric":
        return index / scale
    if mode == "align_corners":
        return index * ((length - 1) / (width - 1) if width != 1 else 0)
    if mode == "tf_crop_and_resize":
        start, end = part
        reach = (end - start) * (length - 1)
        return start * (length - 1) + (index / (width - 1) if width != 1 else np.full(size, 0.5)) * reach
    if mode == "tf_half_pixel_for_nn":
        return (index + 0.5) / scale
    if mode == "pytorch_half_pixel" and size == 1:
        return np.zeros(1)
    shift = length / 2 * (1 - size / width) if mode == "half_pixel_symmetric" else 0
    return shift + (index + 0.5) / scale - 0.5


def _taps(node: ops.Resize, length: int, scale: float, coordinate: Array) -> Taps:
    if node.mode == "nearest":
        return np.clip(nearest(node.nearest_mode, coordinate, scale), 0, length - 1)[:, None], None
    reach = 1 if node.mode == "linear" else 2
    shrink = min(scale, 1.0) if node.antialias else 1.0
    first = int(np.floor(-reach / shrink)) + 1
    indices = grid(np.floor(coordinate).astype(np.int64), np.arange(first, 2 - first))
    distance = np.abs(indices - coordinate[:, None]) * shrink
    weights = np.maximum(0, 1 - distance) if node.mode == "linear" else cubic(distance, node.cube_coeff)
    if node.exclude_outside:
        weights = np.where((indices >= 0) & (indices < length), weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)
    return np.clip(indices, 0, length - 1), weights

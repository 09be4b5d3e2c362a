"""ONNX's Resize, with taps for each axis as in Interpolate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.reference.images.interpolation import Taps, cubic, grid, nearest, resample, rounded
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import check_allocation


@evaluates(ops.Resize)
def resize(node: ops.Resize, image: Array, target: Array, roi: Array | None = None) -> Array:
    result, beyond = image, np.zeros((), np.bool_)
    for resized in resized_axes(node, image.shape, target, roi):
        axis, (taps, outside) = resized.axis, taps_along(node, resized)
        result = resample(result, axis, *taps)
        if outside is not None:
            beyond = beyond | outside.reshape(-1, *[1] * (image.ndim - axis - 1))
    if beyond.any():
        result = np.where(beyond, node.extrapolation_value, result)
    return rounded(result, image.dtype)


class ResizedAxis(NamedTuple):
    """An axis, its lengths before and after, the scale, and the part of the data that tf_crop_and_resize reads."""

    axis: int
    length: int
    size: int
    scale: float
    part: Sequence[float]


def resized_axes(node: ops.Resize, shape: tuple[int, ...], target: Array, roi: Array | None) -> list[ResizedAxis]:
    """Return the axes that a Resize resamples for data of a shape."""
    axes = [axis % len(shape) for axis in node.axes]
    sizes, scales = node.sizes_and_scales([shape[axis] for axis in axes], target)
    parts = [(0.0, 1.0)] * len(axes) if roi is None or not roi.size else roi.astype(float).reshape(2, -1).T.tolist()
    crops = node.coordinate_transformation_mode == "tf_crop_and_resize"
    resized = [ResizedAxis(a, shape[a], size, scale, part) for a, size, scale, part in zip(axes, sizes, scales, parts)]
    return [along for along in resized if crops or (along.size, along.scale) != (along.length, 1)]


def taps_along(node: ops.Resize, resized: ResizedAxis) -> tuple[Taps, Array | None]:
    """Return the taps of an axis, and a mask or None.

    The mask is True for coordinates outside of the data, which get the extrapolation value.
    """
    check_allocation(64 * resized.size, f"the table of {resized.size} coordinates")
    coordinate = coordinates(node, resized, np.arange(resized.size, dtype=np.float64))
    crops = node.coordinate_transformation_mode == "tf_crop_and_resize"
    outside = (coordinate < 0) | (coordinate > resized.length - 1) if crops else None
    return _taps(node, resized.length, resized.scale, coordinate), outside


def coordinates(node: ops.Resize, resized: ResizedAxis, index: Array) -> Array:
    """Return the coordinates in the data of output elements with these indices, a linear function of them."""
    mode, (_, length, size, scale, part) = node.coordinate_transformation_mode, resized
    width = length * scale
    if mode == "asymmetric":
        return index / scale
    if mode == "align_corners":
        return index * ((length - 1) / (width - 1) if width != 1 else 0)
    if mode == "tf_crop_and_resize":
        start, end = part
        reach = (end - start) * (length - 1)
        return start * (length - 1) + (index / (width - 1) if width != 1 else np.full(index.shape, 0.5)) * reach
    if mode == "tf_half_pixel_for_nn":
        return (index + 0.5) / scale
    if mode == "pytorch_half_pixel" and size == 1:
        return np.zeros(index.shape)
    shift = length / 2 * (1 - size / width) if mode == "half_pixel_symmetric" else 0
    return shift + (index + 0.5) / scale - 0.5


def window(node: ops.Resize, scale: float) -> tuple[float, int]:
    """Return the factor of distances in the filter, and its first element relative to the coordinate rounded down.

    The last element is ``1 - first``.
    """
    reach = 1 if node.mode == "linear" else 2
    shrink = min(scale, 1.0) if node.antialias else 1.0
    return shrink, int(np.floor(-reach / shrink)) + 1


def _taps(node: ops.Resize, length: int, scale: float, coordinate: Array) -> Taps:
    if node.mode == "nearest":
        return np.clip(nearest(node.nearest_mode, coordinate, scale), 0, length - 1)[:, None], None
    shrink, first = window(node, scale)
    indices = grid(np.floor(coordinate).astype(np.int64), np.arange(first, 2 - first))
    distance = np.abs(indices - coordinate[:, None]) * shrink
    weights = np.maximum(0, 1 - distance) if node.mode == "linear" else cubic(distance, node.cube_coeff)
    if node.exclude_outside:
        weights = np.where((indices >= 0) & (indices < length), weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)
    return np.clip(indices, 0, length - 1), weights

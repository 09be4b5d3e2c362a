"""Interpolate, one axis at a time: every mode is a weighted sum of a few elements along each axis.

The formulas are those of OpenVINO's Interpolate-4 and -11, including coordinates in 32-bit floats.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.ops.images.interpolation import scaled
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import check_allocation

_Interpolate = ops.Interpolate | ops.InterpolateV4
# The indices of the input elements of each output element, [length, taps], and their weights; None for weights of 1.
Taps = tuple[Array, Array | None]


@evaluates(ops.Interpolate)
def interpolate(node: _Interpolate, image: Array, scales_or_sizes: Array, axes: Array | None = None) -> Array:
    pads = node.pads_of(image.ndim)
    result = np.pad(image, pads) if any(map(any, pads)) else image
    resampled = resampled_axes(node, result.shape, scales_or_sizes, axes)
    each_rounded = rounds_each_axis(node, Type(image.dtype))
    for along in sorted(resampled, key=operator.attrgetter("axis"), reverse=True) if each_rounded else resampled:
        result = resample(result, along.axis, *taps_along(node, along))
        result = rounded(result, image.dtype) if each_rounded else result
    return rounded(result, image.dtype)


@evaluates(ops.InterpolateV4)
def interpolate_v4(node: ops.InterpolateV4, image: Array, *others: Array) -> Array:
    return interpolate(node, image, others[node.target_index - 1], *others[2:])


@evaluates(ops.InterpolateV1)
def interpolate_v1(node: ops.InterpolateV1, image: Array, output_shape: Array) -> Array:
    return interpolate(node.to_interpolate_11(image.ndim), image, output_shape, np.array(node.axes))


def rounds_each_axis(node: _Interpolate, element_type: Type) -> bool:
    """Return whether the results along each axis are rounded, from the last axis to the first, as Pillow does."""
    return node.mode.endswith("pillow") and element_type.is_integer()


def rounded(result: Array, dtype: np.dtype) -> Array:
    """Convert the result to the type of the data; for integers it is rounded and saturated."""
    if dtype.kind in "iu" and result.dtype != dtype:
        limits = np.iinfo(dtype)
        result = np.clip(np.round(result), limits.min, limits.max)
    return result.astype(dtype, copy=False)


class ResampledAxis(NamedTuple):
    """An axis, its lengths before and after, its scale, and whether the data shrinks along any axis."""

    axis: int
    length: int
    size: int
    scale: np.float32
    shrinks: bool


def resampled_axes(
    node: _Interpolate, shape: tuple[int, ...], scales_or_sizes: Array, axes: Array | None
) -> list[ResampledAxis]:
    """Return the axes that an Interpolate resamples, for data of a shape after padding."""
    axes = np.arange(len(shape)) if axes is None else axes.reshape(-1) % len(shape)
    lengths = [shape[axis] for axis in axes]
    values = scales_or_sizes.reshape(-1)
    if node.shape_calculation_mode == "sizes":
        sizes = [int(size) for size in values]
        scales = [np.float32(size) / np.float32(length) for size, length in zip(sizes, lengths)]
    else:
        scales = [np.float32(scale) for scale in values]
        sizes = [scaled(length, float(scale)) for length, scale in zip(lengths, scales)]
    shrinks = any(scale < 1 for scale in scales)
    return [
        ResampledAxis(int(axis), length, size, scale, shrinks)
        for axis, length, size, scale in zip(axes, lengths, sizes, scales)
        if size != length or scale != 1
    ]


def resample(data: Array, axis: int, indices: Array, weights: Array | None) -> Array:
    """Return the data resampled along an axis by its taps."""
    if weights is None:
        return np.take(data, indices[:, 0], axis)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float32)
    along = [1] * data.ndim
    along[axis] = -1

    def weighted(tap: Array, weight: Array) -> Array:
        part = np.take(data, tap, axis)
        part *= weight.reshape(along)
        return part

    parts = map(weighted, indices.T, weights.T.astype(data.dtype))
    result = next(parts)
    for part in parts:
        result += part
    return result


def taps_along(node: _Interpolate, along: ResampledAxis) -> Taps:
    """Return the taps of an axis."""
    _, length, size, scale, _ = along
    check_allocation(64 * size, f"the table of {size} coordinates")
    if node.mode.endswith("pillow"):
        return _pillow_taps(node, length, size)
    coordinate = _coordinates(node.coordinate_transformation_mode, length, size, scale)
    if node.mode == "nearest":
        return np.clip(nearest(node.nearest_mode, coordinate, scale), 0, length - 1)[:, None], None
    if node.mode == "linear_onnx":
        coordinate = np.clip(coordinate, 0, np.float32(length - 1))
        low = np.minimum(np.floor(coordinate).astype(np.int64), max(length - 2, 0))
        part = coordinate - low
        return np.stack([low, np.minimum(low + 1, length - 1)], 1), np.stack([1 - part, part], 1)
    if node.mode == "cubic":
        low = np.floor(coordinate).astype(np.int64)
        offsets = np.arange(-1, 3)
        indices = grid(low, offsets)
        weights = cubic(np.abs((coordinate - low)[:, None] - offsets.astype(np.float32)), node.cube_coeff)
        return np.clip(indices, 0, length - 1), weights
    # Linear: a triangle filter around the coordinate, wider for antialiasing; elements outside the image weigh 0.
    slope, reach = linear_filter(node, along)
    indices = grid(np.round(coordinate).astype(np.int64), np.arange(-reach, reach + 1))
    weights = np.maximum(0, 1 - np.abs(slope * (coordinate[:, None] - indices))).astype(np.float32)
    return _normalized(indices, weights, length)


def linear_filter(node: _Interpolate, along: ResampledAxis) -> tuple[np.float32, int]:
    """Return the factor of distances in the filter of mode linear, and the reach of its window."""
    slope = along.scale if node.antialias and along.shrinks else np.float32(1)
    return slope, 2 if along.scale > 1 else int(np.ceil(2 / slope))


def _pillow_taps(node: _Interpolate, length: int, size: int) -> Taps:
    """Return the taps of Pillow's resize, whose filter is stretched when downsampling."""
    ratio = length / size
    stretch = max(ratio, 1.0)
    reach = (1.0 if node.mode == "bilinear_pillow" else 2.0) * stretch
    center = (np.arange(size) + 0.5) * ratio
    first = np.maximum((center - reach + 0.5).astype(np.int64), 0)
    last = np.minimum((center + reach + 0.5).astype(np.int64), length)
    indices = grid(first, np.arange(int((last - first).max(initial=1))))
    distance = np.abs(indices - center[:, None] + 0.5) / stretch
    weights = np.maximum(0, 1 - distance) if node.mode == "bilinear_pillow" else cubic(distance, node.cube_coeff)
    return _normalized(indices, np.where(indices < last[:, None], weights, 0), length)


def grid(first: Array, offsets: Array) -> Array:
    """Return the indices ``first`` plus ``offsets``, ``[length, taps]``. Raises MemoryError if they are too many."""
    # The factor of 8 covers the weights and their temporaries.
    check_allocation(8 * first.nbytes * offsets.size, f"the table of {first.size} x {offsets.size} weights")
    return first[:, None] + offsets


def _normalized(indices: Array, weights: Array, length: int) -> Taps:
    """Return taps whose weights sum to 1, with weight 0 outside the image, without columns that are all 0."""
    weights = np.where((indices >= 0) & (indices < length), weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)
    used = np.flatnonzero(weights.any(0)) if weights.any() else [0]
    return np.clip(indices, 0, length - 1)[:, used], weights[:, used]


def _coordinates(mode: str, length: int, size: int, scale: np.float32) -> Array:
    """Return the coordinates of the output elements in the image."""
    index = np.arange(size, dtype=np.float32)
    if mode == "asymmetric":
        return index / scale
    if mode == "align_corners":
        return index * np.float32(length - 1) / np.float32(max(size - 1, 1))
    if mode == "tf_half_pixel_for_nn":
        return (index + np.float32(0.5)) / scale
    if mode == "pytorch_half_pixel" and size == 1:
        return np.zeros(1, np.float32)
    return (index + np.float32(0.5)) / scale - np.float32(0.5)


def nearest(mode: str, coordinate: Array, scale: float | np.floating) -> Array:
    """Round coordinates to indices."""
    low = np.floor(coordinate)
    half = coordinate - low == 0.5
    if mode == "round_prefer_floor":
        index = np.where(half, low, np.round(coordinate))
    elif mode == "round_prefer_ceil":
        index = np.where(half, low + 1, np.round(coordinate))
    elif mode == "floor":
        index = low
    elif mode == "ceil" or scale < 1:  # simple: up when downsampling, toward 0 when upsampling
        index = np.ceil(coordinate)
    else:
        index = np.trunc(coordinate)
    return index.astype(np.int64)


def cubic(distance: Array, a: float) -> Array:
    """Return Keys' cubic convolution kernel with parameter a."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0)).astype(np.float32)

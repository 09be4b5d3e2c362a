"""Interpolate, one axis at a time: every mode is a weighted sum of a few elements along each axis.

The formulas are those of OpenVINO's Interpolate-4 and -11, coordinates in 32-bit floats as there.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.allocation import check_allocation
from hetero.graph import Node
from hetero.ops.interpolation import scaled
from hetero.reference.registry import evaluates

# Which elements each element of the result is made of, [length, taps], and their weights; no weights: they are 1.
Taps = tuple[np.ndarray, np.ndarray | None]


@evaluates(ops.Interpolate)
def interpolate(
    node: Node, image: np.ndarray, scales_or_sizes: np.ndarray, axes: np.ndarray | None = None
) -> np.ndarray:
    pads = node.pads_of(image.ndim)
    result = np.pad(image, pads) if any(map(any, pads)) else image
    for axis, taps in resampled_axes(node, result.shape, scales_or_sizes, axes):
        result = resample(result, axis, *taps)
    return rounded(result, image.dtype)


@evaluates(ops.InterpolateV4)
def interpolate_v4(node: Node, image: np.ndarray, *others: np.ndarray) -> np.ndarray:
    return interpolate(node, image, others[node.target_index - 1], *others[2:])


@evaluates(ops.InterpolateV1)
def interpolate_v1(node: Node, image: np.ndarray, output_shape: np.ndarray) -> np.ndarray:
    return interpolate(node.newest(image.ndim), image, output_shape, np.array(node.axes))


def rounded(result: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The result in the type of the data: whole numbers rounded, and kept within the type."""
    if dtype.kind in "iu" and result.dtype != dtype:
        limits = np.iinfo(dtype)
        result = np.clip(np.round(result), limits.min, limits.max)
    return result.astype(dtype, copy=False)


def resampled_axes(
    node: Node, shape: tuple[int, ...], scales_or_sizes: np.ndarray, axes: np.ndarray | None
) -> list[tuple[int, Taps]]:
    """The axes along which an Interpolate changes data of a shape, pads included, each with its taps."""
    axes = np.arange(len(shape)) if axes is None else axes.reshape(-1) % len(shape)
    lengths = [shape[axis] for axis in axes]
    values = scales_or_sizes.reshape(-1)
    if node.shape_calculation_mode == "sizes":
        sizes = [int(size) for size in values]
        scales = [np.float32(size) / np.float32(length) for size, length in zip(sizes, lengths)]
    else:
        scales = [np.float32(scale) for scale in values]
        sizes = [scaled(length, scale) for length, scale in zip(lengths, scales)]
    shrinks = any(scale < 1 for scale in scales)
    return [
        (int(axis), _taps(node, length, size, scale, shrinks))
        for axis, length, size, scale in zip(axes, lengths, sizes, scales)
        if size != length or scale != 1
    ]


def resample(data: np.ndarray, axis: int, indices: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The data with an axis made anew by its taps."""
    if weights is None:
        return np.take(data, indices[:, 0], axis)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float32)
    along = [1] * data.ndim
    along[axis] = -1
    result = None
    for tap, weight in zip(indices.T, weights.T.astype(data.dtype)):
        part = np.take(data, tap, axis)
        part *= weight.reshape(along)
        result = part if result is None else np.add(result, part, out=result)
    return result


def _taps(node: Node, length: int, size: int, scale: np.float32, shrinks: bool) -> Taps:
    check_allocation(64 * size, f"the table of {size} places")
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
    # Linear: a triangle around the coordinate, wider when it smooths; what lies outside of the image has no weight.
    slope = scale if node.antialias and shrinks else np.float32(1)
    reach = 2 if scale > 1 else int(np.ceil(2 / slope))
    indices = grid(np.round(coordinate).astype(np.int64), np.arange(-reach, reach + 1))
    weights = np.maximum(0, 1 - np.abs(slope * (coordinate[:, None] - indices))).astype(np.float32)
    return _normalised(indices, weights, length)


def _pillow_taps(node: Node, length: int, size: int) -> Taps:
    """The taps of Pillow's resize: its filter is stretched where the image gets smaller."""
    ratio = length / size
    stretch = max(ratio, 1.0)
    reach = (1.0 if node.mode == "bilinear_pillow" else 2.0) * stretch
    center = (np.arange(size) + 0.5) * ratio
    first = np.maximum((center - reach + 0.5).astype(np.int64), 0)
    last = np.minimum((center + reach + 0.5).astype(np.int64), length)
    indices = grid(first, np.arange(int((last - first).max(initial=1))))
    distance = np.abs(indices - center[:, None] + 0.5) / stretch
    weights = np.maximum(0, 1 - distance) if node.mode == "bilinear_pillow" else cubic(distance, node.cube_coeff)
    return _normalised(indices, np.where(indices < last[:, None], weights, 0), length)


def grid(first: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the indices ``first`` plus ``offsets``, ``[length, taps]``. Raises MemoryError if they are too many."""
    # The weights, and what is computed on the way to them, take as much again several times.
    check_allocation(8 * first.nbytes * offsets.size, f"the table of {first.size} x {offsets.size} weights")
    return first[:, None] + offsets


def _normalised(indices: np.ndarray, weights: np.ndarray, length: int) -> Taps:
    """The taps with weights of sum 1, none outside of the image; columns without any weight are left out."""
    weights = np.where((indices >= 0) & (indices < length), weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)
    used = weights.any(0)
    used[:1] |= not used.any()
    return np.clip(indices, 0, length - 1)[:, used], weights[:, used]


def _coordinates(mode: str, length: int, size: int, scale: np.float32) -> np.ndarray:
    """Where the elements of the result lie in the image."""
    place = np.arange(size, dtype=np.float32)
    if mode == "asymmetric":
        return place / scale
    if mode == "align_corners":
        return place * np.float32(length - 1) / np.float32(max(size - 1, 1))
    if mode == "tf_half_pixel_for_nn":
        return (place + np.float32(0.5)) / scale
    if mode == "pytorch_half_pixel" and size == 1:
        return np.zeros(1, np.float32)
    return (place + np.float32(0.5)) / scale - np.float32(0.5)


def nearest(mode: str, coordinate: np.ndarray, scale: float) -> np.ndarray:
    """The indices next to coordinates."""
    low = np.floor(coordinate)
    half = coordinate - low == 0.5
    if mode == "round_prefer_floor":
        found = np.where(half, low, np.round(coordinate))
    elif mode == "round_prefer_ceil":
        found = np.where(half, low + 1, np.round(coordinate))
    elif mode == "floor":
        found = low
    elif mode == "ceil" or scale < 1:  # simple: up when the image gets smaller, towards 0 when it grows
        found = np.ceil(coordinate)
    else:
        found = np.trunc(coordinate)
    return found.astype(np.int64)


def cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Keys' cubic convolution kernel."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0)).astype(np.float32)

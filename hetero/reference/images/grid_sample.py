"""GridSample, and bilinear interpolation of images at arbitrary points."""

from __future__ import annotations

import itertools
import math

import numpy as np

from hetero import ops
from hetero.reference.images.interpolation import cubic
from hetero.reference.registry import Array, evaluates

# For each neighbor of the points: its index on an axis, and its weight; None for a weight of 1.
Taps = list[tuple[Array, Array | None]]


@evaluates(ops.GridSample, in_f32=True)
def grid_sample(node: ops.GridSample, data: Array, grid: Array) -> Array:
    batch, channels, *lengths = data.shape
    points = grid.reshape(batch, -1, len(lengths))
    taps = [_taps(node, points[..., -1 - axis], length) for axis, length in enumerate(lengths)]
    planes = data.reshape(batch, channels, -1)
    if node.mode != "nearest" and data.dtype.kind != "f":
        planes = planes.astype(np.float32)

    def sample(tap: tuple[tuple[Array, Array | None], ...]) -> Array:
        index = np.zeros((), np.int64)
        for (axis_index, _), length in zip(tap, lengths):
            index = index * length + axis_index
        part = np.take_along_axis(planes, index[:, None], 2) if math.prod(lengths) else np.zeros_like(index)[:, None]
        weights = [weight for _, weight in tap if weight is not None]
        return part * math.prod(weights[1:], start=weights[0]).astype(planes.dtype)[:, None] if weights else part

    parts = map(sample, itertools.product(*taps))
    result = next(parts)
    for part in parts:
        result += part
    return result.reshape(batch, channels, *grid.shape[1:-1])


def _taps(node: ops.GridSample, points: Array, length: int) -> Taps:
    """Return the taps along one axis of ``length`` for points with coordinates from -1 to 1 on that axis."""
    coordinate = (points + 1) / 2 * (length - 1) if node.align_corners else ((points + 1) * length - 1) / 2
    if node.mode == "nearest":
        return [_inside(node, np.rint(coordinate).astype(np.int64), None, length)]
    low = np.floor(coordinate)
    part, low = coordinate - low, low.astype(np.int64)
    if node.mode == "bilinear":
        return [_inside(node, low, 1 - part, length), _inside(node, low + 1, part, length)]
    return [_inside(node, low + offset, cubic(np.abs(part - offset), -0.75), length) for offset in range(-1, 3)]


def _inside(node: ops.GridSample, index: Array, weight: Array | None, length: int) -> tuple[Array, Array | None]:
    """Map indices outside of the data to indices and weights by the padding mode."""
    if node.padding_mode == "reflection":
        # Reflected at the center of the border element with align_corners, else at its edge.
        period = max(2 * (length - 1), 1) if node.align_corners else 2 * length
        index = index % period
        return np.minimum(index, period - index - (not node.align_corners)) if length > 1 else index * 0, weight
    inner = np.clip(index, 0, length - 1)
    if node.padding_mode == "border":
        return inner, weight
    is_inside = inner == index
    return inner, is_inside if weight is None else np.where(is_inside, weight, 0)


def bilinear(
    planes: Array, size: tuple[int, int], y: Array, x: Array, start: Array | int = 0, combine: np.ufunc = np.add
) -> Array:
    """Return the samples ``[…, points…]`` at points inside images of ``size``.

    ``planes``: flattened images ``[…, elements]``; ``start``: the offset of each point's image in its row;
    ``combine``: the ufunc that combines the four weighted neighbors.
    """
    height, width = size
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    low, right = y - top, x - left
    first = start + top * width
    second = start + np.minimum(top + 1, height - 1) * width
    next_column = np.minimum(left + 1, width - 1)
    result = np.take(planes, first + left, -1)
    result *= (1 - low) * (1 - right)
    for index, weight in (
        (first + next_column, (1 - low) * right),
        (second + left, low * (1 - right)),
        (second + next_column, low * right),
    ):
        part = np.take(planes, index, -1)
        part *= weight
        combine(result, part, out=result)
    return result

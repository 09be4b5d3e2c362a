"""Overlap of boxes, also rotated ones, and greedy non-maximum suppression."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hetero.reference.registry import Array

Scalar = float | np.floating
# Overlaps of boxes [n, …] with boxes [m, …]: [n, m].
Overlap = Callable[[Array, Array], Array]

# Number of candidates that are compared with each other at once.
_BLOCK = 64


def intersection_over_union(a: Array, b: Array, border: Scalar = 0.0) -> Array:
    """Return the intersection over union (IoU) of boxes ``[n, 4]`` with boxes ``[m, 4]``: ``[n, m]``.

    A box is two opposite corners, the one with the smaller coordinates first; ``border`` is 1 if the corners are
    pixels inside the box. The IoU of empty boxes is 0.
    """
    border = a.dtype.type(border)
    # One array per coordinate, as numpy is faster on long rows than on pairs.
    first, second = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    shared = _shared_length(first[0::2], second[0::2], border)
    shared *= _shared_length(first[1::2], second[1::2], border)
    area_a, area_b = _areas(first, border)[:, None], _areas(second, border)
    overlap = area_a + area_b
    overlap -= shared
    np.divide(shared, overlap, out=overlap)
    overlap[~(area_a > 0)[:, 0]] = 0
    overlap[:, ~(area_b > 0)] = 0
    return overlap


def _shared_length(a: Array, b: Array, border: Scalar) -> Array:
    """Return the length of the intersection of each interval ``a[0]`` … ``a[1]`` with each interval of ``b``."""
    length = np.minimum(a[1][:, None], b[1])
    length -= np.maximum(a[0][:, None], b[0])
    if border:
        length += border
    return np.maximum(length, 0, out=length)


def _areas(boxes: Array, border: Scalar) -> Array:
    return (boxes[2] - boxes[0] + border) * (boxes[3] - boxes[1] + border)


def pixel_overlap(a: Array, b: Array) -> Array:
    """Return the IoU of boxes whose corners are pixels inside the box; 0 if two boxes have no pixel in common."""
    apart = (a[:, None, :2] > b[:, 2:]) | (b[:, :2] > a[:, None, 2:])
    return np.where(apart.any(axis=-1), 0, intersection_over_union(a, b, 1))


def descending_order(scores: Array) -> Array:
    """Return the stable descending order of scores."""
    return np.argsort(-scores, kind="stable")


def candidates(scores: Array, passes: Array, limit: int = -1) -> Array:
    """Return the indices of the scores selected by a mask in descending order of score, at most ``limit`` if not -1."""
    indices = np.flatnonzero(passes)
    indices = indices[descending_order(scores[indices])]
    return indices if limit < 0 else indices[:limit]


def labeled(selected: Mapping[int, Array]) -> tuple[Array, Array]:
    """Return the class of each box, and its index, for the indices of the boxes selected in each class."""
    counts = np.array([len(indices) for indices in selected.values()], np.int64)
    indices = np.concatenate([np.zeros(0, np.int64), *selected.values()])
    return np.repeat(np.array(list(selected), np.int64), counts), indices


def suppress(
    boxes: Array, threshold: Scalar, limit: int, overlap: Overlap = intersection_over_union, eta: float = 1.0
) -> Array:
    """Return the indices of at most ``limit`` boxes selected by greedy NMS.

    ``boxes`` are in descending order of score. A box is selected unless it overlaps a selected one by more than the
    threshold. If ``eta`` < 1, each selected box multiplies a threshold above 0.5 by it.
    """
    if eta < 1:
        return _suppress_adaptively(boxes, threshold, eta, overlap)[:limit]
    selected = np.zeros(0, np.intp)
    for begin in range(0, len(boxes), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(boxes)))
        if selected.size:
            block = block[(overlap(boxes[selected], boxes[block]) <= threshold).all(axis=0)]
        compatible = overlap(boxes[block], boxes[block]) <= threshold
        remaining = np.ones(block.size, bool)
        for row in np.flatnonzero(~compatible.all(axis=1)):
            if remaining[row]:
                remaining[row + 1 :] &= compatible[row, row + 1 :]
        selected = np.concatenate([selected, block[remaining]])
        if selected.size >= limit:
            break
    return selected[: max(limit, 0)]


def _suppress_adaptively(boxes: Array, threshold: Scalar, eta: float, overlap: Overlap) -> Array:
    remaining, selected = np.arange(len(boxes)), []
    while remaining.size:
        best, remaining = remaining[:1], remaining[1:]
        selected.append(best[0])
        if threshold > 0.5:
            threshold = threshold * boxes.dtype.type(eta)
        remaining = remaining[overlap(boxes[best], boxes[remaining])[0] <= threshold]
    return np.array(selected, np.intp)


# The corners of the unit box around the origin, in order along its border.
_UNIT = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
# Tolerance for points on a border that rounding moves outside, as a fraction of the length of a side.
_ROUNDING = 1e-9


def rotated_intersection_over_union(a: Array, b: Array) -> Array:
    """Return the intersection over union of boxes ``[n, 5]`` with boxes ``[m, 5]``: ``[n, m]``.

    A box is x and y of its center, width, height and an angle in radians from the x axis toward the y axis.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    areas_a, areas_b = a[:, 2] * a[:, 3], b[:, 2] * b[:, 3]
    distance = np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1])
    reach = (np.hypot(a[:, 2], a[:, 3])[:, None] + np.hypot(b[:, 2], b[:, 3])) / 2
    rows, columns = np.nonzero((distance < reach) & (areas_a[:, None] > 0) & (areas_b > 0))
    overlap = np.zeros((len(a), len(b)))
    shared = _shared_areas(a[rows], b[columns])
    overlap[rows, columns] = shared / (areas_a[rows] + areas_b[columns] - shared)
    return overlap


def _shared_areas(a: Array, b: Array) -> Array:
    """Return the intersection areas of pairs of boxes.

    The intersection is the convex polygon of the corners of each box inside the other, and the crossings of sides.
    """
    origin = a[:, None, :2]  # coordinates relative to the boxes reduce rounding errors
    corners_a, corners_b = _corners(a) - origin, _corners(b) - origin
    crossings, crossed = _crossings(corners_a, corners_b)
    points = np.concatenate([corners_a, corners_b, crossings], axis=1)
    inside = np.concatenate([_contains(b, corners_a + origin), _contains(a, corners_b + origin), crossed], axis=1)
    # Points that are not part of the polygon are replaced by a copy of one that is, which adds no area.
    replacement = np.take_along_axis(points, inside.argmax(axis=1)[:, None, None], axis=1)
    points = np.where(inside[..., None], points, replacement)
    around = points - points.mean(axis=1, keepdims=True)
    order = np.argsort(np.arctan2(around[..., 1], around[..., 0]), axis=1)
    around = np.take_along_axis(around, order[..., None], axis=1)
    return np.abs(_cross(around, np.roll(around, -1, axis=1)).sum(axis=1)) / 2 * inside.any(axis=1)


def _corners(boxes: Array) -> Array:
    offsets = _UNIT * boxes[:, None, 2:4]
    cosine, sine = np.cos(boxes[:, 4:5]), np.sin(boxes[:, 4:5])
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=-1) + boxes[:, None, :2]


def _contains(boxes: Array, points: Array) -> Array:
    """Return which of the points ``[pairs, points, 2]`` lie in the box of their pair."""
    offsets = points - boxes[:, None, :2]
    cosine, sine = np.cos(boxes[:, 4:5]), np.sin(boxes[:, 4:5])
    x, y = offsets[..., 0], offsets[..., 1]
    along = np.abs(np.stack([x * cosine + y * sine, y * cosine - x * sine], axis=-1))
    return (along <= boxes[:, None, 2:4] * (0.5 + _ROUNDING)).all(axis=-1)


def _crossings(corners_a: Array, corners_b: Array) -> tuple[Array, Array]:
    """Return the crossings of the sides of one box with those of the other ``[pairs, 16, 2]``, and a validity mask."""
    start_a, start_b = corners_a[:, :, None], corners_b[:, None]
    side_a = np.roll(corners_a, -1, axis=1)[:, :, None] - start_a
    side_b = np.roll(corners_b, -1, axis=1)[:, None] - start_b
    slope = _cross(side_a, side_b)
    parallel = slope == 0
    slope = np.where(parallel, 1, slope)
    along_a = _cross(start_b - start_a, side_b) / slope
    along_b = _cross(start_b - start_a, side_a) / slope
    crossed = ~parallel & (along_a >= 0) & (along_a <= 1) & (along_b >= 0) & (along_b <= 1)
    points = start_a + along_a[..., None] * side_a
    return points.reshape(len(points), 16, 2), crossed.reshape(len(points), 16)


def _cross(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]

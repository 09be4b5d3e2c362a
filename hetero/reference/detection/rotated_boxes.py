"""Overlap of rotated boxes."""

from __future__ import annotations

import numpy as np

from hetero.reference.registry import Array

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

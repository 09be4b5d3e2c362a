"""Overlap of boxes, and greedy non-maximum suppression."""

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

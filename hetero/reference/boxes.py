"""Boxes: how much they overlap, and which of them are kept when the best suppress others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# How much boxes of one list overlap those of another: a matrix.
Overlap = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Candidates that are compared with each other at once.
_BLOCK = 64


def intersection_over_union(a: np.ndarray, b: np.ndarray, border: float = 0.0) -> np.ndarray:
    """The part that boxes ``[n, 4]`` share with boxes ``[m, 4]``, of what both cover: ``[n, m]``.

    A box is two opposite corners, the one with the smaller coordinates first; ``border`` is 1 where the corners are
    pixels that belong to the box. Boxes without an area share nothing.
    """
    border = a.dtype.type(border)
    # One array a coordinate, as numpy computes long rows faster than pairs.
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


def _shared_length(a: np.ndarray, b: np.ndarray, border: np.floating) -> np.ndarray:
    """The length that each stretch from ``a[0]`` to ``a[1]`` shares with each of ``b``."""
    length = np.minimum(a[1][:, None], b[1])
    length -= np.maximum(a[0][:, None], b[0])
    if border:
        length += border
    return np.maximum(length, 0, out=length)


def _areas(boxes: np.ndarray, border: np.floating) -> np.ndarray:
    return (boxes[2] - boxes[0] + border) * (boxes[3] - boxes[1] + border)


def pixel_overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same for boxes that their corners belong to. Pixels side by side are no overlap, a common border is one."""
    apart = (a[:, None, :2] > b[:, 2:]) | (b[:, :2] > a[:, None, 2:])
    return np.where(apart.any(axis=-1), 0, intersection_over_union(a, b, 1))


def falling(scores: np.ndarray) -> np.ndarray:
    """The order from the largest score to the smallest, of equal ones the first first."""
    return np.argsort(-scores, kind="stable")


def suppress(boxes: np.ndarray, threshold: float, most: int, overlap: Overlap = intersection_over_union) -> np.ndarray:
    """The indices of the boxes, given by falling score, that no better one overlaps by more than the threshold."""
    kept = np.zeros(0, np.intp)
    for begin in range(0, len(boxes), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(boxes)))
        if kept.size:
            block = block[(overlap(boxes[kept], boxes[block]) <= threshold).all(axis=0)]
        fits = overlap(boxes[block], boxes[block]) <= threshold
        good = np.ones(block.size, bool)
        for row in np.flatnonzero(~fits.all(axis=1)):
            if good[row]:
                good[row + 1 :] &= fits[row, row + 1 :]
        kept = np.concatenate([kept, block[good]])
        if kept.size >= most:
            break
    return kept[: max(most, 0)]


def suppress_adaptively(boxes: np.ndarray, threshold: float, eta: float, overlap: Overlap) -> np.ndarray:
    """As ``suppress`` without a limit, but with each box kept a threshold above one half is made smaller by ``eta``."""
    waiting, kept = np.arange(len(boxes)), []
    while waiting.size:
        best, waiting = waiting[:1], waiting[1:]
        kept.append(best[0])
        if threshold > 0.5:
            threshold = threshold * boxes.dtype.type(eta)
        waiting = waiting[overlap(boxes[best], boxes[waiting])[0] <= threshold]
    return np.array(kept, np.intp)

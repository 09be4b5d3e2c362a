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
    area_a, area_b = _areas(a, border)[:, None], _areas(b, border)
    sides = np.minimum(a[:, None, 2:], b[:, 2:]) - np.maximum(a[:, None, :2], b[:, :2]) + a.dtype.type(border)
    np.maximum(sides, 0, out=sides)
    shared = sides[..., 0] * sides[..., 1]
    return np.where((area_a > 0) & (area_b > 0), shared / (area_a + area_b - shared), 0)


def _areas(boxes: np.ndarray, border: float) -> np.ndarray:
    border = boxes.dtype.type(border)
    return (boxes[:, 2] - boxes[:, 0] + border) * (boxes[:, 3] - boxes[:, 1] + border)


def pixel_overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same for boxes that their corners belong to. Pixels side by side are no overlap, a common border is one."""
    apart = (a[:, None, :2] > b[:, 2:]) | (b[:, :2] > a[:, None, 2:])
    return np.where(apart.any(axis=-1), 0, intersection_over_union(a, b, 1))


def falling(scores: np.ndarray) -> np.ndarray:
    """The order from the largest score to the smallest, of equal ones the first first."""
    return np.argsort(-scores, kind="stable")


def suppress(boxes: np.ndarray, threshold: float, most: int, overlap: Overlap = intersection_over_union) -> np.ndarray:
    """The indices of the boxes, given by falling score, that no better one overlaps by more than the threshold."""
    waiting, kept = np.arange(len(boxes)), np.zeros(0, np.intp)
    while waiting.size and kept.size < most:
        block, waiting = waiting[:_BLOCK], waiting[_BLOCK:]
        fits = overlap(boxes[block], boxes[block]) <= threshold
        good = np.ones(block.size, bool)
        for row in range(block.size):
            if good[row]:
                good[row + 1 :] &= fits[row, row + 1 :]
        block = block[good]
        kept = np.concatenate([kept, block])
        if waiting.size and kept.size < most:
            waiting = waiting[(overlap(boxes[block], boxes[waiting]) <= threshold).all(axis=0)]
    return kept[:most]


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

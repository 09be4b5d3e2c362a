"""Samples between the elements of images: weighted sums of the four around each point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def bilinear(
    planes: np.ndarray,
    size: tuple[int, int],
    y: np.ndarray,
    x: np.ndarray,
    start: np.ndarray | int = 0,
    combine: Callable[..., np.ndarray] = np.add,
) -> np.ndarray:
    """The samples at points that lie within images of ``size``, to ``[…, points…]``.

    ``planes``: images in rows of memory ``[…, elements]``; ``start``: where a point's image begins in the row;
    ``combine``: what is made of the four weighted elements.
    """
    height, width = size
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    low, right = y - top, x - left
    first = start + top * width
    second = start + np.minimum(top + 1, height - 1) * width
    beside = np.minimum(left + 1, width - 1)
    result = np.take(planes, first + left, -1)
    result *= (1 - low) * (1 - right)
    for index, weight in (
        (first + beside, (1 - low) * right),
        (second + left, low * (1 - right)),
        (second + beside, low * right),
    ):
        part = np.take(planes, index, -1)
        part *= weight
        combine(result, part, out=result)
    return result

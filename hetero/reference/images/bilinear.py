"""Bilinear interpolation of images at arbitrary points."""

from __future__ import annotations

import numpy as np

from hetero.reference.registry import Array


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

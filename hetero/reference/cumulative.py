"""Cumulative sums and products in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.CumSum)
@in_single
def cum_sum(node, x, axis):
    return _accumulate(node, np.cumsum, x, axis, 0)


@evaluates(ops.CumProd)
@in_single
def cum_prod(node, x, axis):
    return _accumulate(node, np.cumprod, x, axis, 1)


def _accumulate(node, function, x: np.ndarray, axis: np.ndarray, neutral: int) -> np.ndarray:
    axis = int(axis.reshape(-1)[0])
    given = np.flip(x, axis) if node.reverse else x
    result = function(given, axis, dtype=x.dtype)
    if node.exclusive and x.shape[axis]:
        result = np.roll(result, 1, axis)
        first = [slice(None)] * x.ndim
        first[axis] = slice(0, 1)
        result[tuple(first)] = neutral
    return np.flip(result, axis) if node.reverse else result

"""Cumulative sums and products."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.CumSum, ops.CumProd, in_f32=True)
def cumulative(node: ops.CumSum, x: Array, axis: Array) -> Array:
    function = np.multiply if isinstance(node, ops.CumProd) else np.add
    if not x.ndim:
        return np.full((), function.identity, x.dtype) if node.exclusive else x
    result = np.empty(x.shape, x.dtype)
    # Both with the axis moved to the front, and in the order of accumulation.
    along = slice(None, None, -1 if node.reverse else 1)
    source, target = (np.moveaxis(array, int(axis.reshape(-1)[0]), 0)[along] for array in (x, result))
    if node.exclusive:
        target[:1] = function.identity
        source, target = source[:-1], target[1:]
    function.accumulate(source, 0, x.dtype, target)
    return result

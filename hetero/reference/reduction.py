"""Reductions in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates


def _mean(x: np.ndarray, **where) -> np.ndarray:
    if x.dtype.kind in "iu":
        return np.trunc(np.mean(x, **where))  # of integers, rounded toward zero
    return np.mean(x, **where)


_REDUCTIONS = {
    ops.ReduceMean: _mean,
    ops.ReduceSum: lambda x, **where: np.sum(x, dtype=x.dtype, **where),
    ops.ReduceProd: lambda x, **where: np.prod(x, dtype=x.dtype, **where),
    ops.ReduceMax: np.max,
    ops.ReduceMin: np.min,
    ops.ReduceL1: lambda x, **where: np.sum(np.abs(x), **where),
    ops.ReduceL2: lambda x, **where: np.sqrt(np.sum(np.square(x), **where)),
    ops.ReduceLogicalAnd: np.all,
    ops.ReduceLogicalOr: np.any,
}


@evaluates(*_REDUCTIONS)
def reduce(node, x, axes):
    return _REDUCTIONS[type(node)](x, axis=tuple(axes.reshape(-1).tolist()), keepdims=node.keep_dims)

"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.reduction.reduction import Reduction
from hetero.reference.registry import Array, evaluates


def axes_of(axes: Array, rank: int) -> tuple[int, ...]:
    """Return the non-negative axes without duplicates; none for a scalar."""
    return tuple({axis % rank for axis in axes.reshape(-1).tolist()}) if rank else ()


def _mean(x: Array, **where: Any) -> Array:
    if not x.size:
        return np.sum(x, **where)  # the mean of zero elements is 0
    if x.dtype.kind in "iu":
        return np.trunc(np.mean(x, **where))  # integer means are rounded toward zero
    return np.mean(x, **where)


def _limits(dtype: np.dtype) -> np.finfo | np.iinfo:
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)


def _max(x: Array, **where: Any) -> Array:
    return np.max(x, **where) if x.size else np.max(x, initial=_limits(x.dtype).min, **where)


def _min(x: Array, **where: Any) -> Array:
    return np.min(x, **where) if x.size else np.min(x, initial=_limits(x.dtype).max, **where)


def _length(x: Array, **where: Any) -> Array:
    if x.dtype.kind in "iu":
        x = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)  # squares overflow narrow integers
    return np.sqrt(np.sum(np.square(x), **where))


_REDUCTIONS: dict[type[Node], Callable[..., Array]] = {
    ops.ReduceMean: _mean,
    ops.ReduceSum: lambda x, **where: np.sum(x, dtype=x.dtype, **where),
    ops.ReduceProd: lambda x, **where: np.prod(x, dtype=x.dtype, **where),
    ops.ReduceMax: _max,
    ops.ReduceMin: _min,
    ops.ReduceL1: lambda x, **where: np.sum(np.abs(x), **where),
    ops.ReduceL2: _length,
    ops.ReduceLogicalAnd: np.all,
    ops.ReduceLogicalOr: np.any,
}


@evaluates(*_REDUCTIONS, in_f32=True)
def reduce(node: Reduction, x: Array, axes: Array) -> Array:
    return _REDUCTIONS[type(node)](x, axis=axes_of(axes, x.ndim), keepdims=node.keep_dims)

"""Reductions, cumulative operations, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.reduction import Reduction
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
        x = x.astype(np.float64)  # squares overflow integers
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


@evaluates(ops.TopK, ops.TopKV3, ops.TopKV1, in_f32=True)
def top_k(node: ops.TopK | ops.TopKV3 | ops.TopKV1, data: Array, k: Array) -> tuple[Array, Array]:
    count, axis = int(k.reshape(-1)[0]), node.axis % data.ndim
    if not 0 <= count <= data.shape[axis]:
        raise ValueError(f"k is {count}, but there are {data.shape[axis]} elements along the axis")
    if count == 1:
        best = np.argmax if node.mode == "max" else np.argmin
        indices = best(data, axis, keepdims=True)
        return np.take_along_axis(data, indices, axis), indices
    rows = np.moveaxis(data, axis, -1)
    indices = _best(rows, count, node.mode == "max")
    if node.sort == "index":
        indices = np.sort(indices, axis=-1)
    values = np.take_along_axis(rows, indices, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis)


def _best(rows: Array, count: int, largest: bool) -> Array:
    """Return the indices of the ``count`` best elements along the last axis, best first, on ties the first.

    NaN is above all numbers.
    """
    length = rows.shape[-1]
    rows = (
        _narrowed(rows)
        if rows.dtype.kind in "iu" or rows.dtype.itemsize <= 4
        else np.searchsorted(np.unique(rows), rows)
    )
    if rows.dtype.itemsize > 4 or length >= 2**32:
        return np.argsort(~rows if largest else rows, axis=-1, kind="stable")[..., :count]
    order = _order(rows)
    if largest:
        order = ~order
    # Keys of value and index are unique, so an unstable partition selects the right elements.
    keys = order.astype(np.uint64) << np.uint64(32)
    keys |= np.arange(length, dtype=np.uint64)
    if 0 < count < length:
        keys = np.partition(keys, count - 1, axis=-1)[..., :count]
    keys = np.sort(keys[..., :count], axis=-1)
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _narrowed(rows: Array) -> Array:
    """Convert 64-bit integers to 32-bit differences from the minimum if their range allows it."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize <= 4 or not rows.size:
        return rows
    low, high = rows.min(), rows.max()
    return (rows - low).astype(np.uint32) if int(high) - int(low) < 2**32 else rows


def _order(values: Array) -> Array:
    """Map values of at most 32 bits to u32 numbers in the same order."""
    if values.dtype.kind != "f":
        return (values.astype(np.int64) + (2**31 if values.dtype.kind == "i" else 0)).astype(np.uint32)
    bits = (values + np.float32(0)).view(np.int32)  # adding 0 turns -0 into 0
    bits = np.where(np.isnan(values), bits & np.int32(2**31 - 1), bits)
    return (bits ^ ((bits >> 31) | np.int32(-(2**31)))).view(np.uint32)


@evaluates(ops.Unique, in_f32=True)
def unique(node: ops.Unique, data: Array, axis: Array | None = None) -> tuple[Array, ...]:
    unique_axis = None if axis is None else int(axis.reshape(-1)[0]) % data.ndim
    values, first, inverse, counts = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, axis=unique_axis
    )
    inverse = inverse.reshape(-1)
    if not node.sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        values, first, counts = np.take(values, order, axis=unique_axis), first[order], counts[order]
        inverse = rank[inverse]
    return values, first, inverse, counts


@evaluates(ops.Bucketize, in_f32=True)
def bucketize(node: ops.Bucketize, data: Array, buckets: Array) -> Array:
    side: Literal["left", "right"] = "left" if node.with_right_bound else "right"
    return np.searchsorted(buckets, data, side)


@evaluates(ops.SearchSorted, in_f32=True)
def search_sorted(node: ops.SearchSorted, sequence: Array, values: Array) -> Array:
    side: Literal["left", "right"] = "right" if node.right_mode else "left"
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    positions = np.empty(values.shape, np.int64)
    for row in np.ndindex(values.shape[:-1]):
        positions[row] = np.searchsorted(sequence[row], values[row], side)
    return positions

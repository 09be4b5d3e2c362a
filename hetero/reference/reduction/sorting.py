"""TopK by partitioning keys that combine value and index; Unique, Bucketize and SearchSorted."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


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
    """Return the indices of the ``count`` best elements along the last axis, best first, on ties the first."""
    length = rows.shape[-1]
    rows = _narrowed(rows)
    if rows.dtype.itemsize > 4 or length >= 2**32:
        ascending = (~rows if rows.dtype.kind in "iu" else -rows) if largest else rows
        return np.argsort(ascending, axis=-1, kind="stable")[..., :count]
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

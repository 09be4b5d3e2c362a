"""Ordering: the best elements by one partition of keys that hold value and index, lookups by numpy's searchsorted."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.TopK, ops.TopKV3, ops.TopKV1)
@in_single
def top_k(node: Node, data: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count, axis = int(k.reshape(-1)[0]), node.axis % data.ndim
    if not 0 <= count <= data.shape[axis]:
        raise ValueError(f"k is {count}, but there are {data.shape[axis]} elements along the axis")
    if count == 1:
        best = np.argmax if node.mode == "max" else np.argmin
        places = best(data, axis, keepdims=True)
        return np.take_along_axis(data, places, axis), places
    rows = np.moveaxis(data, axis, -1)
    places = _best(rows, count, node.mode == "max")
    if node.sort == "index":
        places = np.sort(places, axis=-1)
    values = np.take_along_axis(rows, places, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis)


def _best(rows: np.ndarray, count: int, largest: bool) -> np.ndarray:
    """The indices of the ``count`` best elements along the last axis, the best first, of equal ones the first."""
    length = rows.shape[-1]
    rows = _narrowed(rows)
    if rows.dtype.itemsize > 4 or length >= 2**32:
        falling = (~rows if rows.dtype.kind in "iu" else -rows) if largest else rows
        return np.argsort(falling, axis=-1, kind="stable")[..., :count]
    order = _order(rows)
    if largest:
        order = ~order
    # Value and index in one number: no two are equal, so that a partition without order gives the right ones.
    keys = order.astype(np.uint64) << np.uint64(32)
    keys |= np.arange(length, dtype=np.uint64)
    if 0 < count < length:
        keys = np.partition(keys, count - 1, axis=-1)[..., :count]
    keys = np.sort(keys[..., :count], axis=-1)
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _narrowed(rows: np.ndarray) -> np.ndarray:
    """Integers of 64 bits as differences of 32 bits where they lie close enough together."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize <= 4 or not rows.size:
        return rows
    low, high = rows.min(), rows.max()
    return (rows - low).astype(np.uint32) if int(high) - int(low) < 2**32 else rows


def _order(values: np.ndarray) -> np.ndarray:
    """32-bit unsigned numbers in the same order as values of at most 32 bits."""
    if values.dtype.kind != "f":
        return (values.astype(np.int64) + (2**31 if values.dtype.kind == "i" else 0)).astype(np.uint32)
    bits = (values + np.float32(0)).view(np.int32)  # the sum makes one zero of both
    return (bits ^ ((bits >> 31) | np.int32(-(2**31)))).view(np.uint32)


@evaluates(ops.Unique)
@in_single
def unique(node: Node, data: np.ndarray, axis: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    place = None if axis is None else int(axis.reshape(-1)[0]) % data.ndim
    values, first, inverse, counts = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, axis=place
    )
    inverse = inverse.reshape(-1)
    if not node.sorted:
        order = np.argsort(first)
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        values, first, counts = np.take(values, order, axis=place), first[order], counts[order]
        inverse = places[inverse]
    return values, first, inverse, counts


@evaluates(ops.Bucketize)
@in_single
def bucketize(node: Node, data: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    return np.searchsorted(buckets, data, "left" if node.with_right_bound else "right")


@evaluates(ops.SearchSorted)
@in_single
def search_sorted(node: Node, sequence: np.ndarray, values: np.ndarray) -> np.ndarray:
    side = "right" if node.right_mode else "left"
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    found = np.empty(values.shape, np.int64)
    for row in np.ndindex(values.shape[:-1]):
        found[row] = np.searchsorted(sequence[row], values[row], side)
    return found

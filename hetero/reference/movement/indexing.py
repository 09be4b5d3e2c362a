"""Gather and scatter operations, NonZero and GatherTree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Gather, ops.GatherV7, ops.GatherV1)
def gather(node: ops.Gather | ops.GatherV7 | ops.GatherV1, data: Array, indices: Array, axis: Array) -> Array:
    """Evaluate Gather; indices out of range give zeros."""
    gather_axis = int(axis.reshape(-1)[0]) % data.ndim
    batch = node.batch_dims % indices.ndim if node.batch_dims < 0 else node.batch_dims
    length = data.shape[gather_axis]
    outside = None
    if indices.size and (indices.min() < -length or indices.max() >= length):
        outside = (indices < -length) | (indices >= length)
        indices = np.where(outside, 0, indices)
        if length == 0:
            data = np.zeros((*data.shape[:gather_axis], 1, *data.shape[gather_axis + 1 :]), data.dtype)
    indices = np.where(indices < 0, indices + length, indices) if indices.size and indices.min() < 0 else indices
    if batch:
        # Open grids over the batch dimensions, so that each batch reads its own data.
        open_grids = np.ogrid[tuple(slice(length) for length in indices.shape[:batch])]
        grids = [grid.reshape(*grid.shape, *(1,) * (indices.ndim - batch)) for grid in open_grids]
        moved = np.moveaxis(data, gather_axis, batch)
        result = moved[(*grids, indices)]  # [batch…, indices…, rest of the data…]
        between = gather_axis - batch
        index_axes = tuple(range(batch, indices.ndim))
        before = tuple(range(indices.ndim, indices.ndim + between))
        after = tuple(range(indices.ndim + between, result.ndim))
        result = result.transpose(*range(batch), *before, *index_axes, *after)
    else:
        result = np.take(data, indices, axis=gather_axis)
    if outside is not None:
        shape = (*outside.shape[:batch], *(1,) * (gather_axis - batch), *outside.shape[batch:])
        result = np.where(outside.reshape(*shape, *(1,) * (result.ndim - len(shape))), np.zeros((), data.dtype), result)
    return result


@evaluates(ops.GatherElements)
def gather_elements(node: ops.GatherElements, data: Array, indices: Array) -> Array:
    return np.take(data.reshape(-1), flat_element_indices(data.shape, indices, node.axis % data.ndim))


@evaluates(ops.GatherND, ops.GatherNDV5)
def gather_nd(node: ops.GatherND | ops.GatherNDV5, data: Array, indices: Array) -> Array:
    batch, depth = node.batch_dims, indices.shape[-1]
    rows = flat_row_indices(data.shape[: batch + depth], indices, batch)
    rest = data.shape[batch + depth :]
    count = math.prod(data.shape[: batch + depth])
    gathered = data.reshape(count, *rest)[rows.reshape(-1)]
    batch_shape = PartialShape(node.batch_shape(list(PartialShape(indices.shape[:batch])))).to_shape()
    return gathered.reshape((*batch_shape, *indices.shape[batch:-1], *rest))


def flat_row_indices(shape: tuple[int, ...], indices: Array, batch: int = 0) -> Array:
    """Return the flat indices into ``shape`` of the index vectors along the last axis of ``indices``.

    ``shape`` consists of ``batch`` dimensions, common with the indices, and the dimensions that the vectors index;
    negative indices count from the end. Raises IndexError if an index is out of range.
    """
    numbers = np.zeros(indices.shape[:-1], np.int64)
    for axis in range(batch):
        along = np.arange(shape[axis]).reshape(-1, *[1] * (numbers.ndim - axis - 1))
        numbers = numbers * shape[axis] + along
    for component, length in enumerate(shape[batch:]):
        numbers = numbers * length + checked_indices(indices[..., component], length)
    return numbers


def flat_element_indices(shape: tuple[int, ...], indices: Array, axis: int) -> Array:
    """Return the flat indices into ``shape`` of the elements selected by indices along an axis.

    Raises IndexError if an index is out of range.
    """
    numbers = np.zeros(1, np.int64)
    for dimension, length in enumerate(shape):
        if dimension == axis:
            along = checked_indices(indices, length)
        else:
            along = np.arange(indices.shape[dimension]).reshape(-1, *[1] * (indices.ndim - dimension - 1))
        numbers = numbers * length + along
    return numbers


def checked_indices(indices: Array, length: int) -> Array:
    """Return the non-negative int64 indices of an axis. Raises IndexError if one is out of range."""
    indices = indices.astype(np.int64, copy=False)
    if not indices.size:
        return indices
    low, high = indices.min(), indices.max()
    if low < -length or high >= length:
        raise IndexError(f"index {high if high >= length else low} is out of range for an axis of length {length}")
    return np.where(indices < 0, indices + length, indices) if low < 0 else indices


@evaluates(ops.GatherTree)
def gather_tree(
    node: ops.GatherTree, step_ids: Array, parent_idx: Array, max_seq_len: Array, end_token: Array
) -> Array:
    steps, _, beams = step_ids.shape
    result = np.full(step_ids.shape, end_token, step_ids.dtype)
    lengths = np.minimum(max_seq_len.astype(np.int64), steps)[:, None]
    beam = np.broadcast_to(np.arange(beams), step_ids.shape[1:])
    for step in range(steps - 1, -1, -1):
        within = step < lengths
        result[step] = np.where(within, np.take_along_axis(step_ids[step], beam, 1), end_token)
        beam = np.where(within, np.take_along_axis(parent_idx[step], beam, 1).astype(np.int64), beam)
    ended = np.logical_or.accumulate(result == end_token, axis=0)
    return np.where(ended, end_token, result)


@evaluates(ops.NonZero)
def non_zero(node: ops.NonZero, x: Array) -> Array:
    # A scalar counts as a vector of one element.
    return np.stack(np.nonzero(x.reshape(-1) if x.ndim == 0 else x))[: max(x.ndim, 1)]


_REDUCTIONS = {"sum": np.add, "sub": np.subtract, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
               "mean": np.add}  # fmt: skip


@evaluates(ops.ScatterUpdate)
def scatter_update(node: ops.ScatterUpdate, data: Array, indices: Array, updates: Array, axis: Array) -> Array:
    scatter_axis = int(axis.reshape(-1)[0]) % data.ndim
    result = _copy(data, updates)
    shape = *data.shape[:scatter_axis], indices.size, *data.shape[scatter_axis + 1 :]
    elements: tuple[Any, ...] = (*[slice(None)] * scatter_axis, indices.reshape(-1))
    result[elements] = updates.reshape(shape)
    return result


def _copy(data: Array, updates: Array) -> Array:
    """Return a contiguous copy of the data for writing updates into; its flattened form is a view.

    Strings get an item size that fits the longest string of data and updates.
    """
    return data.astype(np.result_type(data, updates), order="C")


@evaluates(ops.SliceScatter)
def slice_scatter(node: ops.SliceScatter, data: Array, updates: Array, *bounds: Array) -> Array:
    result = _copy(data, updates)
    result[node.index(data.shape, bounds)] = updates
    return result


@evaluates(ops.ScatterNDUpdate, ops.ScatterNDUpdateV4, in_f32=True)
def scatter_nd_update(
    node: ops.ScatterNDUpdate | ops.ScatterNDUpdateV4, data: Array, indices: Array, updates: Array
) -> Array:
    depth = indices.shape[-1]
    rows, width = flat_row_indices(data.shape[:depth], indices).reshape(-1), math.prod(data.shape[depth:])
    result = _copy(data, updates)
    if not updates.size:
        return result
    if node.reduction == "none":
        result.reshape(-1, width)[rows] = updates.reshape(-1, width)
        return result
    elements = (rows[:, None] * width + np.arange(width)).reshape(-1)
    _combine(node.reduction, result.reshape(-1), elements, updates.reshape(-1))
    return result


@evaluates(ops.ScatterElementsUpdate, ops.ScatterElementsUpdateV3, in_f32=True)
def scatter_elements_update(
    node: ops.ScatterElementsUpdate | ops.ScatterElementsUpdateV3,
    data: Array,
    indices: Array,
    updates: Array,
    axis: Array,
) -> Array:
    result = _copy(data, updates)
    if not indices.size:
        return result
    elements = flat_element_indices(data.shape, indices, int(axis.reshape(-1)[0]) % data.ndim).reshape(-1)
    flat, updates = result.reshape(-1), updates.reshape(-1)
    if node.reduction == "none":
        flat[elements] = updates
        return result
    if not node.use_init_val:
        flat[elements] = _neutral(node.reduction, data.dtype)
    _combine(node.reduction, flat, elements, updates)
    if node.reduction == "mean":
        counts = np.bincount(elements, minlength=flat.size)
        counts += int(node.use_init_val) * (counts > 0)
        written = np.flatnonzero(counts)
        totals, counts = flat[written], counts[written].astype(data.dtype)
        if data.dtype.kind in "iu":  # rounded toward 0
            flat[written] = (totals - np.fmod(totals, counts)) // counts
        else:
            flat[written] = totals / counts
    return result


def _combine(reduction: str, flat: Array, elements: Array, updates: Array) -> None:
    """Combine each update with its element in place."""
    _REDUCTIONS[reduction].at(flat, elements, updates)


def _neutral(reduction: str, dtype: np.dtype) -> bool | int | float:
    """Return the neutral element of a reduction."""
    if reduction in ("sum", "mean"):
        return 0
    if reduction == "prod":
        return 1
    if dtype.kind == "b":
        return reduction == "min"
    if dtype.kind == "f":
        return math.inf if reduction == "min" else -math.inf
    return np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min

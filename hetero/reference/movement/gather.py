"""Gather operations, NonZero and GatherTree."""

from __future__ import annotations

import math

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

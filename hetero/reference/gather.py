"""Elements and slices picked by indices, by numpy's take."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import evaluates
from hetero.shape import PartialShape


@evaluates(ops.Gather, ops.GatherV7, ops.GatherV1)
def gather(node: Node, data: np.ndarray, indices: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Zeros where an index lies outside."""
    place = int(axis.reshape(-1)[0]) % data.ndim
    batch = node.batch_dims % indices.ndim if node.batch_dims < 0 else node.batch_dims
    length = data.shape[place]
    outside = None
    if indices.size and (indices.min() < -length or indices.max() >= length):
        outside = (indices < -length) | (indices >= length)
        indices = np.where(outside, 0, indices)
        if length == 0:
            data = np.zeros((*data.shape[:place], 1, *data.shape[place + 1 :]), data.dtype)
    indices = np.where(indices < 0, indices + length, indices) if indices.size and indices.min() < 0 else indices
    if batch:
        # Batch dimensions as open grids, so that each batch takes from its own data.
        grids = np.ogrid[tuple(slice(length) for length in indices.shape[:batch])]
        moved = np.moveaxis(data, place, batch)
        grids = [grid.reshape(*grid.shape, *(1,) * (indices.ndim - batch)) for grid in grids]
        result = moved[(*grids, indices)]  # [batch…, indices…, rest of the data…]
        between = place - batch
        picked = tuple(range(batch, indices.ndim))
        rest = tuple(range(indices.ndim, indices.ndim + between))
        tail = tuple(range(indices.ndim + between, result.ndim))
        result = result.transpose(*range(batch), *rest, *picked, *tail)
    else:
        result = np.take(data, indices, axis=place)
    if outside is not None:
        shape = (*outside.shape[:batch], *(1,) * (place - batch), *outside.shape[batch:])
        result = np.where(outside.reshape(*shape, *(1,) * (result.ndim - len(shape))), np.zeros((), data.dtype), result)
    return result


@evaluates(ops.GatherElements)
def gather_elements(node: Node, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.take(data.reshape(-1), element_numbers(data.shape, indices, node.axis % data.ndim))


@evaluates(ops.GatherND, ops.GatherNDV5)
def gather_nd(node: Node, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    batch, depth = node.batch_dims, indices.shape[-1]
    rows = row_numbers(data.shape[: batch + depth], indices, batch)
    rest = data.shape[batch + depth :]
    count = math.prod(data.shape[: batch + depth])
    picked = data.reshape(count, *rest)[rows.reshape(-1)]
    shared = PartialShape(node.batch_shape(list(PartialShape(indices.shape[:batch])))).to_shape()
    return picked.reshape((*shared, *indices.shape[batch:-1], *rest))


def row_numbers(shape: tuple[int, ...], indices: np.ndarray, batch: int = 0) -> np.ndarray:
    """The numbers, counted over the flattened shape, of what the vectors along the last axis of indices name.

    The shape is that of batch dimensions, which run together with those of the indices, and of dimensions that the
    vectors index, where negative numbers count from the end. Raises IndexError where one lies outside.
    """
    numbers = np.zeros(indices.shape[:-1], np.int64)
    for axis in range(batch):
        along = np.arange(shape[axis]).reshape(-1, *[1] * (numbers.ndim - axis - 1))
        numbers = numbers * shape[axis] + along
    for place, length in enumerate(shape[batch:]):
        numbers = numbers * length + checked_indices(indices[..., place], length)
    return numbers


def element_numbers(shape: tuple[int, ...], indices: np.ndarray, axis: int) -> np.ndarray:
    """The numbers, counted over the flattened data, of the elements that indices along an axis name.

    Raises IndexError where one lies outside.
    """
    numbers = np.zeros(1, np.int64)
    for place, length in enumerate(shape):
        if place == axis:
            along = checked_indices(indices, length)
        else:
            along = np.arange(indices.shape[place]).reshape(-1, *[1] * (indices.ndim - place - 1))
        numbers = numbers * length + along
    return numbers


def checked_indices(indices: np.ndarray, length: int) -> np.ndarray:
    """Indices of an axis counted from the front, as int64. Raises IndexError where one lies outside."""
    indices = indices.astype(np.int64, copy=False)
    if not indices.size:
        return indices
    low, high = indices.min(), indices.max()
    if low < -length or high >= length:
        raise IndexError(f"index {high if high >= length else low} is outside of an axis of length {length}")
    return np.where(indices < 0, indices + length, indices) if low < 0 else indices


@evaluates(ops.GatherTree)
def gather_tree(
    node: Node, step_ids: np.ndarray, parent_idx: np.ndarray, max_seq_len: np.ndarray, end_token: np.ndarray
) -> np.ndarray:
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
def non_zero(node, x):
    # A scalar counts as a vector of one element.
    return np.stack(np.nonzero(x.reshape(-1) if x.ndim == 0 else x))[: max(x.ndim, 1)]

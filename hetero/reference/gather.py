"""Gather: numpy's take, and zeros where an index lies outside."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import evaluates


@evaluates(ops.Gather)
def gather(node: Node, data: np.ndarray, indices: np.ndarray, axis: np.ndarray) -> np.ndarray:
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
        result = np.where(outside.reshape(*shape, *(1,) * (result.ndim - len(shape))), data.dtype.type(0), result)
    return result

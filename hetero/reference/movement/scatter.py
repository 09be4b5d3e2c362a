"""Scatter operations. Reductions use numpy's ``ufunc.at``, which is fastest on flat arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.reference.movement.gather import flat_element_indices, flat_row_indices
from hetero.reference.registry import Array, evaluates

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

"""Bags and segments of rows, combined by ``ufunc.reduceat`` over the rows sorted by bag."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import lowest
from hetero.reference.movement.indexing import checked_indices
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import check_allocation

_Bags = ops.EmbeddingBagOffsets | ops.EmbeddingBagOffsetsSum | ops.EmbeddingSegmentsSum


@evaluates(ops.EmbeddingBagOffsets, ops.EmbeddingBagOffsetsSum, in_f32=True)
def embedding_bag_offsets(
    node: ops.EmbeddingBagOffsets | ops.EmbeddingBagOffsetsSum,
    table: Array,
    indices: Array,
    offsets: Array,
    *rest: Array,
) -> Array:
    starts = offsets.astype(np.int64)
    ends = np.append(starts[1:], indices.size)
    if (starts > ends).any() or (starts < 0).any():
        raise ValueError(f"offsets must be sorted and from 0 to {indices.size}")
    # Indices before the first offset belong to no bag.
    first = starts[0] if starts.size else 0
    return _bags(node, table, indices[first:], starts - first, ends - starts, *rest[:1], *(w[first:] for w in rest[1:]))


@evaluates(ops.EmbeddingBagPacked, ops.EmbeddingBagPackedSum, in_f32=True)
def embedding_bag_packed(
    node: ops.EmbeddingBagPacked | ops.EmbeddingBagPackedSum, table: Array, indices: Array, weights: Array | None = None
) -> Array:
    combine = np.mean if node.reduction == "mean" else np.sum
    return combine(_rows(table, indices, weights), axis=1)


@evaluates(ops.EmbeddingSegmentsSum, in_f32=True)
def embedding_segments_sum(
    node: ops.EmbeddingSegmentsSum, table: Array, indices: Array, segment_ids: Array, count: Array, *rest: Array
) -> Array:
    ids = segment_ids.astype(np.int64)
    order = np.argsort(ids, kind="stable") if (ids[1:] < ids[:-1]).any() else slice(None)
    starts, counts = _segments(ids[order], int(count.reshape(-1)[0]))
    return _bags(node, table, indices[order], starts, counts, *rest[:1], *(w[order] for w in rest[1:]))


def _rows(table: Array, indices: Array, weights: Array | None) -> Array:
    rows = table[checked_indices(indices, table.shape[0])]
    return rows if weights is None else rows * weights.reshape(*weights.shape, *[1] * (table.ndim - 1))


def _segments(ids: Array, count: int) -> tuple[Array, Array]:
    """Return the first row and the number of rows of each segment, for sorted ids."""
    bounds = np.searchsorted(ids, np.arange(count + 1))
    return bounds[:-1], np.diff(bounds)


def _bags(
    node: _Bags, table: Array, indices: Array, starts: Array, counts: Array,
    default_index: Array | None = None, weights: Array | None = None,
) -> Array:  # fmt: skip
    default = -1 if default_index is None else int(default_index.reshape(-1)[0])
    fill = np.zeros((), table.dtype) if default == -1 else table[default]
    result = _reduced(np.add, _rows(table, indices, weights), starts, counts, fill)
    if node.reduction == "mean":
        result = result / np.maximum(counts, 1).reshape(-1, *[1] * (table.ndim - 1)).astype(table.dtype)
    return result


def _reduced(combine: np.ufunc, rows: Array, starts: Array, counts: Array, fill: Array) -> Array:
    """Return the combined rows of each segment, ``fill`` for empty segments."""
    result = np.empty((starts.size, *rows.shape[1:]), rows.dtype)
    result[...] = fill
    nonempty = counts > 0
    if nonempty.any():
        end = int(starts[nonempty][-1] + counts[nonempty][-1])
        result[nonempty] = combine.reduceat(rows[:end], starts[nonempty], axis=0)
    return result


@evaluates(ops.SegmentMax, in_f32=True)
def segment_max(node: ops.SegmentMax, data: Array, segment_ids: Array, num_segments: Array | None = None) -> Array:
    ids = segment_ids.astype(np.int64)
    if (ids[1:] < ids[:-1]).any():
        raise ValueError("segment_ids must be sorted")
    count = int(num_segments.reshape(-1)[0]) if num_segments is not None else int(ids[-1]) + 1 if ids.size else 0
    check_allocation(8 * count + count * data[:1].nbytes, f"the table of {count} segments")
    starts, counts = _segments(ids, count)
    fill = 0 if node.fill_mode == "zero" else lowest(node.get_output_element_type(0).to_dtype())
    return _reduced(np.maximum, data, starts, counts, np.array(fill, data.dtype))


@evaluates(ops.SparseFillEmptyRows)
def sparse_fill_empty_rows(
    node: ops.SparseFillEmptyRows, values: Array, dense_shape: Array, indices: Array, default_value: Array
) -> tuple[Array, Array, Array]:
    rows = int(dense_shape.reshape(-1)[0])
    if indices.size and not 0 <= indices[:, 0].min() <= indices[:, 0].max() < rows:
        raise IndexError(f"the rows {indices[:, 0]} must be from 0 to {rows - 1}")
    empty = np.bincount(indices[:, 0], minlength=rows) == 0
    added = np.zeros((int(empty.sum()), 2), indices.dtype)
    added[:, 0] = np.flatnonzero(empty)
    all_indices = np.concatenate([indices, added])
    order = np.argsort(all_indices[:, 0], kind="stable")
    all_values = np.concatenate([values, np.full(len(added), default_value.reshape(-1)[0], values.dtype)])
    return all_indices[order], all_values[order], empty

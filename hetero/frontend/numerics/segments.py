"""Reductions of the rows that belong to one segment, and scattering of rows to a new tensor."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.values import axis_length, convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Op, Output, constant_array


def scatter_rows(indices: Output, rows: Output, shape: Output) -> Op:
    """Return zeros of a shape, with the rows added at their indices ``[…, k]``."""
    return ops.ScatterNDUpdate(ops.Broadcast(scalar_like(rows, 0), shape), indices, rows, "sum")


def sparse_to_dense(indices: Output, shape: Output, values: Output, default: Output) -> Op:
    """Return a tensor of a shape with values at their indices ``[count, rank]``, the default elsewhere.

    Indices may be a vector, or a scalar, if the result is a vector. A scalar value is written to all.
    """
    if rank_of(indices) < 2:
        indices = reshape(indices, (-1, 1))
    if not rank_of(values):
        values = ops.Broadcast(values, reshape(axis_length(indices, 0), (1,))).output(0)
    return ops.ScatterNDUpdate(ops.Broadcast(reshape(default, ()), shape), indices, values, "none")


def count_of_sorted(segments: Output) -> Output:
    """Return the number of segments ``[1]`` of i64 segments that are sorted: the last one plus 1."""
    return ops.Add(ops.Gather(segments, int64([-1]), int64(0)), int64(1)).output(0)


def reduce_segments(data: Output, segments: Output, count: Output, reduction: str) -> Output:
    """Reduce the rows of each segment by sum, prod, max or min; a segment without rows has the neutral element.

    ``segments``: the i64 segment of each row; ``count``: the number of segments, i64 ``[1]``.
    """
    row_shape = ops.Gather(ops.ShapeOf(data), int64(range(1, rank_of(data))), int64(0))
    neutral = scalar_like(data, _neutral_element(reduction, data.element_type))
    initial = ops.Broadcast(neutral, ops.Concat([count, row_shape], 0))
    return ops.ScatterNDUpdate(initial, ops.Unsqueeze(segments, int64([-1])), data, reduction).output(0)


def reduce_unsorted_segments(data: Output, segments: Output, count: Output, reduction: str) -> Output:
    """Reduce the rows of segments as ``reduce_segments``, and drop those of negative segments.

    ``segments``: the segment of each row; ``count``: the number of segments, with one element.
    """
    segments, count = convert_to(segments, Type.i64), reshape(convert_to(count, Type.i64), (1,))
    known = constant_array(segments)
    if known is not None and (known >= 0).all():
        return reduce_segments(data, segments, count, reduction)
    # Rows of negative segments go to an additional segment, which is then sliced off.
    segments = ops.Select(ops.Less(segments, int64(0)), count, segments).output(0)
    reduced = reduce_segments(data, segments, ops.Add(count, int64(1)).output(0), reduction)
    return ops.Slice(reduced, int64([0]), count, int64([1]), int64([0])).output(0)


def rows_of_segments(data: Output, segments: Output, count: Output) -> Output:
    """Return the number of rows of each segment in the data's type, in a shape that broadcasts to the reduced rows."""
    ones = ops.Broadcast(scalar_like(data, 1), ops.ShapeOf(segments)).output(0)
    return reshape(reduce_segments(ones, segments, count, "sum"), (-1, *[1] * (rank_of(data) - 1)))


def mean_of_segments(data: Output, segments: Output, count: Output) -> Output:
    """Return the mean of the rows of each segment, 0 for a segment without rows."""
    rows = ops.Maximum(rows_of_segments(data, segments, count), scalar_like(data, 1))
    return ops.Divide(reduce_segments(data, segments, count, "sum"), rows).output(0)


def _neutral_element(reduction: str, kind: Type) -> float | np.floating:
    if reduction in ("sum", "prod"):
        return 0 if reduction == "sum" else 1
    limits = np.finfo(kind.to_dtype()) if kind.is_real() else np.iinfo(kind.to_dtype())
    return limits.min if reduction == "max" else limits.max

"""Index vectors of StableHLO GATHER and SCATTER, converted to flat indices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.translation.values import int64, normalize_axis, rank_of
from hetero.graph import Output, as_output
from hetero.system.errors import FrontendError


def index_columns(indices: Output, vector_axis: int, count: int) -> list[Output]:
    """Split index vectors into their ``count`` elements, each i64 of the shape of the batch of vectors.

    ``vector_axis``: the axis of the vectors in ``indices``; the rank of ``indices`` if the vectors are scalars.
    """
    rank = rank_of(indices)
    if not count:
        raise FrontendError("its index vectors must have at least one element")
    indices = convert_to(indices, Type.i64)
    if vector_axis == rank:
        columns = 1
        elements = [indices]
    else:
        axis = normalize_axis(vector_axis, rank)
        length = indices.partial_shape[axis]
        columns = length.get_length() if length.is_static else count
        elements = [ops.Gather(indices, int64(index), int64(axis)).output(0) for index in range(min(columns, count))]
    if columns != count:
        raise FrontendError(f"its index vectors have {columns} elements for {count} axes")
    return elements


def window_indices(starts: Sequence[Output | None], windows: Sequence[int], rank: int) -> list[Output]:
    """Return the indices that windows cover on each axis.

    ``starts``: the window starts on each axis, of this ``rank``; None for 0. ``windows``: the window sizes. The results
    broadcast to ``[dimensions of the starts…, window sizes other than 1…]``.
    """
    wide = [axis for axis, size in enumerate(windows) if size != 1]
    indices = []
    for axis, (start, size) in enumerate(zip(starts, windows)):
        if start is None:
            index = int64(0).output(0)
        else:
            index = ops.Unsqueeze(start, int64(range(rank, rank + len(wide)))).output(0) if wide else start
        if size != 1:
            offsets = ops.Range(int64(0), int64(size), int64(1), Type.i64)
            ones = [1] * (len(wide) - wide.index(axis) - 1)
            index = ops.Add(index, ops.Reshape(offsets, int64([-1, *ones]), False)).output(0)
        indices.append(index)
    return indices


def flat_indices(indices: Sequence[Output], lengths: Sequence[int]) -> Output:
    """Convert indices on axes of these lengths to indices on the flattened axis."""
    strides = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    rows = [index if stride == 1 else ops.Multiply(index, int64(stride)) for index, stride in zip(indices, strides)]
    total = as_output(rows[0])
    for row in rows[1:]:
        total = ops.Add(total, row).output(0)
    return total

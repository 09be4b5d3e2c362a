"""What GATHER and SCATTER share: vectors of indices as the numbers of rows of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted
from hetero.frontend.values import int64, normalize_axis, rank_of, transpose
from hetero.graph import Output
from hetero.types import Type


def index_columns(indices: Output, vector_axis: int, count: int) -> list[Output]:
    """The elements of index vectors, which lie along an axis or are scalars: each i64 of the shape of all vectors."""
    rank = rank_of(indices)
    if not count:
        raise FrontendError("its index vectors are of no axes")
    indices = converted(indices, Type.i64)
    if vector_axis == rank:
        columns = 1
        made = [indices]
    else:
        axis = normalize_axis(vector_axis, rank)
        length = indices.partial_shape[axis]
        columns = length.get_length() if length.is_static else count
        made = [ops.Gather(indices, int64(place), int64(axis)).output(0) for place in range(min(columns, count))]
    if columns != count:
        raise FrontendError(f"its index vectors have {columns} elements for {count} axes")
    return made


def window_places(starts: Sequence[Output | None], windows: Sequence[int], rank: int) -> list[Output]:
    """For each axis the places within windows that begin at starts, or at 0, of a shape that broadcasts to that of all
    windows: ``[rank dimensions of the starts…, each window that is not of 1…]``."""
    wide = [axis for axis, size in enumerate(windows) if size != 1]
    made = []
    for axis, (start, size) in enumerate(zip(starts, windows)):
        if start is None:
            place = int64(0).output(0)
        else:
            place = ops.Unsqueeze(start, int64(range(rank, rank + len(wide)))).output(0) if wide else start
        if size != 1:
            within = ops.Range(int64(0), int64(size), int64(1), Type.i64)
            behind = [1] * (len(wide) - wide.index(axis) - 1)
            place = ops.Add(place, ops.Reshape(within, int64([-1, *behind]), False)).output(0)
        made.append(place)
    return made


def row_numbers(places: Sequence[Output], lengths: Sequence[int]) -> Output:
    """The numbers of rows of what places on each of some axes name, counted over all these axes."""
    strides = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    rows = [place if stride == 1 else ops.Multiply(place, int64(stride)) for place, stride in zip(places, strides)]
    total = rows[0]
    for row in rows[1:]:
        total = ops.Add(total, row)
    return total if isinstance(total, Output) else total.output(0)


def in_order(value: Output, order: Sequence[int]) -> Output:
    return value if list(order) == sorted(order) else transpose(value, order)

"""Scattering of rows and reduction of segments."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.gathering import merge_first_axes
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, reshape, scalar_like
from hetero.graph import Output


@translator("ScatterNd")
def scatter_nd(node: TensorflowNodeContext) -> Translation:
    """Rows with equal indices are summed."""
    indices, rows, shape = node.get_inputs()
    return ops.ScatterNDUpdate(ops.Broadcast(scalar_like(rows, 0), shape), indices, rows, "sum")


@translator("ScatterNdNonAliasingAdd")
def scatter_nd_add(node: TensorflowNodeContext) -> Translation:
    return ops.ScatterNDUpdate(*node.get_inputs(), "sum")


_UPDATES = {
    "TensorScatterUpdate": "none", "TensorScatterAdd": "sum", "TensorScatterSub": "sub", "TensorScatterMax": "max",
    "TensorScatterMin": "min",
}  # fmt: skip


@translator(*_UPDATES)
def tensor_scatter(node: TensorflowNodeContext) -> Translation:
    return ops.ScatterNDUpdate(*node.get_inputs(), _UPDATES[node.get_op_type()])


_SEGMENTS = {
    "SegmentSum": "sum", "SegmentMean": "mean", "SegmentProd": "prod", "SegmentMax": "max", "SegmentMin": "min",
}  # fmt: skip


@translator(*_SEGMENTS)
def sorted_segments(node: TensorflowNodeContext) -> Translation:
    """Segment indices are sorted, so the last one gives their count. A segment without rows is 0, in SegmentProd 1."""
    data, segments = node.get_inputs()
    segments, reduction = convert_to(segments, Type.i64), _SEGMENTS[node.get_op_type()]
    count = ops.Add(ops.Gather(segments, int64([-1]), int64(0)), int64(1)).output(0)
    if reduction in ("max", "min"):
        reduced = reduce_segments(data, segments, count, reduction)
        is_empty = ops.Equal(rows_of_segments(data, segments, count), scalar_like(data, 0))
        return ops.Select(is_empty, scalar_like(data, 0), reduced)
    return (
        mean_of_segments(data, segments, count)
        if reduction == "mean"
        else reduce_segments(data, segments, count, reduction)
    )


_UNSORTED = {
    "UnsortedSegmentSum": "sum", "UnsortedSegmentProd": "prod", "UnsortedSegmentMax": "max",
    "UnsortedSegmentMin": "min",
}  # fmt: skip


@translator(*_UNSORTED)
def unsorted_segments(node: TensorflowNodeContext) -> Translation:
    """A segment without rows has the neutral element of the reduction. Rows of negative segments are dropped."""
    data, segments, count = node.get_inputs()
    data, segments = merge_first_axes(data, rank_of(segments)), reshape(convert_to(segments, Type.i64), (-1,))
    count = reshape(convert_to(count, Type.i64), (1,))
    # Rows of negative segments go to an additional segment, which is then sliced off.
    segments = ops.Select(ops.Less(segments, int64(0)), count, segments).output(0)
    more = ops.Add(count, int64(1)).output(0)
    reduced = reduce_segments(data, segments, more, _UNSORTED[node.get_op_type()])
    return ops.Slice(reduced, int64([0]), count, int64([1]), int64([0]))


def reduce_segments(data: Output, segments: Output, count: Output, reduction: str) -> Output:
    """Reduce the rows of each segment. ``segments``: the i64 segment of each row; ``count``: of segments, ``[1]``."""
    row_shape = ops.Gather(ops.ShapeOf(data), int64(range(1, rank_of(data))), int64(0))
    neutral = scalar_like(data, _neutral_element(reduction, data.element_type))
    initial = ops.Broadcast(neutral, ops.Concat([count, row_shape], 0))
    return ops.ScatterNDUpdate(initial, ops.Unsqueeze(segments, int64([-1])), data, reduction).output(0)


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

"""Scattering of rows and reduction of segments."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.numerics.segments import (
    count_of_sorted,
    mean_of_segments,
    reduce_segments,
    reduce_unsorted_segments,
    rows_of_segments,
    scatter_rows,
)
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.gathering import merge_first_axes
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import rank_of, reshape, scalar_like


@translator("ScatterNd")
def scatter_nd(node: TensorflowNodeContext) -> Translation:
    """Rows with equal indices are summed."""
    indices, rows, shape = node.get_inputs()
    return scatter_rows(indices, rows, shape)


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
    count = count_of_sorted(segments)
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
    data, segments = merge_first_axes(data, rank_of(segments)), reshape(segments, (-1,))
    return reduce_unsorted_segments(data, segments, count, _UNSORTED[node.get_op_type()])

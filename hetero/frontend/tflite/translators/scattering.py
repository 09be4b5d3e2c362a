"""Scatter, segment reductions and slice updates."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Node, Output, constant_array
from hetero.ops.values import exact_value


@translator("SCATTER_ND")
def scatter_nd(node: TfliteNodeContext) -> Translation:
    """Rows with equal indices are summed."""
    indices, rows, shape = (node.get_input(index) for index in range(3))
    return ops.ScatterNDUpdate(ops.Broadcast(scalar_like(rows, 0), shape), indices, rows, "sum")


@translator("SPARSE_TO_DENSE")
def sparse_to_dense(node: TfliteNodeContext) -> Translation:
    """Indices are the rows of a matrix, or a vector if the result is a vector. A scalar value is written to all."""
    indices, shape, values, default = (node.get_input(index) for index in range(4))
    if rank_of(indices) < 2:
        indices = reshape(indices, (-1, 1))
    if not rank_of(values):
        values = ops.Broadcast(values, reshape(axis_length(indices, 0), (1,))).output(0)
    return ops.ScatterNDUpdate(ops.Broadcast(reshape(default, ()), shape), indices, values, "none")


@translator("SEGMENT_SUM")
def segment_sum(node: TfliteNodeContext) -> Translation:
    """Segment indices are sorted, so the last one gives their count."""
    data, segments = node.get_input(0), node.get_input(1)
    count = ops.Add(ops.Gather(segments, int64([-1]), int64(0)), scalar_like(segments, 1)).output(0)
    return _reduce_segments(data, segments, count, 0, "sum")


_UNSORTED = {
    "UNSORTED_SEGMENT_SUM": "sum",
    "UNSORTED_SEGMENT_PROD": "prod",
    "UNSORTED_SEGMENT_MAX": "max",
    "UNSORTED_SEGMENT_MIN": "min",
}


@translator(*_UNSORTED)
def unsorted_segment(node: TfliteNodeContext) -> Translation:
    """A segment without rows has the neutral element of the reduction. Rows of negative segments are dropped."""
    data, segments, count = node.get_input(0), node.get_input(1), reshape(node.get_input(2), (1,))
    reduction = _UNSORTED[node.get_op_type()]
    neutral = _neutral_element(reduction, data.element_type)
    known = constant_array(segments)
    if known is not None and np.all(known >= 0):
        return _reduce_segments(data, segments, count, neutral, reduction)
    # Rows of negative segments go to an additional segment, which is then sliced off.
    one = scalar_like(count, 1)
    segments = ops.Select(ops.Less(segments, scalar_like(segments, 0)), count, segments).output(0)
    reduced = _reduce_segments(data, segments, ops.Add(count, one).output(0), neutral, reduction)
    return ops.Slice(reduced, int64([0]), ops.Convert(count, Type.i64), int64([1]), int64([0]))


def _neutral_element(reduction: str, kind: Type) -> float:
    if reduction in ("sum", "prod"):
        return 0 if reduction == "sum" else 1
    limits = np.finfo(kind.to_dtype()) if kind.is_real() else np.iinfo(kind.to_dtype())
    return limits.min if reduction == "max" else limits.max


def _reduce_segments(data: Output, segments: Output, count: Output, neutral: float, reduction: str) -> Node:
    """Reduce the rows of each segment. ``segments``: the segment of each row; ``count``: of segments, ``[1]``."""
    row_axes = range(1, rank_of(data))
    shape = ops.Concat([ops.Convert(count, Type.i64), ops.Gather(ops.ShapeOf(data), int64(row_axes), int64(0))], 0)
    initial = ops.Broadcast(scalar_like(data, neutral), shape)
    return ops.ScatterNDUpdate(initial, ops.Unsqueeze(segments, int64([-1])), data, reduction)


@translator("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(node: TfliteNodeContext) -> Translation:
    return update_slice(*(node.get_input(index) for index in range(3)))


def update_slice(data: Output, update: Output, starts: Output) -> Output:
    """Replace a slice of the data. ``starts``: its start on each axis, clamped so that it lies within the data."""
    pairs = enumerate(zip(data.partial_shape, update.partial_shape))
    shorter = [axis for axis, (whole, part) in pairs if whole.is_dynamic or whole != part]
    if not shorter:
        return update
    lengths = ops.ShapeOf(update).output(0)
    starts = clamp_starts(data, starts, lengths)
    size = update.partial_shape[shorter[0]]
    if len(shorter) == 1 and size.is_static and exact_value(starts) is None:
        # The slice covers all other axes: update by row indices, so that the shape does not depend on the starts.
        rows = slice_indices(starts, shorter[0], size.get_length())
        return ops.ScatterUpdate(data, rows, update, int64(shorter[0])).output(0)
    ones = Constant(np.ones(rank_of(data), starts.element_type.to_dtype()))
    return ops.SliceScatter(
        data, update, starts, ops.Add(starts, convert_to(lengths, starts.element_type)), ones
    ).output(0)


def clamp_starts(data: Output, starts: Output, lengths: Output) -> Output:
    """Clamp the starts of a slice of these lengths so that it lies within the data."""
    kind = starts.element_type
    last_starts = ops.Subtract(convert_to(ops.ShapeOf(data).output(0), kind), convert_to(lengths, kind))
    return ops.Maximum(ops.Minimum(starts, last_starts), scalar_like(starts, 0)).output(0)


def slice_indices(starts: Output, axis: int, length: int) -> Output:
    """Return the indices that a slice covers on an axis."""
    kind = starts.element_type
    offsets = ops.Range(int64(0), int64(length), int64(1), kind)
    return ops.Add(ops.Gather(starts, int64(axis), int64(0)), offsets).output(0)

"""Scatter, segment reductions and slice updates."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import segments
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Constant, Output
from hetero.ops.values import exact_value


@translator("SCATTER_ND")
def scatter_nd(node: TfliteNodeContext) -> Translation:
    """Rows with equal indices are summed."""
    return segments.scatter_rows(*(node.get_input(index) for index in range(3)))


@translator("SPARSE_TO_DENSE")
def sparse_to_dense(node: TfliteNodeContext) -> Translation:
    return segments.sparse_to_dense(*(node.get_input(index) for index in range(4)))


@translator("SEGMENT_SUM")
def segment_sum(node: TfliteNodeContext) -> Translation:
    numbers = convert_to(node.get_input(1), Type.i64)
    return segments.reduce_segments(node.get_input(0), numbers, segments.count_of_sorted(numbers), "sum")


_UNSORTED = {
    "UNSORTED_SEGMENT_SUM": "sum",
    "UNSORTED_SEGMENT_PROD": "prod",
    "UNSORTED_SEGMENT_MAX": "max",
    "UNSORTED_SEGMENT_MIN": "min",
}


@translator(*_UNSORTED)
def unsorted_segment(node: TfliteNodeContext) -> Translation:
    data, numbers, count = (node.get_input(index) for index in range(3))
    return segments.reduce_unsorted_segments(data, numbers, count, _UNSORTED[node.get_op_type()])


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

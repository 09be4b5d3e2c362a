"""Gather, scatter, embeddings, lookup by key, segment reductions and updates of slices."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import segments
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import Quantization, dequantize, hybrid_weights
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    convert_to,
    dimension_count,
    int64,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


@translator("GATHER")
def gather(node: TfliteNodeContext) -> Translation:
    """The output of 4-bit integers may be wider ones."""
    axis, batch = node.get_attribute("axis", 0), node.get_attribute("batch_dims", 0)
    gathered = ops.Gather(node.get_input(0), node.get_input(1), int64(axis), batch).output(0)
    return convert_to(gathered, node.output_type(0))


@translator("HASHTABLE_LOOKUP")
def hashtable_lookup(node: TfliteNodeContext) -> Translation:
    """Return the rows of keys, zeros for missing keys, and whether each key was found. The table's keys are sorted."""
    queries, keys, rows = (node.get_input(index) for index in range(3))
    position = ops.SearchSorted(keys, queries, False, Type.i64)
    index = ops.Minimum(position, ops.Subtract(axis_length(keys, 0), int64(1)))
    is_present = ops.Equal(ops.Gather(keys, index, int64(0)), queries)
    gathered = ops.Gather(rows, index, int64(0)).output(0)
    row_rank = len(gathered.partial_shape) - 1
    mask = reshape(is_present.output(0), (-1, *[1] * row_rank)) if row_rank else is_present
    # Zero, or an empty string.
    blank = Constant(np.zeros((), gathered.element_type.to_dtype()))
    return [ops.Select(mask, gathered, blank), ops.Convert(is_present, Type.u8)]


@translator("EMBEDDING_LOOKUP")
def embedding_lookup(node: TfliteNodeContext) -> Translation:
    """Input 0 has row indices, input 1 is the table. Only the selected rows are dequantized."""
    indices, table, params = node.get_input(0), node.get_input(1), node.input_tensor(1).quantization
    if params is None or node.output_tensor(0).quantization is not None:
        return ops.Gather(table, indices, int64(0))
    table, params = hybrid_weights(table, params)
    rows = ops.Gather(table, indices, int64(0)).output(0)
    return _dequantize_rows(rows, indices, params) if params.is_per_channel else dequantize(rows, params)


def _dequantize_rows(rows: Output, indices: Output, params: Quantization) -> Output:
    """Dequantize rows of a table that has one scale per row."""
    if params.axis or params.zero_points.any():
        raise FrontendError("an embedding table must be quantized along axis 0 with zero points of 0")
    scales = ops.Gather(Constant(params.scales), indices, int64(0)).output(0)
    scales = reshape(scales, (-1, *[1] * (rank_of(rows) - 1)))
    return ops.Multiply(convert_to(rows, Type.f32), scales).output(0)


@translator("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(node: TfliteNodeContext) -> Translation:
    """Combine weighted rows of a table, as a bag of embeddings.

    Inputs: the row indices ``[n]`` as elements of a sparse tensor, their coordinates ``[n, k]`` in it, its shape
    ``[k]``, weights ``[n]`` and the table. The elements along the last axis of the sparse tensor are one bag.
    """
    rows, coordinates, shape, weights, table = (node.get_input(index) for index in range(5))
    shape, coordinates = convert_to(shape, Type.i64), convert_to(coordinates, Type.i64)
    outer_axes = list(range(dimension_count(shape) - 1))
    bags = _bag_indices(coordinates, shape, outer_axes)
    lengths = ops.Gather(shape, int64(outer_axes), int64(0)).output(0)
    count = ops.ReduceProd(lengths, int64([0]), False).output(0)
    sums = ops.EmbeddingSegmentsSum(table, convert_to(rows, Type.i64), bags, count, int64(-1), weights).output(0)
    divisor = _divisor(node.get_attribute("combiner"), weights, bags, count)
    if divisor is not None:
        sums = ops.Divide(sums, reshape(divisor, (-1, *[1] * (rank_of(table) - 1)))).output(0)
    if len(outer_axes) == 1:
        return sums
    inner = ops.Slice(ops.ShapeOf(table), int64([1]), int64([rank_of(table)]), int64([1]))
    return ops.Reshape(sums, ops.Concat([lengths, inner], 0), False)


def _bag_indices(coordinates: Output, shape: Output, outer_axes: list[int]) -> Output:
    """Return the index of the bag of each row: its coordinates on the outer axes, flattened."""
    bags = int64(0).output(0)
    for axis in outer_axes:
        length = ops.Gather(shape, int64(axis), int64(0))
        bags = ops.Add(ops.Multiply(bags, length), ops.Gather(coordinates, int64(axis), int64(1))).output(0)
    return bags


def _divisor(combiner: int, weights: Output, bags: Output, count: Output) -> Output | None:
    """Return what the sum of each bag is divided by, 1 for a bag without weight; None for the combiner SUM."""
    kind = tflite.CombinerType
    if combiner == kind.SUM:
        return None
    if combiner not in (kind.MEAN, kind.SQRTN):
        raise FrontendError(f"the combiner {combiner} is not supported")
    addends = weights if combiner == kind.MEAN else ops.Multiply(weights, weights).output(0)
    indices = arange(axis_length(addends, 0))
    total = ops.EmbeddingSegmentsSum(reshape(addends, (-1, 1)), indices, bags, count).output(0)
    total = total if combiner == kind.MEAN else ops.Sqrt(total).output(0)
    return ops.Select(ops.Equal(total, scalar_like(total, 0)), scalar_like(total, 1), total).output(0)


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


def _reduce_sorted_segments(data: Output, numbers: Output) -> Output:
    numbers = convert_to(numbers, Type.i64)
    return segments.reduce_segments(data, numbers, segments.count_of_sorted(numbers), "sum")


rows(
    {
        "DYNAMIC_UPDATE_SLICE": Row(update_slice, 0, 1, 2),
        "GATHER_ND": Row(ops.GatherND, 0, 1),
        "SCATTER_ND": Row(segments.scatter_rows, 0, 1, 2),
        "SEGMENT_SUM": Row(_reduce_sorted_segments, 0, 1),
        "SPARSE_TO_DENSE": Row(segments.sparse_to_dense, 0, 1, 2, 3),
        "UNSORTED_SEGMENT_MAX": Row(segments.reduce_unsorted_segments, 0, 1, 2, reduction="max"),
        "UNSORTED_SEGMENT_MIN": Row(segments.reduce_unsorted_segments, 0, 1, 2, reduction="min"),
        "UNSORTED_SEGMENT_PROD": Row(segments.reduce_unsorted_segments, 0, 1, 2, reduction="prod"),
        "UNSORTED_SEGMENT_SUM": Row(segments.reduce_unsorted_segments, 0, 1, 2, reduction="sum"),
        # The indices of non-zero elements, one row each.
        "WHERE": Row(lambda value: ops.Transpose(ops.NonZero(value), int64([1, 0])), 0),
    }
)

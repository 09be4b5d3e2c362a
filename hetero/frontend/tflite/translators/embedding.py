"""Embedding lookups."""

from __future__ import annotations

import tflite

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Quantization, dequantize, hybrid_weights
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    dimension_count,
    int64,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


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

"""Rows of tables, picked by their numbers."""

from __future__ import annotations

import tflite

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Quantization, dequantize, hybrid_weights
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import dimension_count, int64, length_of, rank_of, reshape, scalar_like
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("EMBEDDING_LOOKUP")
def embedding_lookup(node: TfliteNodeContext) -> Translation:
    """Input 0 are the numbers of the rows, input 1 is the table, of which no more than these rows is dequantized."""
    places, table, params = node.get_input(0), node.get_input(1), node.input_tensor(1).quantization
    if params is None or node.output_tensor(0).quantization is not None:
        return ops.Gather(table, places, int64(0))
    table, params = hybrid_weights(table, params)
    rows = ops.Gather(table, places, int64(0)).output(0)
    return _dequantized_rows(rows, places, params) if params.is_per_channel else dequantize(rows, params)


def _dequantized_rows(rows: Output, places: Output, params: Quantization) -> Output:
    """Rows of a table that has a scale for each."""
    if params.axis or params.zero_points.any():
        raise FrontendError("a table must have scales for its rows, and zero points of 0")
    scales = ops.Gather(Constant(params.scales), places, int64(0)).output(0)
    scales = reshape(scales, (-1, *[1] * (rank_of(rows) - 1)))
    return ops.Multiply(converted(rows, Type.f32), scales).output(0)


@translator("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(node: TfliteNodeContext) -> Translation:
    """Sums of weighted rows.

    Inputs: the numbers of the rows ``[n]``, their places ``[n, k]`` in a sparse tensor, the shape ``[k]`` of that,
    weights ``[n]`` and the table. The rows along the last axis of the sparse tensor are combined.
    """
    rows, places, shape, weights, table = (node.get_input(index) for index in range(5))
    shape, places = converted(shape, Type.i64), converted(places, Type.i64)
    outer = list(range(dimension_count(shape) - 1))
    bags = _bags(places, shape, outer)
    lengths = ops.Gather(shape, int64(outer), int64(0)).output(0)
    count = ops.ReduceProd(lengths, int64([0]), False).output(0)
    sums = ops.EmbeddingSegmentsSum(table, converted(rows, Type.i64), bags, count, int64(-1), weights).output(0)
    weight = _weight_of_bags(node.get_attribute("combiner"), weights, bags, count)
    if weight is not None:
        sums = ops.Divide(sums, reshape(weight, (-1, *[1] * (rank_of(table) - 1)))).output(0)
    if len(outer) == 1:
        return sums
    inner = ops.Slice(ops.ShapeOf(table), int64([1]), int64([rank_of(table)]), int64([1]))
    return ops.Reshape(sums, ops.Concat([lengths, inner], 0), False)


def _bags(places: Output, shape: Output, outer: list[int]) -> Output:
    """The number of the bag that each row belongs to."""
    bags = int64(0).output(0)
    for axis in outer:
        length = ops.Gather(shape, int64(axis), int64(0))
        bags = ops.Add(ops.Multiply(bags, length), ops.Gather(places, int64(axis), int64(1))).output(0)
    return bags


def _weight_of_bags(combiner: int, weights: Output, bags: Output, count: Output) -> Output | None:
    """What the sums are divided by, 1 where there is none; None where nothing is to be divided."""
    kind = tflite.CombinerType
    if combiner == kind.SUM:
        return None
    if combiner not in (kind.MEAN, kind.SQRTN):
        raise FrontendError(f"the combiner {combiner} is not supported")
    parts = weights if combiner == kind.MEAN else ops.Multiply(weights, weights).output(0)
    every = ops.Range(int64(0), length_of(parts, 0), int64(1), "i64")
    total = ops.EmbeddingSegmentsSum(reshape(parts, (-1, 1)), every, bags, count).output(0)
    total = total if combiner == kind.MEAN else ops.Sqrt(total).output(0)
    return ops.Select(ops.Equal(total, scalar_like(total, 0)), scalar_like(total, 1), total).output(0)

"""Ragged tensors: flat values, and for each level of rows where they start in the level below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.tensorflow.translators.reduction import weights_of
from hetero.frontend.translation.translators import Attr, Row, Translation
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
from hetero.graph import Constant, Node, Op, Output, as_output
from hetero.ops.movement.slicing import TO_THE_END
from hetero.system.errors import FrontendError


class _Level(NamedTuple):
    """The row of each element of a level, its position in that row, and the number of rows, all i64."""

    rows: Output
    columns: Output
    row_count: Output


def _level_of_splits(splits: Output) -> _Level:
    """``splits``: where each row starts, and the number of elements."""
    splits = convert_to(splits, Type.i64)
    elements = arange(ops.Gather(splits, int64(-1), int64(0)))
    rows = ops.Subtract(ops.SearchSorted(splits, elements, True), int64(1)).output(0)
    columns = ops.Subtract(elements, ops.Gather(splits, rows, int64(0))).output(0)
    return _Level(rows, columns, ops.Subtract(axis_length(splits, 0), int64(1)).output(0))


def _level_of_rows(rows: Output, row_count: Output) -> _Level:
    """``rows``: the row of each element, sorted."""
    rows = convert_to(rows, Type.i64)
    starts = ops.SearchSorted(rows, arange(row_count), False)
    columns = ops.Subtract(arange(axis_length(rows, 0)), ops.Gather(starts, rows, int64(0)))
    return _Level(rows, columns.output(0), row_count)


def _coordinates(levels: list[_Level]) -> Output:
    """Return the coordinates ``[count, levels + 1]`` of the elements of the last level."""
    coordinates: Output = ops.Unsqueeze(arange(levels[0].row_count), int64([1])).output(0)
    for level in levels:
        outer = ops.Gather(coordinates, level.rows, int64(0))
        coordinates = ops.Concat([outer, ops.Unsqueeze(level.columns, int64([1]))], 1).output(0)
    return coordinates


def _bounding_shape(levels: list[_Level]) -> Output:
    """Return the number of rows, then the length of the longest row of each level; 0 if a level has no elements."""
    lengths = [reshape(levels[0].row_count, (1,))]
    for level in levels:
        last = ops.ReduceMax(ops.Concat([level.columns, int64([-1])], 0), int64([0]), True)
        lengths.append(ops.Add(last, int64(1)).output(0))
    return ops.Concat(lengths, 0).output(0)


def _as_sparse(*inputs: Output) -> Translation:
    """Inputs: the row splits of each level, outermost first, and a vector of values."""
    *splits, values = inputs
    if rank_of(values) != 1:
        raise FrontendError("values must be a vector")
    levels = [_level_of_splits(split) for split in splits]
    return [_coordinates(levels), values, _bounding_shape(levels)]


def _as_dense(shape: Output, values: Output, default: Output, *partitions: Output, kinds: Sequence[str]) -> Op:
    """``partitions``: those of each level, outermost first, ``kinds`` for their kinds.

    Partitions are ROW_SPLITS, or FIRST_DIM_SIZE, then VALUE_ROWIDS for each level. Lengths of -1 in the shape, and all
    if it is a scalar, are those of the longest rows. Elements beyond the shape are dropped.
    """
    levels = _levels(kinds, partitions)
    row_rank = rank_of(values) - 1
    bounding = ops.Concat(
        [_bounding_shape(levels), ops.Gather(ops.ShapeOf(values), int64(range(1, rank_of(values))), int64(0))], 0
    )
    shape = convert_to(shape, Type.i64)
    if rank_of(shape) and dimension_count(shape) != len(levels) + 1 + row_rank:
        raise FrontendError("shape must be a scalar or have a number for each dimension")
    lengths = ops.Select(ops.Less(shape, int64(0)), bounding, shape)
    coordinates = _coordinates(levels)
    limits = ops.Slice(lengths, int64([0]), int64([len(levels) + 1]), int64([1]))
    is_inside = ops.ReduceLogicalAnd(ops.Less(coordinates, limits), int64([1]), False)
    kept = reshape(ops.NonZero(is_inside).output(0), (-1,))
    updates = [ops.Gather(value, kept, int64(0)) for value in (coordinates, values)]
    return ops.ScatterNDUpdate(ops.Broadcast(default, lengths), *updates, "none")


def _levels(kinds: Sequence[str], partitions: Sequence[Output]) -> list[_Level]:
    levels: list[_Level] = []
    row_count: Output | None = None
    for kind, partition in zip(kinds, partitions):
        if kind == "FIRST_DIM_SIZE":
            row_count = reshape(convert_to(partition, Type.i64), ())
            continue
        if kind == "ROW_SPLITS":
            levels.append(_level_of_splits(partition))
        elif kind == "VALUE_ROWIDS" and row_count is not None:
            levels.append(_level_of_rows(partition, row_count))
        else:
            raise FrontendError(f"row_partition_types {kinds} are not supported")
        row_count = axis_length(levels[-1].rows, 0)
    return levels


def _range(*inputs: Output, kind: Type) -> Translation:
    """Return the row splits and the values of a ragged matrix, whose rows are ranges. Inputs: starts, limits, steps."""
    lengths = [ops.ShapeOf(value) for value in inputs if rank_of(value)]
    count = ops.ReduceMax(ops.Concat([*lengths, int64([1])], 0), int64([0]), True)
    starts, limits, steps = (ops.Broadcast(value, count).output(0) for value in inputs)
    exact = [convert_to(value, Type.f64) for value in (starts, limits, steps)]
    quotient = ops.Ceiling(ops.Divide(ops.Subtract(exact[1], exact[0]), exact[2]))
    row_lengths = ops.Convert(ops.Relu(quotient), Type.i64)
    splits = ops.Concat([int64([0]), ops.CumSum(row_lengths, int64(0))], 0).output(0)
    level = _level_of_splits(splits)
    columns = convert_to(level.columns, starts.element_type)
    values = ops.Add(
        ops.Gather(starts, level.rows, int64(0)), ops.Multiply(columns, ops.Gather(steps, level.rows, int64(0)))
    )
    return [convert_to(splits, kind), as_output(values)]


def _gather(*inputs: Output) -> Translation:
    """Rows of a ragged tensor. Inputs: its row splits, outermost first, its values, and indices of any shape.

    Outputs: row splits, of which the first are those of the indices' axes, and values.
    """
    *splits, values, indices = inputs
    kind = splits[0].element_type
    lengths = ops.ShapeOf(indices)
    outer = []
    for axis in range(1, rank_of(indices)):
        rows = ops.ReduceProd(_part(lengths.output(0), 0, axis), int64([0]), False)
        bounds = ops.Multiply(arange(ops.Add(rows, int64(1))), ops.Gather(lengths, int64(axis), int64(0)))
        outer.append(convert_to(bounds.output(0), kind))
    selected, inner = reshape(convert_to(indices, Type.i64), (-1,)), []
    for split in splits:
        starts = ops.Gather(split, selected, int64(0))
        row_lengths = ops.Subtract(ops.Gather(split, ops.Add(selected, int64(1)), int64(0)), starts)
        zero = Constant(np.zeros(1, kind.to_dtype()))
        inner.append(ops.Concat([zero, ops.CumSum(row_lengths, int64(0))], 0).output(0))
        level = _level_of_splits(inner[-1])
        first = convert_to(ops.Gather(starts, level.rows, int64(0)).output(0), Type.i64)
        selected = ops.Add(first, level.columns).output(0)
    return [*outer, *inner, ops.Gather(values, selected, int64(0)).output(0)]


def _bincount(splits: Output, values: Output, size: Output, weights: Output, is_binary: bool) -> Op:
    """Count the values of each row, or sum their weights, in ``size`` bins; values beyond them are ignored."""
    level, size = _level_of_splits(splits), reshape(convert_to(size, Type.i64), (1,))
    amounts = weights_of(values, weights, weights.element_type)
    shape = ops.Concat([reshape(level.row_count, (1,)), size], 0)
    kept = reshape(ops.NonZero(ops.Less(convert_to(values, Type.i64), size)).output(0), (-1,))
    bins = ops.Unsqueeze(convert_to(values, Type.i64), int64([1]))
    coordinates = ops.Concat([ops.Unsqueeze(level.rows, int64([1])), bins], 1)
    updates = [ops.Gather(value, kept, int64(0)) for value in (coordinates, amounts)]
    counts = ops.ScatterNDUpdate(ops.Broadcast(scalar_like(amounts, 0), shape), *updates, "sum")
    return ops.Convert(ops.NotEqual(counts, scalar_like(amounts, 0)), amounts.element_type) if is_binary else counts


rows(
    {
        "RaggedBincount": Row(_bincount, is_binary=Attr("binary_output", False, bool)),
        "RaggedGather": Row(_gather),
        "RaggedRange": Row(_range, kind=Attr("Tsplits", Type.i64)),
        "RaggedTensorToSparse": Row(_as_sparse),
        "RaggedTensorToTensor": Row(_as_dense, kinds=Attr("row_partition_types")),
    }
)


@translator("StringNGrams")
def string_ngrams(node: TensorflowNodeContext) -> Translation:
    """The joined runs of strings of each row, those of the first width first, and their row splits."""
    values, splits = node.get_inputs()
    widths, separator = node.get_attribute("ngram_widths"), np.array(str(node.get_attribute("separator")))
    if node.get_attribute("pad_width") or node.get_attribute("preserve_short_sequences", False, bool):
        raise FrontendError("padding and short sequences are not supported: pad_width must be 0")
    level = _level_of_splits(splits)
    length = ops.Gather(_bounding_shape([level]), int64(1), int64(0)).output(0)
    shape = ops.Concat([reshape(level.row_count, (1,)), reshape(length, (1,))], 0)
    rows = ops.ScatterNDUpdate(ops.Broadcast(np.array(""), shape), _coordinates([level]), values, "none")
    lengths = ops.Subtract(_part(splits, 1, TO_THE_END), _part(splits, 0, -1)).output(0)
    lengths = ops.Unsqueeze(convert_to(lengths, Type.i64), int64([1])).output(0)
    grams, present = [], []
    for width in widths:
        count = ops.Relu(ops.Subtract(length, int64(width - 1)))
        columns = [ops.Gather(rows, ops.Add(arange(count), int64(offset)), int64(1)) for offset in range(width)]
        gram: Node = columns[0]
        for column in columns[1:]:
            gram = ops.StringConcat(ops.StringConcat(gram, separator), column)
        grams.append(gram)
        present.append(ops.Less(ops.Add(arange(count), int64(width - 1)), lengths))
    is_gram = ops.Concat(present, 1)
    counts = ops.ReduceSum(ops.Convert(is_gram, Type.i64), int64([1]), False)
    kept = ops.Transpose(ops.NonZero(is_gram), int64([1, 0]))
    total = ops.Concat([int64([0]), ops.CumSum(counts, int64(0))], 0).output(0)
    return [ops.GatherND(ops.Concat(grams, 1), kept), convert_to(total, splits.element_type)]


def _part(vector: Output, begin: int, end: int) -> Node:
    return ops.Slice(vector, int64([begin]), int64([end]), int64([1]))

"""Ragged tensors: flat values, and for each level of rows where they start in the level below."""

from __future__ import annotations

from typing import NamedTuple

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import arange, axis_length, dimension_count, int64, rank_of, reshape
from hetero.graph import Node, Output, as_output
from hetero.types import Type


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


@translator("RaggedTensorToSparse")
def ragged_to_sparse(node: TensorflowNodeContext) -> Translation:
    """Inputs: the row splits of each level, outermost first, and a vector of values."""
    *splits, values = node.get_inputs()
    if rank_of(values) != 1:
        raise FrontendError("values must be a vector")
    levels = [_level_of_splits(split) for split in splits]
    return [_coordinates(levels), values, _bounding_shape(levels)]


@translator("RaggedTensorToTensor")
def ragged_to_dense(node: TensorflowNodeContext) -> Translation:
    """Inputs: shape, values, the default, and the partitions of each level, outermost first.

    Partitions are ROW_SPLITS, or FIRST_DIM_SIZE, then VALUE_ROWIDS for each level. Lengths of -1 in the shape, and all
    if it is a scalar, are those of the longest rows. Elements beyond the shape are dropped.
    """
    shape, values, default, *partitions = node.get_inputs()
    levels = _levels(node.get_attribute("row_partition_types"), partitions)
    row_rank = rank_of(values) - 1
    bounding = ops.Concat([_bounding_shape(levels), _row_shape(values)], 0)
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


def _row_shape(values: Output) -> Node:
    return ops.Gather(ops.ShapeOf(values), int64(range(1, rank_of(values))), int64(0))


def _levels(kinds: list[str], partitions: list[Output]) -> list[_Level]:
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


@translator("RaggedRange")
def ragged_range(node: TensorflowNodeContext) -> Translation:
    """Return the row splits and the values of a ragged matrix, whose rows are ranges. Inputs: starts, limits, steps."""
    lengths = [ops.ShapeOf(value) for value in node.get_inputs() if rank_of(value)]
    count = ops.ReduceMax(ops.Concat([*lengths, int64([1])], 0), int64([0]), True)
    starts, limits, steps = (ops.Broadcast(value, count).output(0) for value in node.get_inputs())
    exact = [convert_to(value, Type.f64) for value in (starts, limits, steps)]
    quotient = ops.Ceiling(ops.Divide(ops.Subtract(exact[1], exact[0]), exact[2]))
    row_lengths = ops.Convert(ops.Relu(quotient), Type.i64)
    splits = ops.Concat([int64([0]), ops.CumSum(row_lengths, int64(0))], 0).output(0)
    level = _level_of_splits(splits)
    columns = convert_to(level.columns, starts.element_type)
    values = ops.Add(
        ops.Gather(starts, level.rows, int64(0)), ops.Multiply(columns, ops.Gather(steps, level.rows, int64(0)))
    )
    return [convert_to(splits, node.get_attribute("Tsplits", Type.i64)), as_output(values)]

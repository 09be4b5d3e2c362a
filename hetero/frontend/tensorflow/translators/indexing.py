"""Slices, gathering and scattering of rows and elements, partition, stitching, reduction of segments."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.numerics.movement import bounds_and_masks, slice_by_size
from hetero.frontend.numerics.segments import (
    count_of_sorted,
    mean_of_segments,
    reduce_segments,
    reduce_unsorted_segments,
    rows_of_segments,
    scatter_rows,
)
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import (
    constant_input,
    convert_to,
    dimension_count,
    int64,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output, constant_array
from hetero.ops.movement.slicing import TO_THE_END

rows(
    {
        "StridedSlice": lambda node: slice_of(node, node.get_input(0)),
        **dict.fromkeys(("GatherNd", "ResourceGatherNd"), lambda node: ops.GatherND(_data(node), node.get_input(1))),
    }
)


def slice_of(node: TensorflowNodeContext, data: Output) -> Node:
    """Return the slice of the data by inputs 1 to 3 of a node. Masks have a bit for each number of ``begin``."""
    begin, end, strides = (node.get_input(index) for index in range(1, 4))
    count = dimension_count(next((numbers for numbers in (begin, end) if numbers.partial_shape.is_static), strides))
    (begin, end, strides), masks = bounds_and_masks(node, (begin, end, strides), count, node.is_complex())
    end = _end_before_start(data, begin, end, strides, masks)
    return ops.StridedSlice(data, begin, end, strides, *masks)


def _end_before_start(data: Output, begin: Output, end: Output, strides: Output, masks: list[list[int]]) -> Output:
    """Return the end of a slice, changed so that a slice backwards from before the first element is empty.

    TensorFlow returns no elements; StridedSlice would begin with the first one. Clears the bits of the end mask for the
    positions that change.
    """
    begin_mask, end_mask, new_axis_mask, shrink_mask, ellipsis_mask = masks
    steps, begins = constant_array(strides), constant_array(begin)
    if steps is None or (steps > 0).all():
        return end
    # The axis of each position, from the end of the shape for positions after the ellipsis.
    has_axis = [not (is_new or is_ellipsis) for is_new, is_ellipsis in zip(new_axis_mask, ellipsis_mask)]
    positions, axes = [], []
    for position, step in enumerate(steps.tolist()):
        axis = -sum(has_axis[position:]) if any(ellipsis_mask[:position]) else sum(has_axis[:position])
        if step > 0 or not has_axis[position] or begin_mask[position] or shrink_mask[position]:
            continue
        length = data.partial_shape[axis] if data.partial_shape.has_rank else Dimension()
        # A begin of -1 is before the first element only if there is no element at all.
        if begins is None or begins[position] < min(-1, -length.min_length):
            positions.append(position)
            axes.append(axis % rank_of(data))
    if not positions:
        return end
    shape = ops.ShapeOf(data, begin.element_type)
    first = ops.Add(ops.Gather(begin, int64(positions), int64(0)), ops.Gather(shape, int64(axes), int64(0)))
    is_masked = Constant(np.array([bool(end_mask[position]) for position in positions]))
    last = ops.Select(is_masked, scalar_like(end, -TO_THE_END - 1), ops.Gather(end, int64(positions), int64(0)))
    for position in positions:
        end_mask[position] = 0
    last = ops.Select(ops.Less(first, scalar_like(begin, 0)), scalar_like(end, 0), last)
    return ops.ScatterUpdate(end, int64(positions), last, int64(0)).output(0)


@translator("Slice")
def slice_of_size(node: TensorflowNodeContext) -> Translation:
    data, begin, size = (node.get_input(index) for index in range(3))
    known = next((numbers for numbers in (begin, size) if numbers.partial_shape.is_static), None)
    count = rank_of(data) - node.is_complex() if known is None else dimension_count(known)
    return slice_by_size(data, begin, size, count, node.is_complex())


@translator("Gather", "GatherV2", "ResourceGather")
def gather(node: TensorflowNodeContext) -> Translation:
    """Gather along the axis in input 2, by default the first one. The indices have ``batch_dims`` axes of the data."""
    data = _data(node)
    axis = int(np.reshape(constant_input(node, 2, "axis"), ())) if node.has_input(2) else 0
    if node.is_complex("Tparams") and axis < 0:
        axis += rank_of(data) - 1
    return ops.Gather(data, node.get_input(1), int64(axis), node.get_attribute("batch_dims", 0))


def _data(node: TensorflowNodeContext) -> Output:
    """Return input 0, or the contents of the variable that it is."""
    return node.get_input(0) if node.has_input(0) else node.variables.read(node.variable_name(0))


def _unravel_index(indices: Output, lengths: Output) -> Op:
    """Return the coordinates ``[rank, count]`` of flat indices ``[count]``, or ``[rank]`` of a scalar."""
    strides = strides_of(lengths)
    if rank_of(indices):
        indices = ops.Unsqueeze(indices, int64([0])).output(0)
        strides, lengths = (ops.Unsqueeze(numbers, int64([1])).output(0) for numbers in (strides, lengths))
    return ops.FloorMod(ops.Divide(indices, strides), lengths)


def strides_of(lengths: Output) -> Output:
    """Return the number of elements between neighbors on each axis of a dense tensor of these lengths."""
    return ops.CumProd(lengths, int64(0), True, True).output(0)


@translator("DynamicPartition")
def dynamic_partition(node: TensorflowNodeContext) -> Translation:
    """Rows of the data by the number of the partition that each belongs to."""
    data, partitions = node.get_inputs()
    rows = _merge_first_axes(data, rank_of(partitions))
    flat = reshape(partitions, (-1,))

    def members(number: int) -> Output:
        indices = ops.NonZero(ops.Equal(flat, scalar_like(flat, number)))
        return ops.Gather(rows, reshape(indices.output(0), (-1,)), int64(0)).output(0)

    return [members(number) for number in range(node.get_output_size())]


def _stitch(*inputs: Output) -> Op:
    """Place rows at their indices; of rows with the same index the last one. The inputs are all indices, then data."""
    half = len(inputs) // 2
    ranks = [rank_of(indices) for indices in inputs[:half]]
    indices = ops.Concat([reshape(convert_to(value, Type.i64), (-1,)) for value in inputs[:half]], 0)
    rows = ops.Concat([_merge_first_axes(data, rank) for data, rank in zip(inputs[half:], ranks)], 0).output(0)
    count = ops.Add(ops.ReduceMax(indices, int64([0]), True), int64([1]))
    row_shape = ops.Gather(ops.ShapeOf(rows), int64(range(1, rank_of(rows))), int64(0))
    empty = ops.Broadcast(scalar_like(rows, 0), ops.Concat([count, row_shape], 0))
    return ops.ScatterUpdate(empty, indices, rows, int64(0))


def _merge_first_axes(value: Output, count: int) -> Output:
    """Merge the first ``count`` axes into one; a new axis if there are none."""
    if count == 1:
        return value
    if count == 0:
        return ops.Unsqueeze(value, int64([0])).output(0)
    if count == rank_of(value):
        return reshape(value, (-1,))
    rest = ops.Gather(ops.ShapeOf(value), int64(range(count, rank_of(value))), int64(0))
    return ops.Reshape(value, ops.Concat([int64([-1]), rest], 0), False).output(0)


def _reduce_sorted(data: Output, segments: Output, reduction: str) -> Op | Output:
    """Reduce the rows of sorted segments. A segment without rows is 0, in SegmentProd 1."""
    segments = convert_to(segments, Type.i64)
    count = count_of_sorted(segments)
    if reduction == "mean":
        return mean_of_segments(data, segments, count)
    reduced = reduce_segments(data, segments, count, reduction)
    if reduction not in ("max", "min"):
        return reduced
    is_empty = ops.Equal(rows_of_segments(data, segments, count), scalar_like(data, 0))
    return ops.Select(is_empty, scalar_like(data, 0), reduced)


def _reduce_unsorted(data: Output, segments: Output, count: Output, reduction: str) -> Output:
    """Reduce the rows of segments, which may have several axes."""
    rows = _merge_first_axes(data, rank_of(segments))
    return reduce_unsorted_segments(rows, reshape(segments, (-1,)), count, reduction)


_REDUCTIONS = {"Max": "max", "Mean": "mean", "Min": "min", "Prod": "prod", "Sum": "sum"}
_UPDATES = {"Add": "sum", "Max": "max", "Min": "min", "Sub": "sub", "Update": "none"}
rows(
    {
        "Addons>GatherTree": Row(ops.GatherTree), "DynamicStitch": Row(_stitch), "GatherTree": Row(ops.GatherTree),
        "ParallelDynamicStitch": Row(_stitch), "ScatterNd": Row(scatter_rows),
        "ScatterNdNonAliasingAdd": Row(ops.ScatterNDUpdate, reduction="sum"), "UnravelIndex": Row(_unravel_index),
    }
)  # fmt: skip
rows({f"Segment{name}": Row(_reduce_sorted, reduction=kind) for name, kind in _REDUCTIONS.items()})
rows({f"TensorScatter{name}": Row(ops.ScatterNDUpdate, reduction=kind) for name, kind in _UPDATES.items()})
rows(
    {
        f"UnsortedSegment{name}": Row(_reduce_unsorted, reduction=kind)
        for name, kind in _REDUCTIONS.items()
        if name != "Mean"
    }
)

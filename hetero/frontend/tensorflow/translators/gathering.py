"""Gathering of rows and elements, partition and stitching."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, reshape, scalar_like
from hetero.graph import Output


@translator("GatherNd", "ResourceGatherNd")
def gather_nd(node: TensorflowNodeContext) -> Translation:
    data = node.get_input(0) if node.has_input(0) else node.variables.read(node.variable_name(0))
    return ops.GatherND(data, node.get_input(1))


@translator("GatherTree", "Addons>GatherTree")
def gather_tree(node: TensorflowNodeContext) -> Translation:
    return ops.GatherTree(*node.get_inputs())


@translator("UnravelIndex")
def unravel_index(node: TensorflowNodeContext) -> Translation:
    """The coordinates ``[rank, count]`` of flat indices ``[count]``, or ``[rank]`` of a scalar."""
    indices, lengths = node.get_inputs()
    if rank_of(indices):
        indices, lengths_column = ops.Unsqueeze(indices, int64([0])).output(0), ops.Unsqueeze(lengths, int64([1]))
        return ops.FloorMod(ops.Divide(indices, ops.Unsqueeze(strides_of(lengths), int64([1]))), lengths_column)
    return ops.FloorMod(ops.Divide(indices, strides_of(lengths)), lengths)


def strides_of(lengths: Output) -> Output:
    """Return the number of elements between neighbors on each axis of a dense tensor of these lengths."""
    return ops.CumProd(lengths, int64(0), True, True).output(0)


@translator("DynamicPartition")
def dynamic_partition(node: TensorflowNodeContext) -> Translation:
    """Rows of the data by the number of the partition that each belongs to."""
    data, partitions = node.get_inputs()
    rows = merge_first_axes(data, rank_of(partitions))
    flat = reshape(partitions, (-1,))

    def members(number: int) -> Output:
        indices = ops.NonZero(ops.Equal(flat, scalar_like(flat, number)))
        return ops.Gather(rows, reshape(indices.output(0), (-1,)), int64(0)).output(0)

    return [members(number) for number in range(node.get_output_size())]


@translator("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(node: TensorflowNodeContext) -> Translation:
    """Place rows at their indices; of rows with the same index the last one. The inputs are all indices, then data."""
    inputs = node.get_inputs()
    half = len(inputs) // 2
    ranks = [rank_of(indices) for indices in inputs[:half]]
    indices = ops.Concat([reshape(convert_to(value, Type.i64), (-1,)) for value in inputs[:half]], 0)
    rows = ops.Concat([merge_first_axes(data, rank) for data, rank in zip(inputs[half:], ranks)], 0).output(0)
    count = ops.Add(ops.ReduceMax(indices, int64([0]), True), int64([1]))
    row_shape = ops.Gather(ops.ShapeOf(rows), int64(range(1, rank_of(rows))), int64(0))
    empty = ops.Broadcast(scalar_like(rows, 0), ops.Concat([count, row_shape], 0))
    return ops.ScatterUpdate(empty, indices, rows, int64(0))


def merge_first_axes(value: Output, count: int) -> Output:
    """Merge the first ``count`` axes into one; a new axis if there are none."""
    if count == 1:
        return value
    if count == 0:
        return ops.Unsqueeze(value, int64([0])).output(0)
    if count == rank_of(value):
        return reshape(value, (-1,))
    rest = ops.Gather(ops.ShapeOf(value), int64(range(count, rank_of(value))), int64(0))
    return ops.Reshape(value, ops.Concat([int64([-1]), rest], 0), False).output(0)

"""Data movement: operations that only rearrange elements share memory or become one strided copy."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Node, Output
from hetero.ops.movement.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.reference.registry import evaluate
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.kernels.common.copies import (
    Axis,
    View,
    copy_or_share,
    merge_axes,
    shape_input,
    unsupported_movement,
    view_of,
)
from hetero_opencl.kernels.common.definition import lowers
from hetero_opencl.lowering.implementation import ROWS
from hetero_opencl.lowering.lowering import Lowering


@lowers(
    ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, ops.BitCast, unsupported=unsupported_movement
)
def share_memory(lowering: Lowering, node: Node) -> None:
    lowering.share(node.output(0), node.input_value(0))


@lowers(ops.ShapeOf, ops.Range, ops.If)
def reject_unfolded(lowering: Lowering, node: Node) -> None:
    """Reject operations that constant folding removes from models of static shapes."""
    raise UnsupportedOperationError(f"{node.type_info.name} '{node.friendly_name}' was not folded to a constant")


@lowers(
    ops.Transpose, ops.Slice, ops.StridedSlice, ops.Split, ops.VariadicSplit, ops.Broadcast, ops.Reverse,
    unsupported=unsupported_movement,
)  # fmt: skip
def copy_view(lowering: Lowering, node: Node) -> None:
    """Lower operations whose reference implementation returns numpy views of the data."""
    shape_inputs = [shape_input(node, index) for index in range(1, node.get_input_size())]
    data = view_of(node.input_value(0))
    for output, view in zip(node.outputs(), evaluate(node, [data.array, *shape_inputs])):
        if not is_left_to_concats(lowering, output):
            copy_or_share(lowering, node.input_value(0), data, view, output)


def is_left_to_concats(lowering: Lowering, value: Output) -> bool:
    """Return whether a slice has no buffer: the Concats that read it copy it to its place from the data."""
    readers = [target.node for target in value.get_target_inputs()]
    if not isinstance(value.node, (ops.Slice, ops.StridedSlice)) or not math.prod(value.shape):
        return False
    if any(not isinstance(node, ops.Concat) or lowering.layout(node.output(0)) != ROWS for node in readers):
        return False
    _, view = sliced_view(value)
    return all(rows_in(view, node.attribute_values()["axis"] % view.ndim) is not None for node in readers)


def sliced_view(value: Output) -> tuple[View, np.ndarray]:
    """Return a view of the data of a Slice or StridedSlice, and the view of it that is the slice."""
    node = value.node
    data = view_of(node.input_value(0))
    bounds = [shape_input(node, index) for index in range(1, node.get_input_size())]
    return data, evaluate(node, [data.array, *bounds])[0]


def rows_in(view: np.ndarray, axis: int) -> int | None:
    """Return the step in bytes from row to row, if the axes from ``axis`` on are dense rows, else None.

    The step is 0 if there is only one row.
    """
    axes = [Axis(length, stride, 0) for length, stride in zip(view.shape, view.strides)]
    rows, dense = merge_axes(axes[:axis]), merge_axes(axes[axis:])
    if len(rows) > 1 or len(dense) > 1 or (dense and dense[0].source_stride != view.itemsize):
        return None
    return rows[0].source_stride if rows else 0


@lowers(ops.DepthToSpace, ops.SpaceToDepth, unsupported=unsupported_movement)
def move_blocks(lowering: Lowering, node: ops.DepthToSpace | ops.SpaceToDepth) -> None:
    data = view_of(node.input_value(0))
    if data.array.size:
        if isinstance(node, ops.DepthToSpace):
            blocks = depth_to_space_blocks(node, data.array)
        else:
            blocks = space_to_depth_blocks(node, data.array)
        copy_or_share(lowering, node.input_value(0), data, blocks, node.output(0))


@lowers(ops.Tile, unsupported=unsupported_movement)
def tile(lowering: Lowering, node: ops.Tile) -> None:
    """Split each axis in two: the repeats, with stride 0, and the elements."""
    data, repeats = view_of(node.input_value(0)), np.maximum(shape_input(node, 1), 0).reshape(-1).tolist()
    rank = max(data.array.ndim, len(repeats))
    lengths = [1] * (rank - data.array.ndim) + list(data.array.shape)
    repeats = [1] * (rank - len(repeats)) + repeats
    single = data.array.reshape([item for length in lengths for item in (1, length)])
    view = np.broadcast_to(single, [item for pair in zip(repeats, lengths) for item in pair])
    copy_or_share(lowering, node.input_value(0), data, view, node.output(0))

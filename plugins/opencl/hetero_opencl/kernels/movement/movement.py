"""Data movement: operations that only rearrange elements share memory or become one strided copy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.lengths.length import Length, whole
from hetero.graph import Node, Output
from hetero.ops.movement.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.kernels.common.copies import (
    Axis,
    copy_or_share,
    merge_axes,
    shape_input,
    unsupported_movement,
)
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_types
from hetero_opencl.kernels.common.view import View, view_of
from hetero_opencl.lowering.implementation import ROWS
from hetero_opencl.lowering.lowering import Lowering


@lowers(
    ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, ops.BitCast, unsupported=unsupported_movement
)
def share_memory(lowering: Lowering, node: Node) -> None:
    lowering.share(node.output(0), node.input_value(0))


@lowers(ops.Range, ops.RangeV1, unsupported=unsupported_types)
def range_of_lengths(lowering: Lowering, node: ops.Range | ops.RangeV1) -> None:
    """Write the numbers of a Range whose length differs from shape to shape; others are folded to constants."""
    start, _, step = (shape_input(node, index).reshape(-1)[0] for index in range(3))
    if not all(isinstance(number, (int, np.integer, Length)) for number in (start, step)):
        raise UnsupportedOperationError(f"Range '{node.friendly_name}' has bounds of floating point")
    text = source("range", {"DATA": node.get_element_type()})
    lowering.launch_flat(text, "range", [node.output(0), whole(start), whole(step)], node.shape[0])


@lowers(ops.ShapeOf, ops.If)
def reject_unfolded(lowering: Lowering, node: Node) -> None:
    """Reject operations that constant folding removes from models of static shapes."""
    raise UnsupportedOperationError(f"{node.type_info.name} '{node.friendly_name}' was not folded to a constant")


@lowers(
    ops.Transpose, ops.Slice, ops.StridedSlice, ops.Split, ops.VariadicSplit, ops.Broadcast, ops.Reverse,
    unsupported=unsupported_movement,
)  # fmt: skip
def copy_view(lowering: Lowering, node: Node) -> None:
    """Lower operations whose outputs are views of the data."""
    for output, view in zip(node.outputs(), _views(node)):
        if not is_left_to_concats(lowering, output):
            copy_or_share(lowering, node.input_value(0), view, output)


def _views(node: Node) -> list[View]:
    """Return what the outputs of an operation of ``copy_view`` are of its data."""
    data = view_of(node.input_value(0))
    settings = [shape_input(node, index) for index in range(1, node.get_input_size())]
    if isinstance(node, (ops.Slice, ops.StridedSlice)):
        return [data[node.index(data.shape, settings)]]
    if isinstance(node, (ops.Split, ops.VariadicSplit)):
        return _parts(node, data, int(settings[0].reshape(-1)[0]) % data.ndim)
    if isinstance(node, ops.Transpose):
        order = settings[0].reshape(-1).tolist()
        return [data.transpose(*([axis % data.ndim for axis in order] or reversed(range(data.ndim))))]
    if isinstance(node, ops.Reverse):
        axes = np.flatnonzero(settings[0]) if node.mode == "mask" else settings[0]
        return [data.flip([axis % data.ndim for axis in axes.reshape(-1).tolist()])]
    if len(settings) > 1:  # the axes of the output that those of the data are
        shape = [1] * len(node.output(0).shape)
        for axis, length in zip(settings[1].reshape(-1).tolist(), data.shape):
            shape[axis] = length
        data = data.reshape(*shape)
    return [data.broadcast_to(node.output(0).shape)]


def _parts(node: Node, data: View, axis: int) -> list[View]:
    views, begin = [], 0
    for output in node.outputs():
        end = begin + output.shape[axis]
        views.append(data[(*[slice(None)] * axis, slice(begin, end))])
        begin = end
    return views


def is_left_to_concats(lowering: Lowering, value: Output) -> bool:
    """Return whether a slice has no buffer: the Concats that read it copy it to its place from the data."""
    readers = [target.node for target in value.get_target_inputs()]
    if not isinstance(value.node, (ops.Slice, ops.StridedSlice)) or not math.prod(value.shape):
        return False
    if any(not isinstance(node, ops.Concat) or lowering.layout(node.output(0)) != ROWS for node in readers):
        return False
    view = sliced_view(value)
    return all(rows_in(view, node.attribute_values()["axis"] % view.ndim) is not None for node in readers)


def sliced_view(value: Output) -> View:
    """Return the view of the data of a Slice or StridedSlice that is the slice."""
    return _views(value.node)[0]


def rows_in(view: View, axis: int) -> int | None:
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
    if data.size:
        blocks: Any = data  # a View has the methods of an array that these functions use
        if isinstance(node, ops.DepthToSpace):
            blocks = depth_to_space_blocks(node, blocks)
        else:
            blocks = space_to_depth_blocks(node, blocks)
        copy_or_share(lowering, node.input_value(0), blocks, node.output(0))


@lowers(ops.Tile, unsupported=unsupported_movement)
def tile(lowering: Lowering, node: ops.Tile) -> None:
    """Split each axis in two: the repeats, with stride 0, and the elements."""
    data, repeats = view_of(node.input_value(0)), np.maximum(shape_input(node, 1), 0).reshape(-1).tolist()
    rank = max(data.ndim, len(repeats))
    lengths = [1] * (rank - data.ndim) + list(data.shape)
    repeats = [1] * (rank - len(repeats)) + repeats
    single = data.reshape(*(item for length in lengths for item in (1, length)))
    view = single.broadcast_to([item for pair in zip(repeats, lengths) for item in pair])
    copy_or_share(lowering, node.input_value(0), view, node.output(0))

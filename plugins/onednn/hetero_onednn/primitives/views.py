"""Operations that select elements: views of the same memory, copied only where a layout does not allow that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hetero import ops
from hetero.graph import Node, Output, constant_array, is_constant
from hetero.ops.movement.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.ops.movement.slicing import split_axis
from hetero_onednn.library.api import FORWARD_INFERENCE, Argument
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import DATA_TYPES, ELEMENT_SIZES, extended, plain, strided
from hetero_onednn.library.primitive import describe
from hetero_onednn.lowering import Lowering, unsupported
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.movement import joined, reshaped
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
from hetero_onednn.program import Value

# Returns a view of an array.
Select = Callable[[np.ndarray], np.ndarray]


def view(lowering: Lowering, data: Output, select: Select, reader: Node, is_plain: bool = False) -> Value | None:
    """Return the elements that ``select`` selects; None if strides do not say where they are.

    ``is_plain``: whether they must be selected from row-major memory.
    """
    value = lowering.value(data, reader=reader)
    if is_plain or not value.descriptor.is_strided or value.descriptor.offset:
        value = lowering.plain(data, reader)
    descriptor = value.descriptor
    item = np.dtype(f"V{ELEMENT_SIZES[descriptor.data_type]}")
    # Only its shape and its strides matter; the elements are not read.
    whole = as_strided(np.empty(1, item), descriptor.dims, [step * item.itemsize for step in descriptor.strides])
    if not data.shape:
        whole = whole.reshape(())
    part = select(whole)
    if any(step < 0 for step in part.strides) or not np.may_share_memory(part, whole):
        return None
    steps = [step // item.itemsize for step in part.strides] or [1]
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return Value(value.buffer, strided(extended(part.shape), descriptor.data_type, steps), value.offset + offset)


def _unsupported_slice(node: ops.Slice | ops.StridedSlice) -> str | None:
    if node.get_input_size() > 3:
        steps = constant_array(node.input_value(3))
        if steps is None or (steps < 0).any():
            return "its steps are not constants, or negative"
    return type_reason(node, DATA_TYPES, inputs=1) or rank_reason(node, 1)


@lowers(ops.Slice, ops.StridedSlice, unless=_unsupported_slice)
def slicing(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.main
    bounds = [constant_array(value) for value in operation.inputs[1:]]
    index = node.index(operation.inputs[0].shape, bounds)
    selection = view(lowering, operation.inputs[0], lambda array: array[(*index, ...)], operation.node)
    if selection is None:
        raise unsupported(operation, "its elements are in reverse order")
    lowering.define(operation.result, selection)


def _unsupported_split(node: Node) -> str | None:
    if any(not is_constant(value) for value in node.input_values()[1:]):
        return "its axis and lengths are not constants"
    return type_reason(node, DATA_TYPES, inputs=1) or rank_reason(node, 1)


@lowers(ops.Split, ops.VariadicSplit, unless=_unsupported_split)
def splitting(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, data = operation.main, operation.inputs[0]
    axis = split_axis(node)
    assert axis is not None
    begin = 0
    for output in node.outputs():
        length = output.shape[axis]
        if output.get_target_inputs() and 0 not in output.shape:
            lowering.define(output, _part(lowering, operation, data, axis, begin, length))
        begin += length


def _part(lowering: Lowering, operation: PrimitiveOperation, data: Output, axis: int, begin: int, length: int) -> Value:
    """Return elements from ``begin`` on along an axis."""
    value = lowering.value(data, reader=operation.node)
    if not value.descriptor.is_strided:
        shape, offsets = list(data.shape), [0] * len(data.shape)
        shape[axis], offsets[axis] = length, begin
        if (part := value.descriptor.part(shape, offsets)) is not None:
            return Value(value.buffer, part, value.offset)
    index = (*[slice(None)] * axis, slice(begin, begin + length))
    selection = view(lowering, data, lambda array: array[index], operation.node)
    assert selection is not None
    return selection


@lowers(ops.DepthToSpace, ops.SpaceToDepth, unless=unsupported_unless(DATA_TYPES, least=3, most=5))
def block_move(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    move: Any = depth_to_space_blocks if isinstance(node, ops.DepthToSpace) else space_to_depth_blocks
    # Axes of row-major memory can be split; their order is then changed by one copy.
    selection = view(lowering, operation.inputs[0], lambda array: move(node, array), node, is_plain=True)
    assert selection is not None
    copy = lowering.reordered(selection, plain(selection.descriptor.dims, selection.descriptor.data_type), node)
    lowering.define(result, Value(copy.buffer, lowering.plain_layout(result)))


def _unsupported_gather(node: ops.Gather) -> str | None:
    indices, axis = (constant_array(value) for value in node.input_values()[1:3])
    if indices is None or axis is None or node.batch_dims:
        return "its indices are not constants, or have batches"
    if _shuffled_groups(indices):
        return type_reason(node, inputs=1) or rank_reason(node, 2)
    if indices.ndim > 1 or not 0 < len(_runs(indices)) <= MAX_RUNS:
        return f"its indices are not at most {MAX_RUNS} runs of neighbors"
    return type_reason(node, DATA_TYPES, inputs=1) or rank_reason(node, 1)


def _runs(indices: np.ndarray) -> list[tuple[int, int]]:
    """Return the first index and the length of each run of consecutive indices."""
    runs: list[tuple[int, int]] = []
    for index in indices.reshape(-1).tolist():
        if runs and sum(runs[-1]) == index:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((index, 1))
    return runs


@lowers(ops.Gather, unless=_unsupported_gather)
def gather(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result, data = operation.main, operation.result, operation.inputs[0]
    indices, axes = (constant_array(value) for value in operation.inputs[1:3])
    assert indices is not None and axes is not None
    axis, length = int(axes.reshape(-1)[0]) % len(data.shape), data.shape[int(axes.reshape(-1)[0])]
    if groups := _shuffled_groups(indices):
        return _shuffle(lowering, operation, axis, groups)
    runs = _runs(np.where(indices < 0, indices + length, indices))
    values = [_part(lowering, operation, data, axis, begin, count) for begin, count in runs]
    value = values[0] if len(values) == 1 else joined(lowering, operation, values, axis)
    if indices.ndim == 0:
        value = reshaped(lowering, value, extended(result.shape), node)
    lowering.define(result, value)


def _shuffled_groups(indices: np.ndarray) -> int | None:
    """Return the number of groups of a channel shuffle that has these indices, None if it is none."""
    count = indices.size
    if indices.ndim != 1 or count < 4 or indices[0]:
        return None
    length = int(indices[1])  # of a group
    if length < 2 or count % length or length == count:
        return None
    is_shuffle = np.array_equal(np.arange(count).reshape(-1, length).T.reshape(-1), indices)
    return count // length if is_shuffle else None


def _shuffle(lowering: Lowering, operation: PrimitiveOperation, axis: int, groups: int) -> None:
    node = operation.main
    source = lowering.dense(operation.inputs[0], node)
    layout = source.descriptor
    size = layout.dims[axis] // groups
    descriptor = describe("shuffle_forward", FORWARD_INFERENCE, layout, layout, axis, size, Attributes())
    lowering.define(operation.result, lowering.execute(node, descriptor, {Argument.src: source}))


#: A Gather of more runs is left to devices that can gather elements.
MAX_RUNS = 64

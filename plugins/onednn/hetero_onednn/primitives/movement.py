"""Operations that change the shape or type of data, join or pad it, or select elements as views of the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output, constant_array, is_constant
from hetero.ops.movement.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.ops.movement.slicing import split_axis
from hetero_onednn.keep_nan import Finite
from hetero_onednn.library.api import FORWARD_INFERENCE, Argument, DataType, OneDnnError
from hetero_onednn.library.primitive import (
    DATA_TYPES,
    ELEMENT_SIZES,
    Attributes,
    channels_last,
    describe,
    describe_reorder,
    extended,
    ordered,
    plain,
    strided,
)
from hetero_onednn.lowering import Lowering, PrimitiveOperation, unsupported
from hetero_onednn.primitives.elementwise import elementwise
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
from hetero_onednn.program import Buffer, Value
from hetero_onednn.quantization import is_quantizing

_unsupported_reshaping = unsupported_unless(DATA_TYPES, inputs=1)


@lowers(ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, unless=_unsupported_reshaping)
def reshaping(lowering: Lowering, operation: PrimitiveOperation) -> None:
    value = lowering.value(operation.inputs[0], reader=operation.node)
    lowering.define(operation.result, reshaped(lowering, value, extended(operation.result.shape), operation.node))


@lowers(Finite, unless=unsupported_unless())
def finite(lowering: Lowering, operation: PrimitiveOperation) -> None:
    value = lowering.value(operation.inputs[0], reader=operation.node)
    lowering.check(value)
    lowering.define(operation.result, value)


def reshaped(lowering: Lowering, value: Value, shape: Sequence[int], reader: Node) -> Value:
    """Return the memory of a value in another shape; it is copied only if its layout does not allow that."""
    descriptor = value.descriptor.reshaped(shape)
    if descriptor is None:
        value = lowering.reordered(value, plain(value.descriptor.dims, value.descriptor.data_type), reader)
        descriptor = plain(shape, value.descriptor.data_type)
    return Value(value.buffer, descriptor, value.offset)


def _unsupported_transpose(node: ops.Transpose) -> str | None:
    if not is_constant(node.input_value(1)):
        return "its order is not a constant"
    return _unsupported_reshaping(node)


@lowers(ops.Transpose, unless=_unsupported_transpose)
def transpose(lowering: Lowering, operation: PrimitiveOperation) -> None:
    order = constant_array(operation.inputs[1])
    assert order is not None  # after specialization
    axes = order.reshape(-1).tolist() or list(reversed(range(len(operation.result.shape))))
    value = lowering.value(operation.inputs[0], reader=operation.node)
    descriptor = value.descriptor.transposed(axes) if axes else value.descriptor
    lowering.define(operation.result, Value(value.buffer, descriptor, value.offset))


@lowers(ops.Concat, unless=unsupported_unless(DATA_TYPES, least=1))
def concat(lowering: Lowering, operation: PrimitiveOperation) -> None:
    axis = operation.main.axis % len(operation.result.shape)
    parts = [value for value in operation.inputs if value.shape[axis]]
    values = [lowering.stored_value(value, operation.node) for value in parts]
    lowering.define(operation.result, joined(lowering, operation, values, axis))


def joined(lowering: Lowering, operation: PrimitiveOperation, values: Sequence[Value], axis: int) -> Value:
    """Return values joined along an axis."""
    # All in the layout of the largest dense one: otherwise only the reference implementation takes them.
    dense = [value.descriptor for value in values if value.descriptor.is_dense]
    largest = max(dense, key=lambda descriptor: descriptor.byte_size, default=None)
    if largest is None:
        largest = plain(values[0].descriptor.dims, values[0].descriptor.data_type)
    if largest.is_strided and largest.strides[axis] * largest.dims[axis] < _SHORT_RUN:
        # Copies of short runs are slow: the axis becomes the outermost one in memory.
        others = [other for other in largest.axes_in_memory or () if other != axis]
        largest = ordered(largest.dims, largest.data_type, [axis, *others])
    layouts = [largest.resized(value.descriptor.dims) for value in values]
    values = [
        Value(value.buffer, layout, value.offset)
        if value.descriptor.same_places(layout)
        else lowering.reordered(value, layout, operation.node)
        for value, layout in zip(values, layouts)
    ]
    shape = list(values[0].descriptor.dims)
    shape[axis] = sum(value.descriptor.dims[axis] for value in values)
    sources = [value.descriptor for value in values]
    target = largest.resized(shape)
    descriptor = describe("concat", target, len(values), axis, sources, Attributes())
    arguments = {Argument.multiple_src + index: value for index, value in enumerate(values)}
    return lowering.execute(operation.node, descriptor, arguments)


# The number of elements that `concat` copies at a time fast.
_SHORT_RUN = 16

# The types between which a reorder converts as Convert does: it rounds floats to integers, which Convert cuts off.
_INTEGERS = (Type.i32, Type.i8, Type.u8)
_FLOATS = (Type.f32, Type.f16, Type.bf16)


def _unsupported_convert(node: ops.Convert) -> str | None:
    source, target = node.get_input_element_type(0), node.get_output_element_type(0)
    if source in (*_INTEGERS, *_FLOATS) and target in _FLOATS:
        return rank_reason(node)
    if is_quantizing(node):
        return rank_reason(node)
    return f"oneDNN does not convert {source} to {target} as Convert does"


@lowers(ops.Convert, unless=_unsupported_convert)
def convert(lowering: Lowering, operation: PrimitiveOperation) -> None:
    if operation.epilogue:
        return elementwise(lowering, operation)
    value, target = lowering.value(operation.inputs[0], reader=operation.node), lowering.data_type(operation.result)
    # From which other types there are reorders depends on the processor.
    for kind in (DataType.f32, target):
        if value.descriptor.data_type not in (kind, target):
            value = lowering.reordered(value, value.descriptor.resized(value.descriptor.dims, kind), operation.node)
    lowering.define(operation.result, value)


def _unsupported_pad(node: ops.Pad) -> str | None:
    if node.pad_mode != "constant":
        return f"oneDNN does not pad by {node.pad_mode}"
    pads = [constant_array(value) for value in node.input_values()[1:3]]
    if any(array is not None and (array < 0).any() for array in pads):
        return "oneDNN does not pad by negative amounts"
    if node.get_input_size() > 3 and constant_array(node.input_value(3)) is None:
        return "the number that it pads with is not a constant"
    return type_reason(node, inputs=1) or rank_reason(node, 1)


@lowers(ops.Pad, ops.PadV1, unless=_unsupported_pad)
def pad(lowering: Lowering, operation: PrimitiveOperation) -> None:
    """Copy the data into memory that holds the padding from the start."""
    node, result, data = operation.main, operation.result, operation.inputs[0]
    begins, ends = (constant_array(value) for value in operation.inputs[1:3])
    assert begins is not None and ends is not None
    if (begins < 0).any() or (ends < 0).any():
        raise unsupported(operation, "its padding is negative")
    value = constant_array(operation.inputs[3]) if len(operation.inputs) > 3 else None
    number = 0.0 if value is None else float(value.reshape(-1)[0])
    source = lowering.dense(data, node)
    own = source.descriptor
    # Elements of blocks beyond the channels must be zeros, and copies to parts of blocks are slow.
    layout = own.resized(result.shape) if own.is_strided else channels_last(result.shape, own.data_type)
    inside = layout.part(extended(data.shape), begins.reshape(-1).tolist())
    assert inside is not None
    kind = np.float32 if layout.data_type is DataType.f32 else Type.bf16.to_dtype()
    buffer = Buffer(layout.byte_size, initial=np.array(number, kind))
    target = Value(buffer, inside)
    descriptor = describe_reorder(source.descriptor, inside)
    lowering.run(node, descriptor, {Argument.src: source, Argument.dst: target})
    lowering.define(result, Value(buffer, layout))


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
    lowering.define(operation.result, _selected(lowering, operation, (*index, ...)))


def _selected(lowering: Lowering, operation: PrimitiveOperation, index: tuple[Any, ...]) -> Value:
    """Return the elements at an index."""
    data = operation.inputs[0]
    try:
        selection = view(lowering, data, lambda array: array[index], operation.node)
    except OneDnnError:
        # The steps do not divide the length of an axis, so that a step leads beyond a row: the last elements are apart.
        return _selected_in_parts(lowering, operation, index)
    if selection is None:
        raise unsupported(operation, "its elements are in reverse order")
    return selection


def _selected_in_parts(lowering: Lowering, operation: PrimitiveOperation, index: tuple[Any, ...]) -> Value:
    place, ranges = next(
        (place, range(*part.indices(length)))
        for place, (part, length) in enumerate(zip(index, operation.inputs[0].shape))
        if isinstance(part, slice) and part.step not in (None, 1) and len(range(*part.indices(length))) > 1
    )
    parts = []
    for piece in (ranges[:-1], ranges[-1:]):
        step = piece.step if len(piece) > 1 else 1
        one = slice(piece[0], piece[-1] + 1, step)
        parts.append(_selected(lowering, operation, (*index[:place], one, *index[place + 1 :])))
    axis = place - sum(not isinstance(part, slice) for part in index[:place])
    return joined(lowering, operation, parts, axis)


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
        return type_reason(node, (Type.f32, Type.i8, Type.u8), inputs=1) or rank_reason(node, 2)
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
    node, data = operation.main, operation.inputs[0]
    source = lowering.dense(data, node)
    layout = source.descriptor
    size = layout.dims[axis] // groups
    if data.element_type in _INTEGERS and (order := layout.axes_in_memory) is not None:
        # `shuffle` has only a slow implementation for integers: they are copied with the axis as two.
        split = [*layout.dims[:axis], groups, size, *layout.dims[axis + 1 :]]
        moved = view(lowering, data, lambda array: array.reshape(split).swapaxes(axis, axis + 1), node)
        assert moved is not None
        places = [place for own in order for place in ((axis, axis + 1) if own == axis else (own + (own > axis),))]
        copy = lowering.reordered(moved, ordered(moved.descriptor.dims, layout.data_type, places), node)
        return lowering.define(operation.result, Value(copy.buffer, layout))
    descriptor = describe("shuffle_forward", FORWARD_INFERENCE, layout, layout, axis, size, Attributes())
    lowering.define(operation.result, lowering.execute(node, descriptor, {Argument.src: source}))


#: A Gather of more runs is left to devices that can gather elements.
MAX_RUNS = 64

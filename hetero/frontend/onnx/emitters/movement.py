"""Operations that move, repeat and join elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, emit, emitter, write_row
from hetero.ops.checks import exact_value


@emitter(ops.Reshape)
def reshape(node: NodeWriter) -> str:
    shape = node.vector(1)
    has_zero = not isinstance(shape, np.ndarray) or not shape.all()
    return node.add("Reshape", node.input(0), shape, allowzero=1 if has_zero and not node.op.special_zero else None)


@emitter(ops.Squeeze)
def squeeze(node: NodeWriter) -> str:
    if not node.op.has_input("axes"):
        return node.add("Squeeze", node.input(0))
    if exact_value(node.op.input_value(1)) is None and not node.op.allow_axis_skip:
        return node.add("Squeeze", node.input(0), node.vector(1))
    # Axes that are not of length 1 stay; ONNX does not accept them.
    shape = node.shape(0)
    axes = sorted({axis for axis in node.axes(1, len(shape)) if shape[axis] in (1, None)})
    if node.op.allow_axis_skip and any(shape[axis] is None for axis in axes):
        raise NotInOnnx("allow_axis_skip and an axis of unknown length")
    return node.add("Squeeze", node.input(0), axes) if axes or not node.numbers(1) else node.input(0)


emit(
    {
        ops.Unsqueeze: lambda node: node.add("Unsqueeze", node.input(0), node.vector(1)),
        ops.ShapeOf: lambda node: node.cast(node.add("Shape", node.input(0)), node.op.output_type, Type.i64),
        ops.Transpose: lambda node: node.transpose(node.input(0), node.numbers(1) or range(node.rank(0))[::-1]),
        ops.Split: lambda node: node.add_outputs(
            node.op.num_splits, "Split", node.input(0), axis=node.numbers(1)[0], num_outputs=node.op.num_splits
        ),
    }
)


@emitter(ops.VariadicSplit)
def variadic_split(node: NodeWriter) -> Sequence[str]:
    (axis,) = node.numbers(1)
    lengths: Argument = node.vector(2)
    if isinstance(lengths, np.ndarray) and (lengths < 0).any():
        total = node.shape(0)[axis]
        if total is not None:
            lengths = np.where(lengths < 0, total - lengths[lengths >= 0].sum(), lengths)
        else:
            rest = node.add("Sub", node.lengths(node.input(0), [axis]), lengths[lengths >= 0].sum(keepdims=True))
            lengths = node.add("Where", lengths < 0, rest, lengths)
    elif not isinstance(lengths, np.ndarray):
        # Beside one length of -1, the others sum to 1 more than all.
        others = node.add("Add", node.add("ReduceSum", lengths), [1])
        rest = node.add("Sub", node.lengths(node.input(0), [axis]), others)
        lengths = node.add("Where", node.add("Less", lengths, [0]), rest, lengths)
    return node.add_outputs(node.op.get_output_size(), "Split", node.input(0), lengths, axis=axis)


@emitter(ops.Broadcast)
def broadcast(node: NodeWriter) -> str:
    target = node.vector(1)
    if node.op.broadcast_spec != "explicit":
        return node.add("Expand", node.input(0), target)
    axes, rank = node.numbers(2), node.op.get_output_partial_shape(0).rank
    if rank.is_dynamic:
        raise NotInOnnx("a result of unknown rank")
    others = [axis for axis in range(rank.get_length()) if axis not in axes]
    return node.add("Expand", node.add("Unsqueeze", node.input(0), others), target)


@emitter(ops.Tile)
def tile(node: NodeWriter) -> str:
    """ONNX takes as many repeats as the data has dimensions."""
    repeats, rank, data = node.vector(1), node.rank(0), node.input(0)
    (count,) = repeats.shape if isinstance(repeats, np.ndarray) else node.shape(1)
    if count is None:
        raise NotInOnnx("an unknown number of repeats")
    if count < rank:
        repeats = node.add("Concat", [1] * (rank - count), repeats, axis=0)
    elif count > rank:
        data = node.add("Unsqueeze", data, list(range(count - rank)))
    return node.add("Tile", data, repeats)


@emitter(ops.Pad)
def pad(node: NodeWriter) -> str:
    mode, begin, end = node.op.pad_mode, node.vector(1), node.vector(2)
    if mode == "symmetric":
        return _pad_symmetrically(node)
    pads: Argument = (
        node.add("Concat", begin, end, axis=0)
        if isinstance(begin, str) or isinstance(end, str)
        else (np.concatenate([begin, end]))
    )
    value = node.input(3) if mode == "constant" and node.op.has_input("arg_pad_value") else None
    return node.add("Pad", node.input(0), pads, value, mode=mode)


def _pad_symmetrically(node: NodeWriter) -> str:
    """Append reversed slices at both ends of each axis."""
    value = node.input(0)
    last = np.iinfo(np.int64).min
    for axis, (begin, end) in enumerate(zip(node.numbers(1), node.numbers(2))):
        if min(begin, end) < 0:
            raise NotInOnnx("pad_mode symmetric and negative pads")
        if begin or end:
            before = node.add("Slice", value, [begin - 1], [last], [axis], [-1])
            after = node.add("Slice", value, [-1], [-end - 1], [axis], [-1])
            value = node.add("Concat", *([before] if begin else []), value, *([after] if end else []), axis=axis)
    return value


@emitter(ops.OneHot)
def one_hot(node: NodeWriter) -> str:
    """ONNX counts negative indices from the end; to be ignored, they are replaced by an index out of range."""
    if not node.rank(0):
        raise NotInOnnx("a scalar")
    indices, depth = node.input(0), node.converted(1, node.kind(0))
    if node.op.negative_indices_mode == "ignore_negative":
        indices = node.add("Where", node.add("Less", indices, node.number(0)), depth, indices)
    on, off = (node.reshaped(index, [1]) for index in (2, 3))
    return node.add("OneHot", indices, depth, node.add("Concat", off, on, axis=0), axis=node.op.axis)


@emitter(ops.DepthToSpace)
def depth_to_space(node: NodeWriter) -> str | Sequence[str]:
    if node.rank(0) == 4:
        return write_row(node)
    block = node.op.block_size
    batch, channels, *spatial = node.static_shape(0)
    count = len(spatial)
    depth = channels // block**count
    split = [*[block] * count, depth] if node.op.mode == "blocks_first" else [depth, *[block] * count]
    blocks, channel = (1, 1 + count) if node.op.mode == "blocks_first" else (2, 1)
    order = [0, channel, *(axis for i in range(count) for axis in (2 + count + i, blocks + i))]
    parts = node.transpose(node.add("Reshape", node.input(0), [batch, *split, *spatial]), order)
    return node.add("Reshape", parts, [batch, depth, *(length * block for length in spatial)])


@emitter(ops.SpaceToDepth)
def space_to_depth(node: NodeWriter) -> str | Sequence[str]:
    block = node.op.block_size
    if node.rank(0) == 4 and node.op.mode == "blocks_first":
        return write_row(node)
    batch, channels, *spatial = node.static_shape(0)
    count = len(spatial)
    split = [number for length in spatial for number in (length // block, block)]
    positions, offsets = ([2 + 2 * i + k for i in range(count)] for k in (0, 1))
    order = [0, *offsets, 1, *positions] if node.op.mode == "blocks_first" else [0, 1, *offsets, *positions]
    parts = node.transpose(node.add("Reshape", node.input(0), [batch, channels, *split]), order)
    return node.add("Reshape", parts, [batch, channels * block**count, *(length // block for length in spatial)])


@emitter(ops.ShuffleChannels)
def shuffle_channels(node: NodeWriter) -> str:
    rank, group = node.rank(0), node.op.group
    axis = node.op.axis % rank
    # The lengths of the other axes are kept by 0, which copies a length at the same position only.
    before, length, after = node.shape(0)[:axis], node.shape(0)[axis], node.shape(0)[axis + 1 :]
    if length is None or None in after:
        raise NotInOnnx("an input of dynamic shape")
    trailing = [each for each in after if each is not None]
    parts = node.add("Reshape", node.input(0), [*[0] * len(before), group, length // group, *trailing])
    order = list(range(rank + 1))
    order[axis], order[axis + 1] = axis + 1, axis
    return node.add("Reshape", node.transpose(parts, order), [*[0] * len(before), length, *trailing])


@emitter(ops.BatchToSpace)
def batch_to_space(node: NodeWriter) -> str:
    shape, block = node.static_shape(0), node.numbers(1)
    begin, end = node.numbers(2), node.numbers(3)
    rank, batch = len(shape), shape[0] // int(np.prod(block))
    parts = node.add("Reshape", node.input(0), [*block[1:], batch, *shape[1:]])
    order = [rank - 1, *(axis for i in range(rank - 1) for axis in (rank + i, i))]
    lengths = [length * size for length, size in zip(shape[1:], block[1:])]
    joined = node.add("Reshape", node.transpose(parts, order), [batch, *lengths])
    stops = [length - crop for length, crop in zip(lengths, end[1:])]
    return node.add("Slice", joined, begin[1:], stops, list(range(1, rank)))


@emitter(ops.SpaceToBatch)
def space_to_batch(node: NodeWriter) -> str:
    shape, block = node.static_shape(0), node.numbers(1)
    begin, end = node.numbers(2), node.numbers(3)
    rank = len(shape)
    padded = node.add("Pad", node.input(0), [*begin, *end])
    lengths = [length + b + e for length, b, e in zip(shape, begin, end)]
    split = [number for length, size in zip(lengths, block) for number in (length // size, size)]
    order = [*(2 * i + 1 for i in range(rank)), *(2 * i for i in range(rank))]
    parts = node.transpose(node.add("Reshape", padded, split), order)
    counts = [length // size for length, size in zip(lengths, block)]
    return node.add("Reshape", parts, [counts[0] * int(np.prod(block)), *counts[1:]])


@emitter(ops.Reverse)
def reverse(node: NodeWriter) -> str:
    axes = node.numbers(1)
    if node.op.mode == "mask":
        axes = [axis for axis, flag in enumerate(axes) if flag]
    if not axes:
        return node.input(0)
    count = len(axes)
    return node.add("Slice", node.input(0), [-1] * count, [np.iinfo(np.int64).min] * count, axes, [-1] * count)


@emitter(ops.ReverseSequence)
def reverse_sequence(node: NodeWriter) -> str:
    """ONNX has the batch and the time in the first two axes."""
    rank, op = node.rank(0), node.op
    batch, time = op.batch_axis % rank, op.seq_axis % rank
    lengths, order = (
        node.converted(1, Type.i64),
        [batch, time, *(axis for axis in range(rank) if axis not in (batch, time))],
    )
    if {batch, time} == {0, 1}:
        return node.add("ReverseSequence", node.input(0), lengths, batch_axis=batch, time_axis=time)
    swapped = node.transpose(node.input(0), order)
    result = node.add("ReverseSequence", swapped, lengths, batch_axis=0, time_axis=1)
    return node.transpose(result, np.argsort(order).tolist())


@emitter(ops.Roll)
def roll(node: NodeWriter) -> str:
    value, shape, shifts = node.input(0), node.shape(0), node.numbers(1)
    axes = node.numbers(2)
    for axis, shift in zip(axes, shifts * len(axes) if len(shifts) == 1 else shifts):
        length = shape[axis]
        if length is None:
            raise NotInOnnx("an input of dynamic shape")
        if length and shift % length:
            start = length - shift % length
            parts = [node.add("Slice", value, [a], [b], [axis]) for a, b in ((start, length), (0, start))]
            value = node.add("Concat", *parts, axis=axis)
    return value

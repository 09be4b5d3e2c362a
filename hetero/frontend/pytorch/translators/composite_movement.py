"""Movement of elements by operators that torch decomposes into core ATen."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.creation import diagonal_offsets
from hetero.frontend.pytorch.translators.movement import promoted_tensors
from hetero.frontend.pytorch.translators.windows import batched
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, normalize_axis, rank_of, scalar_like
from hetero.graph import Output, as_output
from hetero.system.errors import FrontendError


@translator("aten::pixel_shuffle", "aten::pixel_unshuffle")
def pixel_shuffle(node: TorchNodeContext) -> Translation:
    """Move elements between the channels and the axes of images [N, C, H, W] or [C, H, W]."""
    value, restored = batched(node.get_input("self"), 2)
    if rank_of(value) != 4:
        raise FrontendError("it shuffles images [N, C, H, W] or [C, H, W]")
    if node.get_op_type() == "aten::pixel_shuffle":
        return restored(ops.DepthToSpace(value, "depth_first", node.get_attribute("upscale_factor")).output(0))
    return restored(ops.SpaceToDepth(value, "depth_first", node.get_attribute("downscale_factor")).output(0))


@translator("aten::channel_shuffle")
def channel_shuffle(node: TorchNodeContext) -> Translation:
    return ops.ShuffleChannels(node.get_input("self"), 1, node.get_attribute("groups"))


@translator("aten::movedim", "aten::moveaxis", "aten::swapaxes", "aten::swapdims")
def move_axes(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    rank = rank_of(value)
    names = ("source", "destination") if "source" in node.arguments else tuple(node.arguments)[1:]
    given = [node.get_attribute(name) for name in names]
    from_axes, to_axes = (
        [normalize_axis(axis, rank) for axis in ([one] if isinstance(one, int) else one)] for one in given
    )
    order = list(range(rank))
    if "swap" in node.get_op_type():
        order[from_axes[0]], order[to_axes[0]] = order[to_axes[0]], order[from_axes[0]]
    else:
        order = [axis for axis in order if axis not in from_axes]
        for to, axis in sorted(zip(to_axes, from_axes)):
            order.insert(to, axis)
    return ops.Transpose(value, int64(order))


@translator("aten::narrow")
def narrow(node: TorchNodeContext) -> Translation:
    begin = node.integers("start")
    end = ops.Add(begin, node.integers("length"))
    return ops.Slice(node.get_input("self"), begin, end, int64([1]), int64([node.get_attribute("dim")]))


@translator("aten::tile")
def tile(node: TorchNodeContext) -> Translation:
    return ops.Tile(node.get_input("self"), node.integers("dims"))


@translator("aten::roll")
def roll(node: TorchNodeContext) -> Translation:
    value, shifts = node.get_input("self"), node.get_attribute("shifts")
    axes = node.get_attribute("dims", [])
    if axes:
        return ops.Roll(value, int64(shifts), int64(axes))
    flat = ops.Roll(ops.Reshape(value, int64([-1]), False), int64(shifts), int64([0]))
    return ops.Reshape(flat, ops.ShapeOf(value), False)


@translator("aten::atleast_1d", "aten::atleast_2d", "aten::atleast_3d")
def at_least(node: TorchNodeContext) -> Translation:
    rank = int(node.get_op_type()[-2])
    return [_at_least(value, rank) for value in (node.tensors("tensors") or [node.get_input("self")])]


def _at_least(value: Output, rank: int) -> Output:
    """Return a value of at least this rank, with new axes as torch.atleast_1d and the others place them."""
    axes = {(0, 1): [0], (0, 2): [0, 1], (1, 2): [0], (0, 3): [0, 1, 2], (1, 3): [0, 2], (2, 3): [2]}
    added = axes.get((rank_of(value), rank))
    return ops.Unsqueeze(value, int64(added)).output(0) if added else value


@translator("aten::hstack", "aten::vstack", "aten::dstack", "aten::column_stack")
def stack_along(node: TorchNodeContext) -> Translation:
    tensors = promoted_tensors(node)
    match node.get_op_type():
        case "aten::hstack":
            parts, axis = [_at_least(part, 1) for part in tensors], min(rank_of(tensors[0]), 2) - 1
        case "aten::vstack":
            parts, axis = [_at_least(part, 2) for part in tensors], 0
        case "aten::dstack":
            parts, axis = [_at_least(part, 3) for part in tensors], 2
        case _:
            columns = int64([-1, 1])
            parts = [ops.Reshape(one, columns, False).output(0) if rank_of(one) < 2 else one for one in tensors]
            axis = 1
    return ops.Concat(parts, max(axis, 0))


@translator("aten::hsplit", "aten::vsplit", "aten::dsplit")
def split_along(node: TorchNodeContext) -> Translation:
    """Split into the parts whose lengths the program says."""
    value = node.get_input("self")
    axis = {"hsplit": min(rank_of(value), 2) - 1, "vsplit": 0, "dsplit": 2}[node.get_op_type().removeprefix("aten::")]
    shapes = [node.output_tensor(at).partial_shape for at in range(node.get_output_size())]
    if any(shape[axis].is_dynamic for shape in shapes):
        raise FrontendError("the lengths of the parts must be known")
    lengths = [shape[axis].get_length() for shape in shapes]
    return ops.VariadicSplit(value, int64(axis), int64(lengths))


@translator("aten::fliplr", "aten::flipud")
def flip_matrix(node: TorchNodeContext) -> Translation:
    axis = int64([node.get_op_type() == "aten::fliplr"])
    return ops.Slice(node.get_input("self"), int64([-1]), int64([-(2**63) + 1]), int64([-1]), axis)


@translator("aten::ravel")
def ravel(node: TorchNodeContext) -> Translation:
    return ops.Reshape(node.get_input("self"), int64([-1]), False)


@translator("aten::take")
def take(node: TorchNodeContext) -> Translation:
    return ops.Gather(ops.Reshape(node.get_input("self"), int64([-1]), False), node.get_input("index"), int64(0))


@translator("aten::take_along_dim")
def take_along(node: TorchNodeContext) -> Translation:
    """Gather along an axis; the other axes of both broadcast."""
    value, indices, axis = node.get_input("self"), node.get_input("indices"), node.get_attribute("dim", None)
    if axis is None:
        value, indices = (ops.Reshape(one, int64([-1]), False).output(0) for one in (value, indices))
        return ops.GatherElements(value, indices, 0)
    axis = normalize_axis(axis, rank_of(value))
    lengths = [_without(one, axis) for one in (value, indices)]
    value = ops.Broadcast(value, lengths[1], broadcast_spec="BIDIRECTIONAL").output(0)
    indices = ops.Broadcast(indices, lengths[0], broadcast_spec="BIDIRECTIONAL").output(0)
    return ops.GatherElements(value, indices, axis)


def _without(value: Output, axis: int) -> Output:
    """Return the shape of a value, with 1 for an axis."""
    parts = [axis_length(value, range(axis)), int64([1]), axis_length(value, range(axis + 1, rank_of(value)))]
    return ops.Concat(parts, 0).output(0)


@translator("aten::unfold", "aten::unfold_copy")
def unfold(node: TorchNodeContext) -> Translation:
    """Windows along an axis; their elements are the last axis."""
    value, size = node.get_input("self"), node.get_attribute("size")
    if rank_of(value) == 0:
        return ops.Reshape(value, int64([size]), False)
    axis = normalize_axis(node.get_attribute("dimension"), rank_of(value))
    return _windows(value, axis, size, node.get_attribute("step"), 1)


def _windows(value: Output, axis: int, size: int, step: int, dilation: int) -> Output:
    length = known_length(value, axis, "the length of the axis of windows")
    starts = np.arange(0, length - dilation * (size - 1), step)
    found = ops.Gather(value, int64(starts[:, None] + dilation * np.arange(size)), int64(axis))
    order = [at for at in range(rank_of(value) + 1) if at != axis + 1]
    return ops.Transpose(found, int64([*order, axis + 1])).output(0)


@translator("aten::im2col")
def image_to_columns(node: TorchNodeContext) -> Translation:
    """Windows of an image [N, C, H, W] as [N, C · elements, windows]."""
    value, size = node.get_input("self"), node.get_attribute("kernel_size")
    is_unbatched = rank_of(value) == 3
    if is_unbatched:
        value = ops.Unsqueeze(value, int64([0])).output(0)
    pads = int64([0, 0, *node.get_attribute("padding")])
    value = ops.Pad(value, pads, pads, "constant", scalar_like(value, 0)).output(0)
    for at, (step, dilation) in enumerate(zip(node.get_attribute("stride"), node.get_attribute("dilation"))):
        value = _windows(value, 2 + at, size[at], step, dilation)
    channels = known_length(value, 1, "the number of channels")
    elements = channels * size[0] * size[1]
    columns = ops.Reshape(ops.Transpose(value, int64([0, 1, 4, 5, 2, 3])), int64([0, elements, -1]), True)
    return ops.Squeeze(columns, int64([0])) if is_unbatched else columns


@translator("aten::col2im")
def columns_to_image(node: TorchNodeContext) -> Translation:
    pads = node.get_attribute("padding")
    return ops.Col2Im(
        node.get_input("self"), node.integers("output_size"), node.integers("kernel_size"),
        node.get_attribute("stride"), node.get_attribute("dilation"), pads, pads,
    )  # fmt: skip


@translator("aten::diag_embed", "aten::diagflat", "aten::diag")
def diagonal_matrix(node: TorchNodeContext) -> Translation:
    """Matrices with vectors on their diagonal; the diagonal of a matrix for diag."""
    value, offset = node.get_input("self"), node.get_attribute("diagonal", node.get_attribute("offset", 0))
    if node.get_op_type() == "aten::diagflat":
        value = ops.Reshape(value, int64([-1]), False).output(0)
    rank = rank_of(value)
    if node.get_op_type() == "aten::diag" and rank == 2:
        height, width = (known_length(value, axis, "the size of a matrix") for axis in range(2))
        indices = [(row, row + offset) for row in range(height) if 0 <= row + offset < width]
        return ops.GatherND(value, int64(np.reshape(indices, (-1, 2))))
    length = known_length(value, -1, "the length of a diagonal")
    size = int64(length + abs(offset))
    padding = int64([0] * (rank - 1) + [max(-offset, 0)]), int64([0] * (rank - 1) + [max(offset, 0)])
    rows = ops.Unsqueeze(ops.Pad(value, *padding, "constant", scalar_like(value, 0)), int64([-1]))
    matrices = ops.Select(ops.Equal(diagonal_offsets(size, size), int64(offset)), rows, scalar_like(value, 0))
    given = (node.get_attribute(name, default) for name, default in (("dim1", -2), ("dim2", -1)))
    first, second = (normalize_axis(axis, rank + 1) for axis in given)
    order = list(range(rank - 1))
    for axis, at in sorted(((first, rank - 1), (second, rank))):
        order.insert(axis, at)
    return ops.Transpose(matrices, int64(order))


@translator("aten::trace")
def trace(node: TorchNodeContext) -> Translation:
    value = node.converted("self", node.output_type())
    size = min(known_length(value, axis, "the size of a matrix") for axis in range(2))
    indices = np.repeat(np.arange(size)[:, None], 2, 1)
    return ops.ReduceSum(ops.GatherND(value, int64(indices)), int64([0]), False)


@translator("aten::broadcast_tensors")
def broadcast_tensors(node: TorchNodeContext) -> Translation:
    tensors = node.tensors("tensors")
    shape = ops.ShapeOf(tensors[0])
    for tensor in tensors[1:]:
        shape = ops.ShapeOf(ops.Broadcast(tensor, shape, broadcast_spec="BIDIRECTIONAL"))
    return [ops.Broadcast(tensor, shape) for tensor in tensors]


@translator("aten::meshgrid")
def mesh_grid(node: TorchNodeContext) -> Translation:
    """Each vector along its own axis of a grid; the first two axes are swapped for images."""
    vectors = [ops.Reshape(vector, int64([-1]), False) for vector in node.tensors("tensors")]
    count = len(vectors)
    axes = list(range(count))
    if node.get_attribute("indexing", "ij") == "xy" and count > 1:
        axes[:2] = [1, 0]
    lengths = [as_output(ops.ShapeOf(vectors[axes.index(axis)])) for axis in range(count)]
    shape = ops.Concat(lengths, 0)
    columns = [
        ops.Reshape(vector, int64([-1 if at == axis else 1 for at in range(count)]), False)
        for axis, vector in zip(axes, vectors)
    ]
    return [ops.Broadcast(column, shape) for column in columns]

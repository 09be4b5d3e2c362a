"""Shapes, joins, permutations, repetitions and padding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import pad_wrap
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import (
    axis_length,
    channels_last,
    channels_second,
    flatten,
    int64,
    normalize_axis,
    rank_of,
)
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("assign", "share_data", "print", "memcpy", "memcpy_h2d", "memcpy_d2h", "c_identity", "share_data_")
def assign(node: PaddleNodeContext) -> ConversionResult:
    return node.get_input("X" if node.has_input("X") else "In")


@translator("reshape", "reshape2")
def reshape(node: PaddleNodeContext) -> ConversionResult:
    """Reshape; 0 keeps a length, and one length may be -1."""
    shape = node.integers("shape", "ShapeTensor", "Shape")
    return ops.Reshape(node.get_input("X"), shape, True)


@translator("flatten_contiguous_range")
def flatten_range(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    rank = rank_of(value)
    if not rank:
        return ops.Reshape(value, int64([1]), False)
    first = normalize_axis(node.get_attribute("start_axis", 1), rank)
    last = normalize_axis(node.get_attribute("stop_axis", 1), rank)
    return _flattened(value, first, last)


def _flattened(value: Output, first: int, last: int) -> ConversionResult:
    rank, shape = rank_of(value), value.partial_shape
    if all(shape[axis].is_static for axis in range(last + 1, rank)):
        after = [shape[axis].get_length() for axis in range(last + 1, rank)]
        return ops.Reshape(value, int64([*[0] * first, -1, *after]), True)
    parts = [axis_length(value, range(first)), int64([-1]), axis_length(value, range(last + 1, rank))]
    return ops.Reshape(value, ops.Concat(parts, 0), False)


@translator("flatten", "flatten2")
def flatten_to_matrix(node: PaddleNodeContext) -> ConversionResult:
    """Rows from the axes before ``axis``, columns from the others."""
    return flatten(node.get_input("X"), node.get_attribute("axis", 1))


@translator("transpose", "transpose2")
def transpose(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    rank = rank_of(value)
    return ops.Transpose(value, int64([normalize_axis(axis, rank) for axis in node.get_attribute("axis")]))


@translator("squeeze", "squeeze2")
def squeeze(node: PaddleNodeContext) -> ConversionResult:
    """Remove axes of length 1; axes of other lengths stay."""
    value = node.get_input("X")
    rank, shape = rank_of(value), value.partial_shape
    given = node.known_integers("axes", "AxesTensorList", "AxesTensor", default=[])
    axes = [normalize_axis(axis, max(rank, 1)) for axis in given] or range(rank)
    if not given and any(shape[axis].is_dynamic for axis in axes):
        raise FrontendError("which axes have length 1 must be known")
    axes = [axis for axis in axes if rank and (shape[axis].is_dynamic or shape[axis].get_length() == 1)]
    return ops.Squeeze(value, int64(axes)) if axes else value


@translator("unsqueeze", "unsqueeze2")
def unsqueeze(node: PaddleNodeContext) -> ConversionResult:
    """Add axes one after the other."""
    value = node.get_input("X")
    for axis in node.known_integers("axes", "AxesTensorList", "AxesTensor"):
        value = ops.Unsqueeze(value, int64([normalize_axis(axis, rank_of(value) + 1)])).output(0)
    return value


@translator("concat")
def concat(node: PaddleNodeContext) -> ConversionResult:
    return ops.Concat(node.tensors("X"), node.known_integer("axis", "AxisTensor", default=0))


@translator("stack")
def stack(node: PaddleNodeContext) -> ConversionResult:
    axis, parts = node.get_attribute("axis", 0), node.tensors("X")
    axis = normalize_axis(axis, rank_of(parts[0]) + 1)
    return ops.Concat([ops.Unsqueeze(part, int64([axis])) for part in parts], axis)


@translator("split")
def split(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    axis = normalize_axis(node.known_integer("axis", "AxisTensor", default=0), rank_of(value))
    count = node.get_attribute("num", 0)
    if count > 0 and not node.get_attribute("sections", []):
        return {"Out": ops.Split(value, int64(axis), count)}
    lengths = node.integers("sections", "SectionsTensorList")
    return {"Out": ops.VariadicSplit(value, int64(axis), lengths)}


@translator("unstack", "unbind")
def unstack(node: PaddleNodeContext) -> ConversionResult:
    value, axis = node.get_input("X"), node.get_attribute("axis", 0)
    port = "Y" if node.get_op_type() == "unstack" else "Out"
    parts = [ops.Gather(value, int64(index), int64(axis)) for index in range(node.output_count(port))]
    return {port: parts}


@translator("expand_v2", "expand_as_v2")
def expand(node: PaddleNodeContext) -> ConversionResult:
    """Broadcast to a shape in which -1 keeps the length."""
    value = node.get_input("X")
    if node.has_input("Y"):
        return ops.Broadcast(value, ops.ShapeOf(node.get_input("Y")), broadcast_spec="BIDIRECTIONAL")
    if node.get_op_type() == "expand_v2":
        shape = node.integers("shape", "Shape", "expand_shapes_tensor")
    else:
        shape = node.integers("target_shape")
    kept = ops.Select(ops.Equal(shape, int64([-1])), int64([1]), shape)
    return ops.Broadcast(value, kept, broadcast_spec="BIDIRECTIONAL")


@translator("tile")
def tile(node: PaddleNodeContext) -> ConversionResult:
    return ops.Tile(node.get_input("X"), node.integers("repeat_times", "RepeatTimes", "repeat_times_tensor"))


@translator("expand")
def expand_times(node: PaddleNodeContext) -> ConversionResult:
    return ops.Tile(node.get_input("X"), node.integers("expand_times", "ExpandTimes", "expand_times_tensor"))


@translator("flip", "reverse")
def flip(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    axes = [normalize_axis(axis, rank_of(value)) for axis in node.known_integers("axis")]
    return ops.Reverse(value, int64(axes), "index")


@translator("roll")
def roll(node: PaddleNodeContext) -> ConversionResult:
    value, shifts = node.get_input("X"), node.integers("shifts", "ShiftsTensor")
    axes = node.get_attribute("axis", [])
    if axes:
        return ops.Roll(value, shifts, int64([normalize_axis(axis, rank_of(value)) for axis in axes]))
    flat = ops.Roll(ops.Reshape(value, int64([-1]), False), shifts, int64([0]))
    return ops.Reshape(flat, ops.ShapeOf(value), False)


@translator("pad")
def pad(node: PaddleNodeContext) -> ConversionResult:
    value, given = node.get_input("X"), np.array(node.get_attribute("paddings"), np.int64).reshape(-1, 2)
    fill = node.scalar("pad_value", "pad_value", value.element_type, 0.0)
    return ops.Pad(value, int64(given[:, 0]), int64(given[:, 1]), "constant", fill)


@translator("pad2d", "pad3d")
def pad_image(node: PaddleNodeContext) -> ConversionResult:
    """Pad the axes of an image. ``paddings`` has pairs of lengths, for ``pad3d`` from the last axis on."""
    value = node.get_input("X")
    rank, given = rank_of(value), node.known_integers("paddings", "Paddings")
    pairs = np.array(given, np.int64).reshape(-1, 2)
    if node.get_op_type() == "pad3d":
        pairs = pairs[::-1]
    layout = node.get_attribute("data_format", "NC")
    first = 1 if layout in ("NHWC", "NDHWC", "NLC") else 2
    pads = np.zeros((rank, 2), np.int64)
    pads[first : first + len(pairs)] = pairs[: rank - 2]
    mode = node.get_attribute("mode", "constant")
    if mode == "circular":
        return pad_wrap(value, *(int64(column).output(0) for column in pads.T))
    fill = node.get_attribute("value", node.get_attribute("pad_value", 0.0))
    begin, end = int64(pads[:, 0]), int64(pads[:, 1])
    mode = {"replicate": "edge"}.get(mode, mode)
    return ops.Pad(
        value, begin, end, mode, np.array(fill, value.element_type.to_dtype()) if mode == "constant" else None
    )


@translator("shape", "shape64")
def shape_of(node: PaddleNodeContext) -> ConversionResult:
    declared = node.output_variable().element_type
    default = Type.i64 if node.get_op_type() == "shape64" else Type.i32
    return ops.ShapeOf(node.get_input("Input"), (default if declared.is_dynamic() else declared).to_string())


@translator("meshgrid")
def meshgrid(node: PaddleNodeContext) -> ConversionResult:
    """Each vector along its own axis of a grid of all of them."""
    vectors = [ops.Reshape(vector, int64([-1]), False) for vector in node.tensors("X")]
    shape = ops.Concat([ops.ShapeOf(vector) for vector in vectors], 0)
    grids = [
        ops.Broadcast(
            ops.Reshape(vector, int64([-1 if at == index else 1 for at in range(len(vectors))]), False), shape
        )
        for index, vector in enumerate(vectors)
    ]
    return {"Out": grids}


@translator("pixel_shuffle")
def pixel_shuffle(node: PaddleNodeContext) -> ConversionResult:
    factor = node.get_attribute("upscale_factor", 1)
    return _channels_first(node, lambda value: ops.DepthToSpace(value, "depth_first", factor).output(0))


@translator("pixel_unshuffle")
def pixel_unshuffle(node: PaddleNodeContext) -> ConversionResult:
    factor = node.get_attribute("downscale_factor", 1)
    return _channels_first(node, lambda value: ops.SpaceToDepth(value, "depth_first", factor).output(0))


@translator("shuffle_channel", "channel_shuffle")
def shuffle_channels(node: PaddleNodeContext) -> ConversionResult:
    groups = node.get_attribute("group", node.get_attribute("groups", 1))
    return _channels_first(node, lambda value: ops.ShuffleChannels(value, 1, groups).output(0))


def _channels_first(node: PaddleNodeContext, function: Callable[[Output], Output]) -> ConversionResult:
    """Apply a function of images to an image, whose channels may come last."""
    value = node.get_input("X")
    if node.get_attribute("data_format", "NCHW") == "NHWC":
        return channels_last(function(channels_second(value)))
    return function(value)


@translator("partial_concat", "partial_sum")
def partial(node: PaddleNodeContext) -> ConversionResult:
    """Join or add the same range of columns of several matrices."""
    start, length = node.get_attribute("start_index", 0), node.get_attribute("length", -1)
    parts = []
    for value in node.tensors("X"):
        first = start if start >= 0 else start + value.partial_shape[1].get_length()
        end = np.iinfo(np.int64).max if length < 0 else first + length
        parts.append(ops.Slice(value, int64([first]), int64([end]), int64([1]), int64([1])).output(0))
    if node.get_op_type() == "partial_concat":
        return ops.Concat(parts, 1)
    total = parts[0]
    for part in parts[1:]:
        total = ops.Add(total, part).output(0)
    return total

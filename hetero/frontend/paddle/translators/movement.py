"""Shapes, joins, permutations, repetitions, padding and slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import flatten_range, pad_wrap, stack
from hetero.frontend.paddle.node_context import PaddleNodeContext, PaddleTranslator, rows, translator
from hetero.frontend.paddle.translators.creation import MAX_COMPUTED, values_of
from hetero.frontend.translation.translators import Attr, ConversionResult, Row, as_outputs
from hetero.frontend.translation.values import (
    channels_last,
    channels_second,
    convert_to,
    flatten,
    int64,
    normalize_axis,
    rank_of,
)
from hetero.graph import Constant, Node, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


@translator("assign", "share_data", "print", "memcpy", "memcpy_h2d", "memcpy_d2h", "c_identity", "share_data_")
def assign(node: PaddleNodeContext) -> ConversionResult:
    return node.get_input("X" if node.has_input("X") else "In")


rows(
    {
        # 0 keeps a length, and one length may be -1.
        **dict.fromkeys(
            ("reshape", "reshape2"),
            lambda node: ops.Reshape(node.get_input("X"), node.integers("shape", "ShapeTensor", "Shape"), True),
        ),
        "concat": lambda node: ops.Concat(node.get_inputs("X"), node.known_integer("axis", "AxisTensor", default=0)),
        "tile": lambda node: ops.Tile(
            node.get_input("X"), node.integers("repeat_times", "RepeatTimes", "repeat_times_tensor")
        ),
        "expand": lambda node: ops.Tile(
            node.get_input("X"), node.integers("expand_times", "ExpandTimes", "expand_times_tensor")
        ),
    }
)


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
    numbers = node.known_integers("axes", "AxesTensorList", "AxesTensor", default=[])
    axes = [normalize_axis(axis, max(rank, 1)) for axis in numbers] or range(rank)
    if not numbers and any(shape[axis].is_dynamic for axis in axes):
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


@translator("stack")
def stack_tensors(node: PaddleNodeContext) -> ConversionResult:
    axis, parts = node.get_attribute("axis", 0), node.get_inputs("X")
    axis = normalize_axis(axis, rank_of(parts[0]) + 1)
    return stack(parts, axis)


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
    value, pads = node.get_input("X"), np.array(node.get_attribute("paddings"), np.int64).reshape(-1, 2)
    fill = node.scalar("pad_value", "pad_value", value.element_type, 0.0)
    return ops.Pad(value, int64(pads[:, 0]), int64(pads[:, 1]), "constant", fill)


@translator("pad2d", "pad3d")
def pad_image(node: PaddleNodeContext) -> ConversionResult:
    """Pad the axes of an image. ``paddings`` has pairs of lengths, for ``pad3d`` from the last axis on."""
    value = node.get_input("X")
    rank, lengths = rank_of(value), node.known_integers("paddings", "Paddings")
    pairs = np.array(lengths, np.int64).reshape(-1, 2)
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
    vectors = [ops.Reshape(vector, int64([-1]), False) for vector in node.get_inputs("X")]
    shape = ops.Concat([ops.ShapeOf(vector) for vector in vectors], 0)
    grids = [
        ops.Broadcast(
            ops.Reshape(vector, int64([-1 if at == index else 1 for at in range(len(vectors))]), False), shape
        )
        for index, vector in enumerate(vectors)
    ]
    return {"Out": grids}


def _of_channels_second(operator: Row) -> PaddleTranslator:
    """Return the translator of an operation on images whose channels are the second axis; they may come last."""

    def translate(node: PaddleNodeContext) -> ConversionResult:
        value = node.get_input("X")
        if node.get_attribute("data_format", "NCHW") != "NHWC":
            return operator.make(node, [value])
        (result,) = as_outputs(operator.make(node, [channels_second(value)]))
        return channels_last(result)

    return translate


rows(
    {
        "flatten": Row(flatten, "X", axis=Attr("axis", 1)),
        "flatten2": Row(flatten, "X", axis=Attr("axis", 1)),
        "flatten_contiguous_range": Row(flatten_range, "X", first=Attr("start_axis", 1), last=Attr("stop_axis", 1)),
    }
)
rows(
    {
        "channel_shuffle": Row(ops.ShuffleChannels, axis=1, group=Attr("groups", 1)),
        "pixel_shuffle": Row(ops.DepthToSpace, mode="depth_first", block_size=Attr("upscale_factor", 1)),
        "pixel_unshuffle": Row(ops.SpaceToDepth, mode="depth_first", block_size=Attr("downscale_factor", 1)),
        "shuffle_channel": Row(ops.ShuffleChannels, axis=1, group=Attr("group", 1)),
    },
    _of_channels_second,
)


@translator("partial_concat", "partial_sum")
def partial(node: PaddleNodeContext) -> ConversionResult:
    """Join or add the same range of columns of several matrices."""
    start, length = node.get_attribute("start_index", 0), node.get_attribute("length", -1)
    parts = []
    for value in node.get_inputs("X"):
        first = start if start >= 0 else start + value.partial_shape[1].get_length()
        end = np.iinfo(np.int64).max if length < 0 else first + length
        parts.append(ops.Slice(value, int64([first]), int64([end]), int64([1]), int64([1])).output(0))
    if node.get_op_type() == "partial_concat":
        return ops.Concat(parts, 1)
    return reduce(lambda total, part: ops.Add(total, part).output(0), parts)


@translator("slice", "strided_slice")
def slice_axes(node: PaddleNodeContext) -> ConversionResult:
    """Cut ranges out of axes; those in ``decrease_axis`` are removed."""
    value = node.get_input("Input")
    axes = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("axes")]
    starts = node.integers("starts", "StartsTensor", "StartsTensorList")
    ends = node.integers("ends", "EndsTensor", "EndsTensorList")
    removed = [normalize_axis(axis, rank_of(value)) for axis in node.get_attribute("decrease_axis", [])]
    strides = node.integers("strides", "StridesTensor", "StridesTensorList", default=[1] * len(axes))
    if node.get_op_type() == "slice":
        ends = _after_single(starts, ends, axes, removed)
    cut = ops.Slice(value, starts, ends, strides, int64(axes)).output(0)
    return ops.Squeeze(cut, int64(removed)) if removed else cut


def _after_single(starts: Output, ends: Output, axes: list[int], removed: list[int]) -> Output:
    """Return the ends, with the largest number in the place of 0 after a start of -1 on an axis that is removed."""
    first, last = (value.node.data if isinstance(value.node, Constant) else None for value in (starts, ends))
    if first is not None and last is not None:
        fixed = np.array(last)
        for at, axis in enumerate(axes):
            if axis in removed and first[at] == -1 and fixed[at] == 0:
                fixed[at] = np.iinfo(np.int64).max
        return int64(fixed).output(0)
    if set(removed) == set(axes):
        # Each range has one element, whose place may be computed.
        is_last = ops.Equal(starts, int64([-1]))
        return ops.Select(is_last, int64([np.iinfo(np.int64).max]), ops.Add(starts, int64([1]))).output(0)
    return ends


@translator("set_value")
def set_value(node: PaddleNodeContext) -> ConversionResult:
    """Replace the elements of a slice by a value that broadcasts to it."""
    value = node.get_input("Input")
    rank = rank_of(value)
    axes = [normalize_axis(axis, rank) for axis in node.get_attribute("axes")]
    bounds = [node.integers(f"{name}s", f"{name.capitalize()}sTensorList") for name in ("start", "end", "step")]
    known = [bound for bound in map(exact_value, bounds) if bound is not None]
    if len(known) < 3 or any(length.is_dynamic for length in value.partial_shape):
        return _set_at_run_time(node, value, axes, bounds)
    starts, ends, steps = (bound.tolist() for bound in known)
    shape = value.partial_shape.to_shape()
    ranges = [np.arange(length) for length in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps):
        ranges[axis] = ranges[axis][_as_slice(start, end, step, shape[axis])]
    if math.prod(map(len, ranges)) > MAX_COMPUTED // max(rank, 1):
        return _set_at_run_time(node, value, axes, bounds)
    places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1) if rank else np.zeros((0,), np.int64)
    if places.size == 0 and rank:
        return value
    updates = _updates(node, value, int64(places.shape[:-1]).output(0))
    return ops.ScatterNDUpdate(value, int64(places), updates)


def _as_slice(start: int, end: int, step: int, length: int) -> slice:
    return slice(start, None if step < 0 and end < -length else end, step)


def _updates(node: PaddleNodeContext, value: Output, shape: Output) -> Output:
    """Return the new elements in the shape of the slice.

    They broadcast to that shape without the axes in ``decrease_axes`` and with those in ``none_axes``.
    """
    updates = node.get_input("ValueTensor") if node.has_input("ValueTensor") else values_of(node, "shape")
    updates, rank = convert_to(updates, value.element_type), rank_of(value)
    removed = [normalize_axis(axis, rank) for axis in node.get_attribute("decrease_axes", [])]
    added = node.get_attribute("none_axes", [])
    lengths: list[Output | Node] = []
    new_axes: list[int] = []
    for axis in range(rank + 1):
        for _ in range(sum(min(new, rank) == axis for new in added)):
            new_axes.append(len(lengths))
            lengths.append(int64([1]))
        if axis < rank and axis not in removed:
            lengths.append(ops.Gather(shape, int64([axis]), int64(0)))
    extra = rank_of(updates) - len(lengths)
    if extra > 0:
        updates = ops.Squeeze(updates, int64(range(extra))).output(0)
    if lengths:
        updates = ops.Broadcast(updates, ops.Concat(lengths, 0), broadcast_spec="NUMPY").output(0)
    updates = ops.Squeeze(updates, int64(new_axes)).output(0) if new_axes else updates
    updates = ops.Unsqueeze(updates, int64(sorted(removed))).output(0) if removed else updates
    return ops.Broadcast(updates, shape, broadcast_spec="NUMPY").output(0)


def _set_at_run_time(
    node: PaddleNodeContext, value: Output, axes: Sequence[int], bounds: Sequence[Output]
) -> ConversionResult:
    # The places of the elements in the flat tensor are cut out like the elements themselves.
    count = ops.ReduceProd(ops.ShapeOf(value), int64([0]), False)
    places = ops.Reshape(ops.Range(int64(0), count, int64(1), Type.i64), ops.ShapeOf(value), False)
    cut = ops.Slice(places, *bounds, int64(axes))
    updates = _updates(node, value, ops.ShapeOf(cut).output(0))
    flat = ops.ScatterUpdate(
        ops.Reshape(value, int64([-1]), False), ops.Reshape(cut, int64([-1]), False),
        ops.Reshape(updates, int64([-1]), False), int64(0),
    )  # fmt: skip
    return ops.Reshape(flat, ops.ShapeOf(value), False)

"""Operators that arrange elements anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_input, flatten, int64, normalize_axis, rank_of, scalar_like
from hetero.frontend.values import reshape as reshape_to
from hetero.graph import Constant, Output
from hetero.ops.values import exact_value
from hetero.shape import Dimension
from hetero.types import Type


@translator("Reshape")
def reshape_by_attribute(node: OnnxNodeContext) -> Translation:
    return ops.Reshape(node.get_input(0), int64(node.get_attribute("shape")), True)


@translator("Reshape", since=5)
def reshape(node: OnnxNodeContext) -> Translation:
    return ops.Reshape(node.get_input(0), node.get_input(1), not node.get_attribute("allowzero", 0))


@translator("Flatten")
def flatten_from_axis(node: OnnxNodeContext) -> Translation:
    return flatten(node.get_input(0), node.get_attribute("axis", 1))


@translator("Transpose")
def transpose(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    order = node.get_attribute("perm", None)
    if order is None:
        order = range(rank_of(value))[::-1]
    return ops.Transpose(value, int64(order))


@translator("Squeeze")
def squeeze_by_attribute(node: OnnxNodeContext) -> Translation:
    axes = node.get_attribute("axes", None)
    return ops.Squeeze(node.get_input(0), None if axes is None else int64(axes))


@translator("Squeeze", since=13)
def squeeze(node: OnnxNodeContext) -> Translation:
    return ops.Squeeze(node.get_input(0), node.get_optional_input(1))


@translator("Unsqueeze")
def unsqueeze_by_attribute(node: OnnxNodeContext) -> Translation:
    return ops.Unsqueeze(node.get_input(0), int64(node.get_attribute("axes")))


@translator("Unsqueeze", since=13)
def unsqueeze(node: OnnxNodeContext) -> Translation:
    return ops.Unsqueeze(node.get_input(0), node.get_input(1))


@translator("Concat")
def concat_with_default(node: OnnxNodeContext) -> Translation:
    return ops.Concat(node.get_inputs(), node.get_attribute("axis", 1))


@translator("Concat", since=4)
def concat(node: OnnxNodeContext) -> Translation:
    return ops.Concat(node.get_inputs(), node.get_attribute("axis"))


@translator("Expand", since=8)
def expand(node: OnnxNodeContext) -> Translation:
    return ops.Broadcast(node.get_input(0), node.get_input(1), broadcast_spec="BIDIRECTIONAL")


@translator("Tile")
def tile_one_axis(node: OnnxNodeContext) -> Translation:
    axis = normalize_axis(int(constant_input(node, 2, "axis").reshape(-1)[0]), rank_of(node.get_input(0)))
    behind = [1] * (rank_of(node.get_input(0)) - axis - 1)
    times = ops.Convert(reshape_to(node.get_input(1), (1,)), "i64")
    return ops.Tile(node.get_input(0), ops.Concat([times, int64(behind)], 0))


@translator("Tile", since=6)
def tile(node: OnnxNodeContext) -> Translation:
    return ops.Tile(node.get_input(0), node.get_input(1))


@translator("Split")
def split_by_input_or_attribute(node: OnnxNodeContext) -> Translation:
    return _split(node, node.get_input(1)) if node.has_input(1) else split_by_attribute(node)


@translator("Split", since=2)
def split_by_attribute(node: OnnxNodeContext) -> Translation:
    lengths = node.get_attribute("split", None)
    return _split(node, None if lengths is None else int64(lengths).output(0))


@translator("Split", since=13)
def split(node: OnnxNodeContext) -> Translation:
    return _split(node, node.get_optional_input(1))


def _split(node: OnnxNodeContext, lengths: Output | None) -> Translation:
    value, axis, count = node.get_input(0), node.get_attribute("axis", 0), node.get_output_size()
    if lengths is not None:
        if lengths.partial_shape.is_dynamic:  # as many as the node has outputs
            lengths = reshape_to(lengths, (count,))
        return ops.VariadicSplit(value, int64(axis), lengths)
    parts = node.get_attribute("num_outputs", count)
    if parts != count:
        raise FrontendError(f"num_outputs is {parts}, but it has {count} outputs")
    shape = value.partial_shape
    length = shape[normalize_axis(axis, len(shape))] if shape.has_rank else Dimension()
    if not node.has_attribute("num_outputs") or (length.is_static and length.get_length() % count == 0):
        return ops.Split(value, int64(axis), count)
    # All parts are of the length rounded up, but for the last one, which takes what is left.
    whole = ops.Gather(ops.ShapeOf(value), int64([axis]), int64(0))
    each = ops.Divide(ops.Add(whole, int64(count - 1)), int64(count))
    lengths = ops.Concat([each] * (count - 1) + [int64([-1])], 0)
    return ops.VariadicSplit(value, int64(axis), lengths)


@translator("Pad")
def pad_by_old_attributes(node: OnnxNodeContext) -> Translation:
    return _pad_by_attributes(node, node.get_attribute("paddings"))


@translator("Pad", since=2)
def pad_by_attributes(node: OnnxNodeContext) -> Translation:
    return _pad_by_attributes(node, node.get_attribute("pads"))


def _pad_by_attributes(node: OnnxNodeContext, numbers: Sequence[int]) -> Translation:
    value, pads = node.get_input(0), np.array(numbers, np.int64)
    number = np.array(node.get_attribute("value", 0.0), value.element_type.to_dtype())
    return _pad(node, pads, Constant(number).output(0))


@translator("Pad", since=11)
def pad(node: OnnxNodeContext) -> Translation:
    number = node.get_optional_input(2)
    pads = exact_value(node.get_input(1))
    axes = exact_value(node.get_input(3)) if node.has_input(3) else None
    if pads is None or (axes is None and node.has_input(3)):
        begin, end = ops.Split(node.get_input(1), int64(0), 2).outputs()
        if node.has_input(3):
            rank = rank_of(node.get_input(0))
            none, places = int64([0] * rank), ops.FloorMod(ops.Convert(node.get_input(3), Type.i64), int64(rank))
            begin, end = (ops.ScatterUpdate(none, places, half, int64(0)).output(0) for half in (begin, end))
        return _pad_between(node, begin, end, number)
    if axes is not None:
        rank = rank_of(node.get_input(0))
        given = pads.reshape(2, -1)
        if given.shape[1] != axes.size:
            raise FrontendError(f"it has {pads.size} pads for {axes.size} axes")
        whole = np.zeros((2, rank), np.int64)
        whole[:, axes % rank] = given
        pads = whole.reshape(-1)
    return _pad(node, pads, number)


def _pad(node: OnnxNodeContext, pads: np.ndarray, number: Output | None) -> Translation:
    if pads.size % 2:
        raise FrontendError(f"pads must be one in front and one behind for each axis, but there are {pads.size}")
    begin, end = (int64(half).output(0) for half in np.split(pads, 2))
    return _pad_between(node, begin, end, number)


def _pad_between(node: OnnxNodeContext, begin: Output, end: Output, number: Output | None) -> Translation:
    mode = node.get_attribute("mode", "constant")
    if mode == "wrap":
        return _pad_around(node.get_input(0), begin, end)
    if mode not in ("constant", "reflect", "edge"):
        raise FrontendError(f"padding by mode {mode} is not supported")
    return ops.Pad(node.get_input(0), begin, end, mode, number if mode == "constant" else None)


@translator("CenterCropPad", since=18)
def center_crop_pad(node: OnnxNodeContext) -> Translation:
    """Both ends are cut or filled by half the difference of the lengths, the end behind by one more if it is odd."""
    value = node.get_input(0)
    rank = rank_of(value)
    axes = int64([normalize_axis(axis, rank) for axis in node.get_attribute("axes", range(rank))])
    wanted = ops.Convert(node.get_input(1), Type.i64)
    more = ops.Subtract(wanted, ops.Gather(ops.ShapeOf(value), axes, int64(0)))
    before = ops.Divide(more, int64(2), m_pythondiv=False)
    none = int64([0] * rank)
    pads = [ops.ScatterUpdate(none, axes, half, int64(0)) for half in (before, ops.Subtract(more, before))]
    return ops.Pad(value, *pads, "constant", scalar_like(value, 0))


def _pad_around(value: Output, begin: Output, end: Output) -> Translation:
    """Pads of elements from the other end, as if the value were repeated without end."""
    for axis in range(rank_of(value)):
        before, behind, length = (
            ops.Gather(vector, int64(axis), int64(0)) for vector in (begin, end, ops.ShapeOf(value))
        )
        places = ops.Range(ops.Negative(before), ops.Add(length, behind), int64(1), Type.i64)
        value = ops.Gather(value, ops.FloorMod(places, length), int64(axis)).output(0)
    return value


@translator("DepthToSpace")
def depth_to_space(node: OnnxNodeContext) -> Translation:
    mode = "depth_first" if node.get_attribute("mode", "DCR") == "CRD" else "blocks_first"
    return ops.DepthToSpace(node.get_input(0), mode, node.get_attribute("blocksize"))


@translator("SpaceToDepth")
def space_to_depth(node: OnnxNodeContext) -> Translation:
    mode = "depth_first" if node.get_attribute("mode", "DCR") == "CRD" else "blocks_first"
    return ops.SpaceToDepth(node.get_input(0), mode, node.get_attribute("blocksize"))


@translator("Col2Im", since=18)
def col2im(node: OnnxNodeContext) -> Translation:
    pads = node.get_attribute("pads", None)
    begin, end = (None, None) if pads is None else (pads[: len(pads) // 2], pads[len(pads) // 2 :])
    strides, dilations = node.get_attribute("strides", None), node.get_attribute("dilations", None)
    return ops.Col2Im(*(node.get_input(index) for index in range(3)), strides, dilations, begin, end)

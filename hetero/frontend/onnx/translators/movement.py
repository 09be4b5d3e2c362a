"""Constants, shapes, reshape, transpose, concat, split, tile, pad and other rearrangements of elements."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.numerics.movement import pad_wrap
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    axis_length,
    constant_input,
    flatten,
    int64,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.frontend.translation.values import reshape as reshape_to
from hetero.graph import Constant, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

_BLOCKS = Attr("mode", "DCR", values={"DCR": "blocks_first", "CRD": "depth_first"})
rows({
    "Concat": [Row(ops.Concat, axis=Attr("axis", 1)), Row(ops.Concat, since=4, axis=Attr("axis"))],
    "DepthToSpace": Row(ops.DepthToSpace, mode=_BLOCKS, block_size=Attr("blocksize")),
    "Expand": Row(ops.Broadcast, since=8, broadcast_spec="BIDIRECTIONAL"),
    "Flatten": Row(flatten, axis=Attr("axis", 1)),
    "Range": Row(lambda start, stop, step: ops.Range(start, stop, step, start.element_type), since=11),
    "Size": Row(lambda value: ops.ReduceProd(ops.ShapeOf(value), int64([0]), False)),
    "SpaceToDepth": Row(ops.SpaceToDepth, mode=_BLOCKS, block_size=Attr("blocksize")),
    "Tile": Row(ops.Tile, since=6),
})  # fmt: skip


rows(
    {
        "Reshape": lambda node: ops.Reshape(
            node.get_input(0), node.get_input_or_attribute(1, "shape"), not node.get_attribute("allowzero", 0)
        ),
        "Squeeze": lambda node: ops.Squeeze(node.get_input(0), node.get_optional_input_or_attribute(1, "axes")),
        "Unsqueeze": lambda node: ops.Unsqueeze(node.get_input(0), node.get_input_or_attribute(1, "axes")),
    }
)


@translator("Transpose")
def transpose(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    order = node.get_attribute("perm", None)
    if order is None:
        order = range(rank_of(value))[::-1]
    return ops.Transpose(value, int64(order))


@translator("Tile")
def tile_1(node: OnnxNodeContext) -> Translation:
    # In operator set 1 inputs 1 and 2 are the number of tiles and the axis.
    axis = normalize_axis(int(constant_input(node, 2, "axis").reshape(-1)[0]), rank_of(node.get_input(0)))
    later_axes = [1] * (rank_of(node.get_input(0)) - axis - 1)
    tiles = ops.Convert(reshape_to(node.get_input(1), (1,)), "i64")
    return ops.Tile(node.get_input(0), ops.Concat([tiles, int64(later_axes)], 0))


@translator("Split")
def split(node: OnnxNodeContext) -> Translation:
    value, axis, count = node.get_input(0), node.get_attribute("axis", 0), node.get_output_size()
    lengths = node.get_optional_input_or_attribute(1, "split")
    if lengths is not None:
        if lengths.element_type.is_real():  # of version 1
            lengths = ops.Convert(lengths, Type.i64).output(0)
        if lengths.partial_shape.is_dynamic:  # one length for each output
            lengths = reshape_to(lengths, (count,))
        return ops.VariadicSplit(value, int64(axis), lengths)
    parts = node.get_attribute("num_outputs", count)
    if parts != count:
        raise FrontendError(f"num_outputs is {parts}, but the node has {count} outputs")
    shape = value.partial_shape
    length = shape[normalize_axis(axis, len(shape))] if shape.has_rank else Dimension()
    if not node.has_attribute("num_outputs") or (length.is_static and length.get_length() % count == 0):
        return ops.Split(value, int64(axis), count)
    # The parts have the quotient rounded up as length; the last one has the rest.
    part_length = ops.Divide(ops.Add(axis_length(value, [axis]), int64(count - 1)), int64(count))
    return ops.VariadicSplit(value, int64(axis), ops.Concat([part_length] * (count - 1) + [int64([-1])], 0))


@translator("Pad")
def pad_1(node: OnnxNodeContext) -> Translation:
    pads = node.get_attribute("pads" if node.get_opset_version() > 1 else "paddings")
    pad_value = scalar_like(node.get_input(0), node.get_attribute("value", 0.0))
    return _pad_constant(node, np.array(pads, np.int64), pad_value.output(0))


@translator("Pad", since=11)
def pad(node: OnnxNodeContext) -> Translation:
    pads, pad_value = exact_value(node.get_input(1)), node.get_optional_input(2)
    if not node.has_input(3):
        if pads is not None:
            return _pad_constant(node, pads, pad_value)
        begin, end = ops.Split(node.get_input(1), int64(0), 2).outputs()
        return _pad(node, begin, end, pad_value)
    rank, axes = rank_of(node.get_input(0)), exact_value(node.get_input(3))
    if pads is None or axes is None:
        zeros, positions = int64([0] * rank), ops.FloorMod(ops.Convert(node.get_input(3), Type.i64), int64(rank))
        halves = ops.Split(node.get_input(1), int64(0), 2).outputs()
        begin, end = (ops.ScatterUpdate(zeros, positions, half, int64(0)).output(0) for half in halves)
        return _pad(node, begin, end, pad_value)
    if pads.size != 2 * axes.size:
        raise FrontendError(f"it has {pads.size} pads for {axes.size} axes")
    all_pads = np.zeros((2, rank), np.int64)
    all_pads[:, axes % rank] = pads.reshape(2, -1)
    return _pad_constant(node, all_pads.reshape(-1), pad_value)


def _pad_constant(node: OnnxNodeContext, pads: np.ndarray, pad_value: Output | None) -> Translation:
    """Pad with known pads: first those at the begin of each axis, then those at the end."""
    if pads.size % 2:
        raise FrontendError(f"pads must be two numbers for each axis, but there are {pads.size}")
    begin, end = (Constant(half.astype(np.int64)).output(0) for half in np.split(pads, 2))
    return _pad(node, begin, end, pad_value)


def _pad(node: OnnxNodeContext, begin: Output, end: Output, pad_value: Output | None) -> Translation:
    mode = node.get_attribute("mode", "constant")
    if mode == "wrap":
        return pad_wrap(node.get_input(0), begin, end)
    if mode not in ("constant", "reflect", "edge"):
        raise FrontendError(f"mode must be constant, reflect, edge or wrap, but is {mode}")
    return ops.Pad(node.get_input(0), begin, end, mode, pad_value if mode == "constant" else None)


@translator("CenterCropPad", since=18)
def center_crop_pad(node: OnnxNodeContext) -> Translation:
    """Crop or pad both ends by half the difference of the lengths; an odd difference goes to the end."""
    value = node.get_input(0)
    rank = rank_of(value)
    axes = int64([normalize_axis(axis, rank) for axis in node.get_attribute("axes", range(rank))])
    target = ops.Convert(node.get_input(1), Type.i64)
    total = ops.Subtract(target, ops.Gather(ops.ShapeOf(value), axes, int64(0)))
    begin = ops.Divide(total, int64(2), m_pythondiv=False)
    zeros = int64([0] * rank)
    pads = [ops.ScatterUpdate(zeros, axes, half, int64(0)) for half in (begin, ops.Subtract(total, begin))]
    return ops.Pad(value, *pads, "constant", scalar_like(value, 0))


@translator("Col2Im", since=18)
def col2im(node: OnnxNodeContext) -> Translation:
    pads = node.get_attribute("pads", None)
    begin, end = (None, None) if pads is None else (pads[: len(pads) // 2], pads[len(pads) // 2 :])
    strides, dilations = node.get_attribute("strides", None), node.get_attribute("dilations", None)
    return ops.Col2Im(*(node.get_input(index) for index in range(3)), strides, dilations, begin, end)


# The attributes that may hold the value of a Constant, with the numpy type of those that are not tensors.
_VALUE_TYPES = {
    "value": None, "value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64,
    "value_string": np.str_, "value_strings": np.str_,
}  # fmt: skip


@translator("Constant")
def constant(node: OnnxNodeContext) -> Translation:
    for name, dtype in _VALUE_TYPES.items():
        if node.has_attribute(name):
            return Constant(np.asarray(node.get_attribute(name), dtype))
    raise FrontendError(f"it needs one of the attributes {', '.join(_VALUE_TYPES)}")


@translator("ConstantOfShape", since=9)
def constant_of_shape(node: OnnxNodeContext) -> Translation:
    value = node.get_attribute("value", np.zeros(1, np.float32))
    if value.size != 1:
        raise FrontendError(f"attribute value must have one element, but has {value.size}")
    return ops.Broadcast(Constant(value.reshape(())), node.get_input(0))


@translator("Shape")
def shape(node: OnnxNodeContext) -> Translation:
    full_shape = ops.ShapeOf(node.get_input(0))
    start, end = node.get_attribute("start", 0), node.get_attribute("end", None)
    if start == 0 and end is None:
        return full_shape
    # Slice handles negative and out-of-range numbers like ONNX's start and end.
    end = np.iinfo(np.int64).max if end is None else end
    return ops.Slice(full_shape, np.array([start]), np.array([end]), np.array([1]), np.array([0]))

"""Reshape, transpose, concatenation, splits, padding, tiling, reversal, and moves between space, depth and batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.numerics.complex_numbers import complex_from_parts, real_and_imaginary
from hetero.frontend.numerics.movement import blocks_and_pads, pads_of_axes, stack
from hetero.frontend.tensorflow.layout import ImageLayout
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.tensorflow.translators.signal import own_axis, own_shape
from hetero.frontend.translation import values
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator, as_outputs
from hetero.frontend.translation.values import (
    int64,
    known_length,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Output, constant_array
from hetero.system.errors import FrontendError


@translator("Reshape")
def reshape(node: TensorflowNodeContext) -> Translation:
    shape = own_shape(node, node.get_input(1))
    known = constant_array(shape)
    if known is not None and 0 not in known:
        return values.reshape(node.get_input(0), known.tolist())
    return ops.Reshape(node.get_input(0), shape, False)


@translator("Transpose")
def transpose(node: TensorflowNodeContext) -> Translation:
    order = constant_array(node.get_input(1))
    if order is None:
        if node.is_complex():
            raise FrontendError("the order of the axes of complex numbers must be constant")
        return ops.Transpose(node.get_input(0), node.get_input(1))
    axes = [normalize_axis(axis, order.size) for axis in order.tolist()]
    return values.transpose(node.get_input(0), [*axes, order.size] if node.is_complex() else axes)


@translator("ExpandDims")
def expand_dims(node: TensorflowNodeContext) -> Translation:
    axis = node.get_values_from_const_input(1)
    (axis,) = axis if isinstance(axis, list) else [axis]
    return ops.Unsqueeze(node.get_input(0), int64([own_axis(node, axis)]))


@translator("Squeeze")
def squeeze(node: TensorflowNodeContext) -> Translation:
    value, axes = node.get_input(0), node.get_attribute("squeeze_dims", None) or node.get_attribute("axis", [])
    if axes:
        return ops.Squeeze(value, int64([own_axis(node, axis) for axis in axes]))
    if not value.partial_shape.has_rank or any(length.is_dynamic for length in value.partial_shape):
        return ops.Squeeze(value)
    # The axes as a constant: the number of dimensions is then known also if the model is reshaped.
    ones = [axis for axis, length in enumerate(value.shape) if length == 1]
    return ops.Squeeze(value, int64(ones)) if ones else value


@translator("Concat", "ConcatV2")
def concatenation(node: TensorflowNodeContext) -> Translation:
    """The axis is the first input of Concat, the last one of ConcatV2."""
    inputs = node.get_inputs()
    at = 0 if node.get_op_type() == "Concat" else len(inputs) - 1
    axis = node.get_values_from_const_input(at, dtype=int)
    parts = [value for index, value in enumerate(inputs) if index != at]
    return ops.Concat(parts, own_axis(node, axis[0] if isinstance(axis, list) else axis))


rows(
    {
        "Pack": lambda node: stack(node.get_inputs(), own_axis(node, node.get_attribute("axis", 0))),
        # The axis is input 0.
        "Split": lambda node: ops.Split(node.get_input(1), _axis(node, 0), node.get_attribute("num_split")),
        "SplitV": lambda node: ops.VariadicSplit(node.get_input(0), _axis(node, 2), node.get_input(1)),
    }
)


@translator("Unpack")
def unpack(node: TensorflowNodeContext) -> Translation:
    axis, count = int64(own_axis(node, node.get_attribute("axis", 0))), node.get_attribute("num")
    return [ops.Squeeze(part, axis) for part in ops.Split(node.get_input(0), axis, count).outputs()] if count else []


def _axis(node: TensorflowNodeContext, index: int) -> Output:
    if node.is_complex():
        return int64(own_axis(node, int(np.reshape(node.get_values_from_const_input(index), ())))).output(0)
    return ops.Reshape(node.get_input(index), int64([]), False).output(0)


@translator("Pad", "PadV2")
def pad(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(2) if node.has_input(2) else values.scalar_like(node.get_input(0), 0).output(0)
    if not node.is_complex():
        return ops.Pad(node.get_input(0), *pads_of_axes(node.get_input(1)), "constant", value)
    parts = real_and_imaginary(node.get_input(0))
    others = real_and_imaginary(value) if node.has_input(2) else (value, value)
    return complex_from_parts(
        *(ops.Pad(part, *pads_of_axes(node.get_input(1)), "constant", filler) for part, filler in zip(parts, others))
    )


@translator("MirrorPad")
def mirror_pad(node: TensorflowNodeContext) -> Translation:
    mode = node.get_attribute("mode").lower()
    if not node.is_complex():
        return ops.Pad(node.get_input(0), *pads_of_axes(node.get_input(1)), pad_mode=mode)
    parts = real_and_imaginary(node.get_input(0))
    return complex_from_parts(*(ops.Pad(part, *pads_of_axes(node.get_input(1)), pad_mode=mode) for part in parts))


@translator("Tile")
def tile(node: TensorflowNodeContext) -> Translation:
    repeats = node.get_input(1)
    if node.is_complex():
        repeats = ops.Concat([repeats, np.ones(1, repeats.element_type.to_dtype())], 0).output(0)
    return ops.Tile(node.get_input(0), repeats)


rows(
    {
        "Reverse": Row(ops.Reverse, mode="mask"),
        "ReverseSequence": Row(
            ops.ReverseSequence, batch_axis=Attr("batch_dim", 0, int), seq_axis=Attr("seq_dim", 0, int)
        ),
    }
)


@translator("ReverseV2")
def reverse(node: TensorflowNodeContext) -> Translation:
    data, axes = node.get_inputs()
    known = constant_array(axes)
    if known is not None:
        rank = rank_of(data) - node.is_complex()
        axes = int64([axis % rank for axis in known.reshape(-1).tolist()]).output(0)
    return ops.Reverse(data, axes, "index")


@translator("Roll")
def roll(node: TensorflowNodeContext) -> Translation:
    data, shifts, axes = node.get_inputs()
    if node.is_complex():
        # Negative axes do not count the axis of real and imaginary parts.
        axes = ops.FloorMod(axes, scalar_like(axes, rank_of(data) - 1)).output(0)
    return ops.Roll(data, shifts, axes)


def _of_images(row: Row) -> Translator:
    """Return the translator of an operation on images, which computes channels-first."""

    def translate(node: TensorflowNodeContext) -> Translation:
        layout = ImageLayout.of(node)
        moved = row.make(node, [layout.to_channels_second(node.get_input(0))])
        return layout.from_channels_second(as_outputs(moved)[0])

    return translate


_BLOCKS: dict[str, Any] = {"mode": "blocks_first", "block_size": Attr("block_size", dtype=int)}
rows({"DepthToSpace": Row(ops.DepthToSpace, **_BLOCKS), "SpaceToDepth": Row(ops.SpaceToDepth, **_BLOCKS)}, _of_images)


def _with_blocks_and_pads(row: Row) -> Translator:
    """Return the translator of an operation whose block shape and pads (or crops) are for all axes of the data.

    The node has them for the spatial axes only; operators without ND in their name have an attribute block_size.
    """

    def translate(node: TensorflowNodeContext) -> Translation:
        if node.get_op_type().endswith("ND"):
            blocks, pads = node.get_input(1), node.get_input(2)
        else:
            blocks, pads = int64([node.get_attribute("block_size", dtype=int)] * 2).output(0), node.get_input(1)
        return row.make(node, [node.get_input(0), *blocks_and_pads(node.get_input(0), blocks, pads)])

    return translate


rows(
    {
        "BatchToSpace": Row(ops.BatchToSpace), "BatchToSpaceND": Row(ops.BatchToSpace),
        "SpaceToBatch": Row(ops.SpaceToBatch), "SpaceToBatchND": Row(ops.SpaceToBatch),
    },
    _with_blocks_and_pads,
)  # fmt: skip


def _formats(node: TensorflowNodeContext) -> tuple[str, str]:
    source, target = node.get_attribute("src_format", "NHWC"), node.get_attribute("dst_format", "NCHW")
    if sorted(source) != sorted(target):
        raise FrontendError(f"the data formats {source} and {target} have different axes")
    return source, target


@translator("DataFormatDimMap")
def map_axes(node: TensorflowNodeContext) -> Translation:
    """The number, in the target format, of each axis, which may be negative in the source format."""
    source, target = _formats(node)
    axes = node.get_input(0)
    positive = ops.FloorMod(axes, scalar_like(axes, len(source)))
    positions = [target.index(axis) for axis in source]
    return ops.Gather(Constant(int64(positions).data.astype(axes.element_type.to_dtype())), positive, int64(0))


@translator("DataFormatVecPermute")
def permute_numbers(node: TensorflowNodeContext) -> Translation:
    """Numbers, or rows of two numbers, for each axis; for the spatial axes only if there are two less."""
    source, target = _formats(node)
    numbers = node.get_input(0)
    if known_length(numbers, 0, "the number of axes") == len(source) - 2:
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    return ops.Gather(numbers, int64([source.index(axis) for axis in target]), int64(0))

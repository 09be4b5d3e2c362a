"""Reshape, transpose, join, split, tile, slice, pad and fill; blocks of space and depth; operators on shapes.

As in LiteRT, quantized integers move unchanged.
"""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import matrix_of_diagonal, set_main_diagonal
from hetero.frontend.numerics.movement import (
    blocks_and_pads,
    bounds_and_masks,
    broadcast_shapes,
    pads_of_axes,
    slice_by_size,
    stack,
)
from hetero.frontend.tflite.decoded import TfliteTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import Quantization, Translator, preserves_quantization
from hetero.frontend.tflite.translators.common import apply_activation, clamp_to_activation
from hetero.frontend.translation.translators import Attr, Row, Translation, as_outputs
from hetero.frontend.translation.values import (
    channels_last,
    channels_second,
    constant_input,
    dimension_count,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
    transpose,
)
from hetero.graph import Output, constant_array


def _of_channels_second(operator: Row) -> Translator:
    """Return the translator of a row whose operation takes images ``[N, C, H, W]``."""

    @preserves_quantization
    def translate(node: TfliteNodeContext) -> Translation:
        (result,) = as_outputs(operator.make(node, [channels_second(node.get_input(0))]))
        return channels_last(result)

    return translate


rows(
    {
        "BROADCAST_ARGS": Row(broadcast_shapes, 0, 1),
        "BROADCAST_TO": Row(ops.Broadcast, 0, 1),
        "FILL": Row(ops.Broadcast, 1, 0),  # input 0 is the shape, input 1 the value
        "MATRIX_DIAG": Row(matrix_of_diagonal, 0),
        "MATRIX_SET_DIAG": Row(set_main_diagonal, 0, 1),
        "PACK": Row(lambda *values, axis: stack(values, axis), axis=Attr("axis", 0)),
        "RANGE": Row(lambda start, stop, step: ops.Range(start, stop, step, start.element_type), 0, 1, 2),
        "REVERSE_SEQUENCE": Row(
            ops.ReverseSequence, 0, 1, batch_axis=Attr("batch_dim", 0), seq_axis=Attr("seq_dim", 0)
        ),
        "REVERSE_V2": Row(ops.Reverse, 0, 1, mode="index"),
        "TILE": Row(ops.Tile, 0, 1),
        "ZEROS_LIKE": Row(lambda value: ops.Broadcast(scalar_like(value, 0), ops.ShapeOf(value)), 0),
    }
)
rows(
    {
        "DEPTH_TO_SPACE": Row(ops.DepthToSpace, 0, mode="blocks_first", block_size=Attr("block_size")),
        "SPACE_TO_DEPTH": Row(ops.SpaceToDepth, 0, mode="blocks_first", block_size=Attr("block_size")),
    },
    _of_channels_second,
)


@translator("RESHAPE")
def reshape_operator(node: TfliteNodeContext) -> Translation:
    """The shape is an input or, in older files, an attribute, in which (0,) means a scalar."""
    if node.has_input(1) and node.get_input(1).partial_shape.rank == 1:
        shape = node.get_input(1)
    else:
        lengths = node.get_attribute("new_shape", ())
        shape = int64(() if tuple(lengths) == (0,) else lengths).output(0)
    if node.input_tensor(0).is_complex:
        shape = ops.Concat([shape, np.array([2], shape.element_type.to_dtype())], 0).output(0)
    known = constant_array(shape)
    if known is not None and 0 not in known:
        return reshape(node.get_input(0), known.tolist())
    return ops.Reshape(node.get_input(0), shape, False)


@translator("TRANSPOSE")
def transpose_operator(node: TfliteNodeContext) -> Translation:
    order = constant_array(node.get_input(1))
    if order is None:
        return ops.Transpose(node.get_input(0), node.get_input(1))
    parts_axis = [order.size] if node.input_tensor(0).is_complex else []
    axes = [normalize_axis(axis, order.size) for axis in order.tolist()]
    return transpose(node.get_input(0), axes + parts_axis)


@translator("EXPAND_DIMS")
def expand_dims(node: TfliteNodeContext) -> Translation:
    axis = node.get_input(1)
    if node.input_tensor(0).is_complex:
        axes = constant_input(node, 1, "axis").reshape(-1).tolist()
        axis = int64([normalize_axis(axis, rank_of(node.get_input(0))) for axis in axes]).output(0)
    return ops.Unsqueeze(node.get_input(0), axis)


@translator("SQUEEZE")
def squeeze(node: TfliteNodeContext) -> Translation:
    axes = node.get_attribute("squeeze_dims", ())
    if axes and node.input_tensor(0).is_complex:
        axes = [normalize_axis(axis, rank_of(node.get_input(0)) - 1) for axis in axes]
    return ops.Squeeze(node.get_input(0), int64(axes) if axes else None)


@translator("UNPACK")
def unpack(node: TfliteNodeContext) -> Translation:
    axis = int64(node.get_attribute("axis", 0))
    parts = ops.Split(node.get_input(0), axis, node.get_output_size())
    return [ops.Squeeze(part, axis) for part in parts.outputs()]


@translator("CONCATENATION")
def concatenation(node: TfliteNodeContext) -> Translation:
    """Inputs of another scale than the output are requantized. LiteRT does so for u8 and refuses i8."""
    target, parts = node.output_tensor(0), node.get_inputs()
    if target.quantization is None:
        return apply_activation(node, ops.Concat(parts, node.get_attribute("axis")))
    schemes = [node.input_tensor(index).quantization or target.quantization for index in range(len(parts))]
    parts = [_requantize(part, params, target) for part, params in zip(parts, schemes)]
    return clamp_to_activation(node, ops.Concat(parts, node.get_attribute("axis")).output(0))


def _requantize(value: Output, old: Quantization, target: TfliteTensor) -> Output:
    """Convert integers to the quantization of another tensor, rounding halves away from zero as LiteRT does."""
    new = target.required_quantization
    if old.equals(new):
        return value
    factor = np.float32(old.scale) * (np.float32(1) / np.float32(new.scale))
    scaled = ops.Add(ops.Multiply(ops.Convert(value, Type.f32), factor), np.float32(-old.zero_point) * factor)
    shifted = ops.Add(ops.Round(scaled, "half_away_from_zero"), np.float32(new.zero_point))
    limits = np.iinfo(target.element_type.to_dtype())
    return ops.Convert(ops.Clamp(shifted, float(limits.min), float(limits.max)), target.element_type).output(0)


rows(
    {
        # Input 0 is the axis, input 1 the data.
        "SPLIT": lambda node: ops.Split(node.get_input(1), reshape(node.get_input(0), ()), node.get_output_size()),
        "BATCH_TO_SPACE_ND": lambda node: ops.BatchToSpace(node.get_input(0), *blocks_and_pads(*node.get_inputs())),
        "SPLIT_V": lambda node: ops.VariadicSplit(
            node.get_input(0), reshape(node.get_input(2), ()), reshape(node.get_input(1), (node.get_output_size(),))
        ),
        "RANK": lambda node: ops.Convert(int64(rank_of(node.get_input(0))), node.output_type(0)),
        "ONE_HOT": Row(
            lambda indices, *scalars, axis: ops.OneHot(indices, *(reshape(number, ()) for number in scalars), axis),
            axis=Attr("axis", -1),
        ),
    }
)


@translator("STRIDED_SLICE")
def strided_slice(node: TfliteNodeContext) -> Translation:
    """Masks have a bit per axis. With the attribute ``offset``, ends are relative to begins."""
    data, begin, end, strides = (node.get_input(index) for index in range(4))
    if node.get_attribute("offset", False):
        end = ops.Add(begin, end).output(0)
    is_complex = node.input_tensor(0).is_complex
    bounds, masks = bounds_and_masks(node, (begin, end, strides), dimension_count(begin), is_complex)
    return ops.StridedSlice(data, *bounds, *masks)


@translator("SLICE")
def slice_of_size(node: TfliteNodeContext) -> Translation:
    data, begin, size = (node.get_input(index) for index in range(3))
    return slice_by_size(data, begin, size, dimension_count(begin), node.input_tensor(0).is_complex)


@translator("SPACE_TO_BATCH_ND")
def space_to_batch(node: TfliteNodeContext) -> Translation:
    """Quantized data is padded by its zero point."""
    data, params = node.get_input(0), node.input_tensor(0).quantization
    blocks, begin, end = blocks_and_pads(*node.get_inputs())
    if params is not None and params.zero_point:
        data = ops.Pad(data, begin, end, "constant", scalar_like(data, params.zero_point)).output(0)
        begin = end = int64([0] * rank_of(data)).output(0)
    return ops.SpaceToBatch(data, blocks, begin, end)


@translator("PAD", "PADV2")
def pad(node: TfliteNodeContext) -> Translation:
    """PAD pads by zero, quantized data by its zero point; PADV2 by input 2."""
    data, params, value = node.get_input(0), node.output_tensor(0).quantization, node.get_optional_input(2)
    if value is None:
        value = scalar_like(data, 0 if params is None else params.zero_point).output(0)
    return ops.Pad(data, *pads_of_axes(node.get_input(1)), "constant", reshape(value, ()))


@translator("MIRROR_PAD")
def mirror_pad(node: TfliteNodeContext) -> Translation:
    reflect = node.get_attribute("mode", tflite.MirrorPadMode.REFLECT) == tflite.MirrorPadMode.REFLECT
    return ops.Pad(node.get_input(0), *pads_of_axes(node.get_input(1)), "reflect" if reflect else "symmetric")


@translator("SHAPE")
def shape(node: TfliteNodeContext) -> Translation:
    lengths = ops.ShapeOf(node.get_input(0), node.output_type(0))
    return ops.Slice(lengths, int64([0]), int64([-1]), int64([1])) if node.input_tensor(0).is_complex else lengths

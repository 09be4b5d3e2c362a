"""Reshape, transpose, concatenation, splits, tiling and reversals. As in LiteRT, quantized integers move unchanged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tflite.decoded import TfliteTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation, clamp_to_activation
from hetero.frontend.translation import values
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input, int64, normalize_axis, rank_of
from hetero.graph import Node, Output, constant_array

# Operations with the inputs of the operator.
_SAME_INPUTS: dict[str, Callable[..., Node]] = {
    "BROADCAST_TO": ops.Broadcast, "GATHER_ND": ops.GatherND, "REVERSE_V2": partial(ops.Reverse, mode="index"),
    "TILE": ops.Tile,
}  # fmt: skip


@translator("RESHAPE")
def reshape(node: TfliteNodeContext) -> Translation:
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
        return values.reshape(node.get_input(0), known.tolist())
    return ops.Reshape(node.get_input(0), shape, False)


@translator("TRANSPOSE")
def transpose(node: TfliteNodeContext) -> Translation:
    order = constant_array(node.get_input(1))
    if order is None:
        return ops.Transpose(node.get_input(0), node.get_input(1))
    parts_axis = [order.size] if node.input_tensor(0).is_complex else []
    axes = [normalize_axis(axis, order.size) for axis in order.tolist()]
    return values.transpose(node.get_input(0), axes + parts_axis)


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


@translator("PACK")
def pack(node: TfliteNodeContext) -> Translation:
    axis = node.get_attribute("axis", 0)
    return ops.Concat([ops.Unsqueeze(value, int64([axis])) for value in node.get_inputs()], axis)


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


@translator("SPLIT")
def split(node: TfliteNodeContext) -> Translation:
    """Input 0 is the axis, input 1 the data."""
    return ops.Split(node.get_input(1), values.reshape(node.get_input(0), ()), node.get_output_size())


@translator("SPLIT_V")
def split_by_lengths(node: TfliteNodeContext) -> Translation:
    data, lengths, axis = (node.get_input(index) for index in range(3))
    return ops.VariadicSplit(data, values.reshape(axis, ()), values.reshape(lengths, (node.get_output_size(),)))


@translator(*_SAME_INPUTS)
def move_elements(node: TfliteNodeContext) -> Translation:
    return _SAME_INPUTS[node.get_op_type()](node.get_input(0), node.get_input(1))


@translator("REVERSE_SEQUENCE")
def reverse_sequence(node: TfliteNodeContext) -> Translation:
    batch, sequence = node.get_attribute("batch_dim", 0), node.get_attribute("seq_dim", 0)
    return ops.ReverseSequence(node.get_input(0), node.get_input(1), batch, sequence)

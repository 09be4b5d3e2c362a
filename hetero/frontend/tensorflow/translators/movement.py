"""Reshape, transpose, concatenation, splits, padding and tiling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.frontend.numerics.complex_numbers import complex_from_parts, real_and_imaginary
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import values
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, normalize_axis
from hetero.graph import Node, Output, constant_array
from hetero.system.errors import FrontendError


@translator("Reshape")
def reshape(node: TensorflowNodeContext) -> Translation:
    shape = node.get_input(1)
    if node.is_complex():
        shape = ops.Concat([shape, np.array([2], shape.element_type.to_dtype())], 0).output(0)
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
    return ops.Unsqueeze(node.get_input(0), int64([axis - 1 if node.is_complex() and axis < 0 else axis]))


@translator("Squeeze")
def squeeze(node: TensorflowNodeContext) -> Translation:
    axes = node.get_attribute("squeeze_dims", None) or node.get_attribute("axis", [])
    if node.is_complex():
        axes = [axis - 1 if axis < 0 else axis for axis in axes]
    if axes:
        return ops.Squeeze(node.get_input(0), int64(axes))
    value = node.get_input(0)
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
    axis = axis[0] if isinstance(axis, list) else axis
    return ops.Concat(parts, axis - 1 if node.is_complex() and axis < 0 else axis)


@translator("Pack")
def pack(node: TensorflowNodeContext) -> Translation:
    axis = node.get_attribute("axis", 0)
    axis = axis - 1 if node.is_complex() and axis < 0 else axis
    return ops.Concat([ops.Unsqueeze(value, int64([axis])) for value in node.get_inputs()], axis)


@translator("Unpack")
def unpack(node: TensorflowNodeContext) -> Translation:
    axis = node.get_attribute("axis", 0)
    return unstack(node.get_input(0), axis - 1 if node.is_complex() and axis < 0 else axis, node.get_attribute("num"))


def unstack(value: Output, axis: int, count: int) -> list[Node]:
    """Return the parts of a value along an axis, without that axis."""
    return [ops.Squeeze(part, int64(axis)) for part in ops.Split(value, int64(axis), count).outputs()] if count else []


@translator("Split")
def split(node: TensorflowNodeContext) -> Translation:
    """The axis is input 0."""
    return ops.Split(node.get_input(1), _axis(node, 0), node.get_attribute("num_split"))


@translator("SplitV")
def split_by_lengths(node: TensorflowNodeContext) -> Translation:
    return ops.VariadicSplit(node.get_input(0), _axis(node, 2), node.get_input(1))


def _axis(node: TensorflowNodeContext, index: int) -> Output:
    if node.is_complex():
        axis = int(np.reshape(node.get_values_from_const_input(index), ()))
        return int64(axis - 1 if axis < 0 else axis).output(0)
    return ops.Reshape(node.get_input(index), int64([]), False).output(0)


@translator("Pad", "PadV2")
def pad(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(2) if node.has_input(2) else values.scalar_like(node.get_input(0), 0).output(0)
    if not node.is_complex():
        return ops.Pad(node.get_input(0), *_pads(node), "constant", value)
    parts = real_and_imaginary(node.get_input(0))
    others = real_and_imaginary(value) if node.has_input(2) else (value, value)
    return complex_from_parts(*(ops.Pad(part, *_pads(node), "constant", one) for part, one in zip(parts, others)))


@translator("MirrorPad")
def mirror_pad(node: TensorflowNodeContext) -> Translation:
    mode = node.get_attribute("mode").lower()
    if not node.is_complex():
        return ops.Pad(node.get_input(0), *_pads(node), pad_mode=mode)
    parts = real_and_imaginary(node.get_input(0))
    return complex_from_parts(*(ops.Pad(part, *_pads(node), pad_mode=mode) for part in parts))


def _pads(node: TensorflowNodeContext) -> Sequence[Output]:
    """Return the numbers of elements before and after each axis, from the rows of input 1."""
    known = constant_array(node.get_input(1))
    if known is not None:
        return [int64(known[:, column]).output(0) for column in (0, 1)]
    return [ops.Gather(node.get_input(1), int64(column), int64(1)).output(0) for column in (0, 1)]


@translator("Tile")
def tile(node: TensorflowNodeContext) -> Translation:
    repeats = node.get_input(1)
    if node.is_complex():
        repeats = ops.Concat([repeats, np.ones(1, repeats.element_type.to_dtype())], 0).output(0)
    return ops.Tile(node.get_input(0), repeats)

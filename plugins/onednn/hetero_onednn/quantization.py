"""Quantized values in models: which values are 8-bit integers, and which weights are multiples of a scale."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, constant_array, copy_rt_info, is_constant
from hetero.passes import changes_numerics, keeps_values
from hetero.passes.matching.rewriting import only_reader
from hetero_onednn.library.api import multiplies_int8_exactly

_RANGES = {Type.i8: (-128, 127), Type.u8: (0, 255)}
_MOVES = (ops.Reshape, ops.Transpose, ops.Squeeze, ops.Unsqueeze)
_PRODUCTS = (ops.Convolution, ops.GroupConvolution, ops.MatMul)
# The largest difference of a weight divided by the scale from an integer.
_TOLERANCE = 1e-3
# The number of weights of a channel that are tried with each scale.
_SAMPLES = 64


class Quantized(NamedTuple):
    """Real numbers (integers - zero_point) · scale, where the zero point may be a value of one 8-bit integer."""

    integers: Output
    zero_point: int | Output
    scale: float


def quantized(value: Output) -> Quantized | None:
    """Return the 8-bit integers that a value of f32 is computed from by one zero point and one scale, if it is.

    Returns None for all values on processors whose products of such integers are not exact.
    """
    if not multiplies_int8_exactly():
        return None
    zero_point: int | Output | None = 0
    scale, node = 1.0, value.node
    if type(node) is ops.Multiply:
        number = single_number(node.input_value(1))
        if number is None:
            return None
        scale, node = number, node.input_value(0).node
    if type(node) is ops.Subtract:
        zero_point, node = _zero_point(node.input_value(1)), node.input_value(0).node
    if zero_point is None or not is_dequantizing(node) or not 0 < scale < np.inf:
        return None
    integers = node.input_value(0)
    return Quantized(integers, zero_point, scale) if integers.partial_shape == value.partial_shape else None


def _zero_point(value: Output) -> int | Output | None:
    """Return the one integer that a value of f32 is: a number, or the 8-bit integer that it is converted from."""
    number = single_number(value)
    if number is not None:
        return int(number) if number.is_integer() and abs(number) <= 255 else None
    return value.node.input_value(0) if is_dequantizing(value.node) and is_single(value) else None


def dequantize(integers: Output, zero_point: int | Output, scale: float) -> Node:
    """Return the real numbers that ``quantized`` describes."""
    real: Node = ops.Convert(integers, Type.f32)
    if isinstance(zero_point, Output):
        real = ops.Subtract(real, ops.Convert(zero_point, Type.f32))
    elif zero_point:
        real = ops.Subtract(real, np.float32(zero_point))
    return ops.Multiply(real, np.float32(scale))


def feeds_product(node: Node) -> bool:
    """Return whether a node computes quantized real numbers that a product reads, which can read the integers."""
    if type(node) not in (ops.Convert, ops.Subtract, ops.Multiply) or quantized(node.output(0)) is None:
        return False
    readers = node.output(0).get_target_inputs()
    return any(
        (type(reader.node) in _PRODUCTS and not reader.index) or feeds_product(reader.node) for reader in readers
    )


def quantized_weights(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return i8 numbers and scales of which each row of f32 weights, ``[channels, …]``, is the product.

    Returns None if there are none.
    """
    if not weights.size:
        return None
    rows = weights.reshape(len(weights), -1)
    largest = np.abs(rows).max(1)
    if not np.isfinite(largest).all():
        return None
    largest[largest == 0] = 1
    parts = np.concatenate(
        [rows[:, :: max(1, rows.shape[1] // _SAMPLES)] / largest[:, None], np.ones((len(rows), 1))], 1
    )
    steps = np.zeros(len(rows), np.float32)
    # Scales that make the largest weight this multiple of them.
    for multiple in range(128, 0, -1):
        fits = _is_integral(parts * multiple).all(1)
        steps[fits] = multiple
    if not steps.all():
        return None
    scales = (largest / steps).astype(np.float32)
    numbers = rows / scales[:, None]
    if not _is_integral(numbers).all() or numbers.max() > 127.5:
        return None
    return np.round(numbers).astype(np.int8).reshape(weights.shape), scales


def _is_integral(array: np.ndarray) -> np.ndarray:
    return np.abs(array - np.round(array)) < _TOLERANCE


def is_dequantizing(node: Node) -> bool:
    """Return whether a node converts 8-bit integers to f32."""
    return (
        type(node) is ops.Convert and node.get_input_element_type(0) in _RANGES and node.get_element_type() is Type.f32
    )


def is_quantizing(node: Node) -> bool:
    """Return whether a node converts f32, which was rounded and clamped, to 8-bit integers."""
    if type(node) is not ops.Convert or node.get_input_element_type(0) is not Type.f32:
        return False
    clamp: Any = node.input_value(0).node
    low, high = _RANGES.get(node.get_element_type(), (0, -1))
    if type(clamp) is not ops.Clamp or not low <= clamp.min_value <= clamp.max_value <= high:
        return False
    if not (float(clamp.min_value).is_integer() and float(clamp.max_value).is_integer()):
        return False
    source = clamp.input_value(0).node
    while type(source) in (ops.Add, ops.Subtract):
        if _zero_point(source.input_value(1)) is None:
            return False
        source = source.input_value(0).node
    return type(source) is ops.Round


@changes_numerics
@keeps_values
def compute_products_in_floats(model: Model) -> bool:
    """Replace convolutions and products of 8-bit integers in i32, which are converted to f32, by those in f32.

    Requires: constants are folded. oneDNN accumulates the integers as such, and converts the sums to f32.
    """
    return any([_in_floats(node) for node in model.get_ordered_ops() if type(node) is ops.Convert])


def _in_floats(convert: Node) -> bool:
    source = convert.input_value(0)
    if source.element_type is not Type.i32 or convert.get_element_type() is not Type.f32:
        return False
    value = _sum_in_floats(source)
    if value is None:
        return False
    copy_rt_info([value.node, convert], value.node)
    value.node.friendly_name = convert.friendly_name
    convert.output(0).replace(value)
    convert.disconnect()
    return True


def _sum_in_floats(value: Output) -> Output | None:
    """Return a sum of products of 8-bit integers, or such integers, as f32 instead of i32."""
    node = value.node
    if type(node) not in (*_PRODUCTS, *_MOVES, ops.Add) or only_reader(node) is None:
        return _operand_in_floats(value)
    if type(node) in _PRODUCTS:
        operands = [_operand_in_floats(operand) for operand in node.input_values()]
    elif type(node) is ops.Add:
        array = constant_array(node.input_value(1))
        bias = None if array is None else Constant(array.astype(np.float32)).output(0)
        operands = [_sum_in_floats(node.input_value(0)), bias]
    else:
        operands = [_sum_in_floats(node.input_value(0)), *node.input_values()[1:]]
    floats = [operand for operand in operands if operand is not None]
    return _like(node.clone_with_new_inputs(floats), node) if len(floats) == len(operands) else None


def _operand_in_floats(value: Output) -> Output | None:
    """Return 8-bit integers, or constants, minus a zero point as f32 instead of i32."""
    node, array = value.node, constant_array(value)
    if array is not None:
        return Constant(array.astype(np.float32)).output(0) if np.abs(array).max(initial=0) <= 255 else None
    if type(node) is ops.Subtract:
        number, zero_point = map(_operand_in_floats, node.input_values())
        if zero_point is None or number is None or not (is_constant(zero_point) or is_single(zero_point)):
            return None
        return _like(ops.Subtract(number, zero_point), node)
    if type(node) is not ops.Convert or node.get_input_element_type(0) not in _RANGES:
        return None
    return _like(ops.Convert(node.input_value(0), Type.f32), node)


def _like(made: Node, origin: Node) -> Output:
    copy_rt_info([origin], made)
    return made.output(0)


def is_single(value: Output) -> bool:
    """Return whether a value is known to have one element."""
    return value.partial_shape.is_static and math.prod(value.shape) == 1


def single_number(value: Output) -> float | None:
    """Return the only element of a constant, or None if it has several or is not known."""
    array = constant_array(value)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None

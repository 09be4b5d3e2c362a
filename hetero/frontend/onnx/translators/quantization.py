"""Quantized numbers: a number is (integer - zero point) · scale.

Sums of products of integers are made in i32, so they are exact.
"""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.onnx.translators.convolution import convolve
from hetero.frontend.quantization import (
    broadcast_along_axis,
    converted,
    dequantize,
    quantize,
    quantize_scaled,
    subtract_zero_point,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import (
    int64,
    per_channel,
    rank_of,
    scalar_like,
)
from hetero.graph import Output
from hetero.types import Type


@translator("QuantizeLinear", since=10)
def quantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    zero_point = node.get_optional_input(2)
    number = node.get_attribute("output_dtype", 0)
    asked = element_type(number) if number else None
    kind = zero_point.element_type if zero_point is not None else asked or Type.u8
    if asked not in (None, kind):
        raise FrontendError(f"output_dtype is {asked}, but the zero point {kind}")
    precision = node.get_attribute("precision", 0)
    kind_of_scale = scale.element_type if scale.element_type in _PRECISIONS else Type.f32
    computed = element_type(precision) if precision else kind_of_scale
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    value, scale = (
        ops.Convert(v, computed).output(0) for v in (value, broadcast_along_axis(scale, value, axis, block))
    )
    if zero_point is not None:
        zero_point = broadcast_along_axis(zero_point, value, axis, block)
    return quantize(value, scale, zero_point, kind, bool(node.get_attribute("saturate", 1)))


@translator("DequantizeLinear", since=10)
def dequantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    zero_point = broadcast_along_axis(node.get_input(2), value, axis, block) if node.has_input(2) else None
    number = node.get_attribute("output_dtype", 0)
    return dequantize(
        value,
        broadcast_along_axis(scale, value, axis, block),
        zero_point,
        element_type(number) if number else scale.element_type,
    )


# The types in which a quotient may be computed.
_PRECISIONS = (Type.f64, Type.f32, Type.f16, Type.bf16)


def _for_rows(parameter: Output | None, value: Output) -> Output | None:
    """A parameter that may be one for each row of a matrix."""
    return broadcast_along_axis(parameter, value, -2) if parameter is not None and rank_of(value) > 1 else parameter


def _for_columns(parameter: Output | None, value: Output) -> Output | None:
    return broadcast_along_axis(parameter, value, -1) if parameter is not None else None


@translator("MatMulInteger", since=10)
def matmul_integer(node: OnnxNodeContext) -> Translation:
    first, second = node.get_input(0), node.get_input(1)
    return product(first, node.get_optional_input(2), second, node.get_optional_input(3))


def product(first: Output, first_zero: Output | None, second: Output, second_zero: Output | None) -> Output:
    """The matrix product of integers less their zero points, i32: one for all, each row of the first, each column of
    the second."""
    numbers = (
        subtract_zero_point(first, _for_rows(first_zero, first), Type.i32),
        subtract_zero_point(second, _for_columns(second_zero, second), Type.i32),
    )
    return ops.MatMul(*numbers, False, False).output(0)


@translator("QLinearMatMul", since=10)
def qlinear_matmul(node: OnnxNodeContext) -> Translation:
    first, first_scale, first_zero, second, second_scale, second_zero, scale, zero_point = node.get_inputs()
    rows, columns = _for_rows(first_scale, first), _for_columns(second_scale, second)
    if first.element_type.is_real():
        numbers = (
            dequantize(first, rows, _for_rows(first_zero, first), Type.f32),
            dequantize(second, columns, _for_columns(second_zero, second), Type.f32),
        )
        number = ops.MatMul(*numbers, False, False).output(0)
        return quantize(number, converted(scale, Type.f32), zero_point, zero_point.element_type)
    total = product(first, first_zero, second, second_zero)
    return _requantized(total, rows, columns, _for_rows(scale, total), _for_rows(zero_point, total))


def _requantized(total: Output, first: Output, second: Output, scale: Output, zero_point: Output) -> Output:
    """A sum of products of integers of two scales, as integers of another scale and zero point."""
    first, second, scale = (converted(value, Type.f32) for value in (first, second, scale))
    factor = ops.Divide(ops.Multiply(first, second), scale).output(0)
    number = ops.Multiply(converted(total, Type.f32), factor).output(0)
    return quantize_scaled(number, zero_point, zero_point.element_type)


@translator("ConvInteger", since=10)
def conv_integer(node: OnnxNodeContext) -> Translation:
    data_zero, filters_zero = node.get_optional_input(2), node.get_optional_input(3)
    return _integer_convolution(node, node.get_input(0), data_zero, node.get_input(1), filters_zero)


@translator("QLinearConv", since=10)
def qlinear_conv(node: OnnxNodeContext) -> Translation:
    return quantized_convolution(node, node.get_input(0))


def quantized_convolution(node: OnnxNodeContext, data: Output) -> Output:
    """QLinearConv of data by the other inputs of the node."""
    data_scale, data_zero, filters, filters_scale, filters_zero, scale, zero_point = (
        node.get_input(index) for index in range(1, 8)
    )
    total = _integer_convolution(node, data, data_zero, filters, filters_zero)
    if node.has_input(8):
        total = ops.Add(total, per_channel(node.get_input(8), rank_of(total))).output(0)
    return _requantized(total, data_scale, broadcast_along_axis(filters_scale, total, 1), scale, zero_point)


def _integer_convolution(
    node: OnnxNodeContext, data: Output, data_zero: Output | None, filters: Output, filters_zero: Output | None
) -> Output:
    """The convolution of integers less their zero points, i32. Padding is with the zero point: with zeros here."""
    if filters_zero is not None:
        filters_zero = broadcast_along_axis(filters_zero, filters, 0)
    return convolve(
        node, subtract_zero_point(data, data_zero, Type.i32), subtract_zero_point(filters, filters_zero, Type.i32)
    )


@translator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(node: OnnxNodeContext) -> Translation:
    """To u8, with the scale and the zero point that hold the smallest and the largest element, and 0."""
    return list(dynamically_quantized(node.get_input(0)))


def dynamically_quantized(value: Output) -> tuple[Output, Output, Output]:
    """The value as u8, its scale and its zero point. Where all numbers are 0 the scale is 1, as ONNX Runtime has it."""
    flat, zero = ops.Reshape(value, int64([-1]), False), scalar_like(value, 0)
    high = ops.Maximum(ops.ReduceMax(flat, int64([0]), False), zero)
    low = ops.Minimum(ops.ReduceMin(flat, int64([0]), False), zero)
    scale = ops.Divide(ops.Subtract(high, low), scalar_like(value, 255))
    scale = ops.Select(ops.Equal(scale, zero), scalar_like(value, 1), scale).output(0)
    zero_point = quantize(ops.Negative(low).output(0), scale, None, Type.u8)
    return quantize(value, scale, zero_point, Type.u8), scale, zero_point

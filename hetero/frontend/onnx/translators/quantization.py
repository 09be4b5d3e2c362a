"""Quantized numbers: a number is (integer - zero point) · scale.

Sums of products of integers are computed in f64, which holds them exactly and multiplies matrices fast.
"""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.onnx.translators.common import int64, normalized, per_channel, rank_of, reshape, scalar_like
from hetero.frontend.onnx.translators.convolution import convolve
from hetero.graph import Output
from hetero.types import Type


@translator("QuantizeLinear", since=10)
def quantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    zero_point = node.get_input(2) if node.has_input(2) else None
    number = node.get_attribute("output_dtype", 0)
    kind = zero_point.element_type if zero_point is not None else element_type(number) if number else Type.u8
    precision = node.get_attribute("precision", 0)
    computed = element_type(precision) if precision else scale.element_type
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    value, scale = (ops.Convert(v, computed).output(0) for v in (value, spread(scale, value, axis, block)))
    if zero_point is not None:
        zero_point = spread(zero_point, value, axis, block)
    return quantize(value, scale, zero_point, kind, bool(node.get_attribute("saturate", 1)))


@translator("DequantizeLinear", since=10)
def dequantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    zero_point = spread(node.get_input(2), value, axis, block) if node.has_input(2) else None
    number = node.get_attribute("output_dtype", 0)
    result = dequantize(value, spread(scale, value, axis, block), zero_point)
    return ops.Convert(result, element_type(number)) if number else result


def spread(parameter: Output, value: Output, axis: int, block: int = 0) -> Output:
    """A scale or a zero point in a shape that broadcasts to the value: it is one for all, for each place or block of
    an axis."""
    shape = parameter.partial_shape
    if shape.has_rank and (len(shape) == 0 or (len(shape) == 1 and not block and shape == [1])):
        return parameter
    rank = rank_of(value)
    axis = normalized(axis, rank)
    if block:
        length = ops.Gather(ops.ShapeOf(value), int64(axis), int64(0))
        places = ops.Divide(ops.Range(int64(0), length, int64(1), "i64"), int64(block))
        return ops.Gather(parameter, places, int64(axis)).output(0)
    return reshape(parameter, (*[1] * axis, -1, *[1] * (rank - axis - 1)))


def quantize(value: Output, scale: Output, zero_point: Output | None, kind: Type, saturate: bool = True) -> Output:
    """Numbers as integers of a kind, or as f8: rounded to the nearest, halves to even, and kept in the kind's range."""
    scaled = ops.Divide(value, scale).output(0)
    if kind.is_real():
        if zero_point is not None:
            scaled = ops.Add(scaled, ops.Convert(zero_point, scaled.element_type)).output(0)
        return ops.Cast(scaled, kind, saturate).output(0)
    rounded = ops.Round(scaled, "half_to_even").output(0)
    if rounded.element_type.bitwidth < 32:
        # The sum with the zero point needs more digits than halves have.
        rounded = ops.Convert(rounded, "f32").output(0)
    if zero_point is not None:
        rounded = ops.Add(rounded, ops.Convert(zero_point, rounded.element_type)).output(0)
    low = -(1 << kind.bitwidth - 1) if kind.is_signed() else 0
    return ops.Convert(ops.Clamp(rounded, low, low + (1 << kind.bitwidth) - 1), kind).output(0)


def dequantize(value: Output, scale: Output, zero_point: Output | None) -> Output:
    """Integers, or f8, as numbers of the scale's type."""
    kind = scale.element_type
    computed = Type.f32 if kind.bitwidth < 32 and value.element_type.is_integral() else kind
    number = ops.Convert(value, computed).output(0)
    if zero_point is not None:
        number = ops.Subtract(number, ops.Convert(zero_point, computed)).output(0)
    if computed is not kind:
        return ops.Convert(ops.Multiply(number, ops.Convert(scale, computed)), kind).output(0)
    return ops.Multiply(number, scale).output(0)


def _centred(value: Output, zero_point: Output | None) -> Output:
    """Integers less their zero point, exactly, as f64."""
    number = ops.Convert(value, "f64").output(0)
    return number if zero_point is None else ops.Subtract(number, ops.Convert(zero_point, "f64")).output(0)


def _optional(node: OnnxNodeContext, index: int) -> Output | None:
    return node.get_input(index) if node.has_input(index) else None


def _for_rows(parameter: Output | None, value: Output) -> Output | None:
    """A parameter that may be one for each row of a matrix."""
    return spread(parameter, value, -2) if parameter is not None and rank_of(value) > 1 else parameter


def _for_columns(parameter: Output | None, value: Output) -> Output | None:
    return spread(parameter, value, -1) if parameter is not None else None


@translator("MatMulInteger", since=10)
def matmul_integer(node: OnnxNodeContext) -> Translation:
    first, second = node.get_input(0), node.get_input(1)
    product = ops.MatMul(
        _centred(first, _for_rows(_optional(node, 2), first)),
        _centred(second, _for_columns(_optional(node, 3), second)), False, False,
    )  # fmt: skip
    return ops.Convert(product, Type.i32)


@translator("QLinearMatMul", since=10)
def qlinear_matmul(node: OnnxNodeContext) -> Translation:
    first, first_scale, first_zero, second, second_scale, second_zero, scale, zero_point = node.get_inputs()
    product = ops.MatMul(
        _centred(first, _for_rows(first_zero, first)), _centred(second, _for_columns(second_zero, second)), False, False
    )
    factor = ops.Multiply(_for_rows(first_scale, first), _for_columns(second_scale, second)).output(0)
    return _requantized(product.output(0), factor, scale, zero_point)


def _requantized(total: Output, factor: Output, scale: Output, zero_point: Output) -> Output:
    """An exact sum of products times a factor, as integers of another scale and zero point."""
    number = ops.Multiply(ops.Convert(total, Type.f32), ops.Convert(factor, Type.f32)).output(0)
    return quantize(number, ops.Convert(scale, Type.f32).output(0), zero_point, zero_point.element_type)


@translator("ConvInteger", since=10)
def conv_integer(node: OnnxNodeContext) -> Translation:
    data, filters = node.get_input(0), node.get_input(1)
    filters_zero = _optional(node, 3)
    if filters_zero is not None:
        filters_zero = spread(filters_zero, filters, 0)
    return ops.Convert(convolve(node, _centred(data, _optional(node, 2)), _centred(filters, filters_zero)), Type.i32)


@translator("QLinearConv", since=10)
def qlinear_conv(node: OnnxNodeContext) -> Translation:
    data, data_scale, data_zero, filters, filters_scale, filters_zero, scale, zero_point = (
        node.get_input(index) for index in range(8)
    )
    total = convolve(node, _centred(data, data_zero), _centred(filters, spread(filters_zero, filters, 0)))
    rank = rank_of(total)
    if node.has_input(8):
        total = ops.Add(total, ops.Convert(per_channel(node.get_input(8), rank), "f64")).output(0)
    factor = ops.Multiply(data_scale, spread(filters_scale, total, 1)).output(0)
    return _requantized(total, factor, scale, zero_point)


@translator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(node: OnnxNodeContext) -> Translation:
    """To u8, with the scale and the zero point that hold the smallest and the largest element, and 0."""
    return list(dynamically_quantized(node.get_input(0)))


def dynamically_quantized(value: Output) -> tuple[Output, Output, Output]:
    """The value as u8, its scale and its zero point."""
    axes, zero = int64(range(rank_of(value))), scalar_like(value, 0)
    high = ops.Maximum(ops.ReduceMax(value, axes, False), zero)
    low = ops.Minimum(ops.ReduceMin(value, axes, False), zero)
    scale = ops.Divide(ops.Subtract(high, low), scalar_like(value, 255)).output(0)
    place = ops.Clamp(ops.Divide(ops.Negative(low), scale), 0, 255)
    zero_point = ops.Convert(ops.Round(place, "half_to_even"), Type.u8).output(0)
    return quantize(value, scale, zero_point, Type.u8), scale, zero_point

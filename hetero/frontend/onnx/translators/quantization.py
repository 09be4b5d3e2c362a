"""Quantization, dequantization, and operators on quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import (
    broadcast_along_axis,
    dequantize,
    dequantize_in_blocks,
    quantize,
    quantize_scaled,
    subtract_zero_point,
)
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.translators.convolution import convolve
from hetero.frontend.translation.translators import OptionalInput, Row, Translation
from hetero.frontend.translation.values import (
    convert_to,
    int64,
    normalize_axis,
    per_channel,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


@translator("QuantizeLinear", since=10)
def quantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    zero_point = node.get_optional_input(2)
    kind = node.get_type_attribute("output_dtype", Type.u8 if zero_point is None else zero_point.element_type)
    if zero_point is not None and kind is not zero_point.element_type:
        raise FrontendError(f"output_dtype is {kind}, but the zero point is {zero_point.element_type}")
    precision = scale.element_type if scale.element_type in _PRECISIONS else Type.f32
    precision = node.get_type_attribute("precision", precision)
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    scale = ops.Convert(broadcast_along_axis(scale, value, axis, block), precision).output(0)
    value = ops.Convert(value, precision).output(0)
    if zero_point is not None:
        zero_point = broadcast_along_axis(zero_point, value, axis, block)
    return quantize(value, scale, zero_point, kind, bool(node.get_attribute("saturate", 1)))


@translator("DequantizeLinear", since=10)
def dequantize_linear(node: OnnxNodeContext) -> Translation:
    value, scale = node.get_input(0), node.get_input(1)
    axis, block = node.get_attribute("axis", 1), node.get_attribute("block_size", 0)
    kind = node.get_type_attribute("output_dtype", scale.element_type)
    if block and isinstance(value.node, Constant):
        axis = normalize_axis(axis, rank_of(value))
        if scale.partial_shape.is_static and value.shape[axis] == block * scale.shape[axis]:
            return dequantize_in_blocks(value.node, scale, node.get_optional_input(2), axis, block, kind)
    zero_point = broadcast_along_axis(node.get_input(2), value, axis, block) if node.has_input(2) else None
    return dequantize(value, broadcast_along_axis(scale, value, axis, block), zero_point, kind)


# The types in which QuantizeLinear may divide.
_PRECISIONS = (Type.f64, Type.f32, Type.f16, Type.bf16)


def _per_row(parameter: Output, value: Output) -> Output:
    """Return a scale or zero point, which may have one number per row, in a shape that broadcasts to the matrix."""
    return broadcast_along_axis(parameter, value, -2) if rank_of(value) > 1 else parameter


def integer_gemm(
    a: Output, a_zero_point: Output | None, b: Output, b_zero_point: Output | None, transposed: Sequence[int] = (0, 0)
) -> Output:
    """Return (A - a_zero_point) · (B - b_zero_point) in i32, with A and B optionally transposed.

    The zero points are scalars, or vectors along the rows of A and the columns of B.
    """
    if a_zero_point is not None:
        a_zero_point = _per_row(a_zero_point, a)
    if b_zero_point is not None:
        b_zero_point = broadcast_along_axis(b_zero_point, b, -2 if transposed[1] else -1)
    integers = subtract_zero_point(a, a_zero_point, Type.i32), subtract_zero_point(b, b_zero_point, Type.i32)
    return ops.MatMul(*integers, *transposed).output(0)


@translator("QLinearMatMul", since=10)
def qlinear_matmul(node: OnnxNodeContext) -> Translation:
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, scale, zero_point = node.get_inputs()
    a_scale, b_scale = _per_row(a_scale, a), broadcast_along_axis(b_scale, b, -1)
    if a.element_type.is_real():  # f8
        factors = (
            dequantize(a, a_scale, _per_row(a_zero_point, a), Type.f32),
            dequantize(b, b_scale, broadcast_along_axis(b_zero_point, b, -1), Type.f32),
        )
        product = ops.MatMul(*factors, False, False).output(0)
        return quantize(product, convert_to(scale, Type.f32), zero_point, zero_point.element_type)
    total = integer_gemm(a, a_zero_point, b, b_zero_point)
    return _requantize(total, a_scale, b_scale, _per_row(scale, total), _per_row(zero_point, total))


def _requantize(total: Output, a_scale: Output, b_scale: Output, scale: Output, zero_point: Output) -> Output:
    """Quantize total · a_scale · b_scale, an accumulator of integer products, by another scale and zero point."""
    a_scale, b_scale, scale = (convert_to(value, Type.f32) for value in (a_scale, b_scale, scale))
    factor = ops.Divide(ops.Multiply(a_scale, b_scale), scale).output(0)
    scaled = ops.Multiply(convert_to(total, Type.f32), factor).output(0)
    return quantize_scaled(scaled, zero_point, zero_point.element_type)


@translator("ConvInteger", since=10)
def conv_integer(node: OnnxNodeContext) -> Translation:
    zero_points = node.get_optional_input(2), node.get_optional_input(3)
    return _integer_convolution(node, node.get_input(0), zero_points[0], node.get_input(1), zero_points[1])


@translator("QLinearConv", since=10)
def qlinear_conv(node: OnnxNodeContext) -> Translation:
    return quantized_convolution(node, node.get_input(0))


def quantized_convolution(node: OnnxNodeContext, data: Output) -> Output:
    """Return QLinearConv of the data, with inputs 1 to 8 and the attributes of the node."""
    data_scale, data_zero_point, filters, filters_scale, filters_zero_point, scale, zero_point = (
        node.get_input(index) for index in range(1, 8)
    )
    total = _integer_convolution(node, data, data_zero_point, filters, filters_zero_point)
    if node.has_input(8):
        total = ops.Add(total, per_channel(node.get_input(8), rank_of(total))).output(0)
    return _requantize(total, data_scale, broadcast_along_axis(filters_scale, total, 1), scale, zero_point)


def _integer_convolution(
    node: OnnxNodeContext,
    data: Output,
    data_zero_point: Output | None,
    filters: Output,
    filters_zero_point: Output | None,
) -> Output:
    """Convolve integers minus their zero points in i32. ONNX pads with the zero point, which becomes 0 here."""
    if filters_zero_point is not None:
        filters_zero_point = broadcast_along_axis(filters_zero_point, filters, 0)
    data = subtract_zero_point(data, data_zero_point, Type.i32)
    return convolve(node, data, subtract_zero_point(filters, filters_zero_point, Type.i32))


def quantize_dynamically(value: Output) -> tuple[Output, Output, Output]:
    """Quantize to u8 by the range of the elements and 0; return the result, its scale and its zero point.

    If all elements are 0, the scale is 1, as in ONNX Runtime.
    """
    elements = value if value.partial_shape.has_rank else reshape(value, [-1])
    zero, axes = scalar_like(value, 0), int64([*range(rank_of(elements))])
    high = ops.Maximum(ops.ReduceMax(elements, axes, False), zero)
    low = ops.Minimum(ops.ReduceMin(elements, axes, False), zero)
    step = ops.Divide(ops.Subtract(high, low), scalar_like(value, 255))
    scale = ops.Select(ops.Equal(step, zero), scalar_like(value, 1), step).output(0)
    zero_point = quantize(ops.Negative(low).output(0), scale, None, Type.u8)
    return quantize(value, scale, zero_point, Type.u8), scale, zero_point


rows({
    "DynamicQuantizeLinear": Row(quantize_dynamically, since=11),
    "MatMulInteger": Row(integer_gemm, 0, OptionalInput(2), 1, OptionalInput(3), since=10),
})  # fmt: skip

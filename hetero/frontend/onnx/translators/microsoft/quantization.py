"""Quantized operators of the domain com.microsoft, as ONNX Runtime's quantizer writes them."""

from __future__ import annotations

from collections.abc import Callable

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.activation import leaky_relu
from hetero.frontend.numerics.quantization import (
    as_scalar,
    broadcast_along_axis,
    dequantize,
    quantize,
    quantize_scaled,
)
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.onnx.translators.convolution import average_pool_of
from hetero.frontend.onnx.translators.elementwise import along_axis_and_later
from hetero.frontend.onnx.translators.microsoft.fused import DOMAIN, add_optional
from hetero.frontend.onnx.translators.quantization import (
    dequantize_linear,
    integer_gemm,
    quantize_dynamically,
    quantize_linear,
    quantized_convolution,
)
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import channels_last, channels_second, int64, multiply_by, rank_of
from hetero.graph import Op, Output, as_output

translator("QuantizeLinear", domain=DOMAIN)(quantize_linear)
translator("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def _dequantized_input(node: OnnxNodeContext, index: int) -> Output:
    """Dequantize an input. Its scale and zero point are the next two inputs."""
    return dequantize(node.get_input(index), *_scale_and_zero_point(node, index + 1), Type.f32)


def _quantize_result(node: OnnxNodeContext, value: Output | Op, index: int, kind: Type) -> Output:
    """Quantize a result by the scale in the input of this index and the zero point in the next one."""
    return quantize(as_output(value), *_scale_and_zero_point(node, index), kind)


def _scale_and_zero_point(node: OnnxNodeContext, index: int) -> tuple[Output, Output | None]:
    zero_point = node.get_optional_input(index + 1)
    return as_scalar(node.get_input(index)), None if zero_point is None else as_scalar(zero_point)


@translator("QLinearAdd", "QLinearMul", domain=DOMAIN)
def qlinear_binary(node: OnnxNodeContext) -> Translation:
    operation = ops.Add if node.get_op_type() == "QLinearAdd" else ops.Multiply
    result = operation(_dequantized_input(node, 0), _dequantized_input(node, 3))
    return _quantize_result(node, result, 6, node.get_input(0).element_type)


def _softmax(node: OnnxNodeContext, value: Output) -> Op:
    axis = node.get_attribute("axis", -1)
    if node.get_attribute("opset") >= 13:
        return ops.Softmax(value, axis)
    return along_axis_and_later(ops.Softmax, value, axis)


def _reduce_mean(node: OnnxNodeContext, value: Output) -> Op:
    axes = node.get_attribute("axes", None) or range(rank_of(value))
    return ops.ReduceMean(value, int64(axes), bool(node.get_attribute("keepdims", 1)))


def _global_average_pool(node: OnnxNodeContext, value: Output) -> Op:
    rank = rank_of(value)
    axes = range(1, rank - 1) if node.get_attribute("channels_last", 0) else range(2, rank)
    return ops.ReduceMean(value, int64(axes), True)


def _average_pool(node: OnnxNodeContext, value: Output) -> Output:
    return _apply_channels_first(node, value, average_pool_of)


def _apply_channels_first(
    node: OnnxNodeContext, value: Output, function: Callable[[OnnxNodeContext, Output], Output]
) -> Output:
    """Apply a function for ``[N, C, spatial…]`` to a value that is ``[N, spatial…, C]`` if channels_last is set."""
    if not node.get_attribute("channels_last", 0):
        return function(node, value)
    return channels_last(function(node, channels_second(value)))


@translator("QLinearConv", domain=DOMAIN)
def qlinear_conv(node: OnnxNodeContext) -> Translation:
    return _apply_channels_first(node, node.get_input(0), quantized_convolution)


# Functions of the node and its dequantized input.
_UNARY: dict[str, Callable[[OnnxNodeContext, Output], Op | Output]] = {
    "QLinearLeakyRelu": lambda node, value: leaky_relu(value, node.get_attribute("alpha", 0.01)),
    "QLinearSigmoid": lambda node, value: ops.Sigmoid(value),
    "QLinearSoftmax": _softmax, "QLinearReduceMean": _reduce_mean,
    "QLinearGlobalAveragePool": _global_average_pool, "QLinearAveragePool": _average_pool,
}  # fmt: skip


@translator(*_UNARY, domain=DOMAIN)
def qlinear_unary(node: OnnxNodeContext) -> Translation:
    result = _UNARY[node.get_op_type()](node, _dequantized_input(node, 0))
    return _quantize_result(node, result, 3, node.get_input(0).element_type)


@translator("QLinearConcat", domain=DOMAIN)
def qlinear_concat(node: OnnxNodeContext) -> Translation:
    # Inputs 0 and 1 are the scale and zero point of the result.
    values = [_dequantized_input(node, index) for index in range(2, node.get_input_size(), 3)]
    return _quantize_result(node, ops.Concat(values, node.get_attribute("axis")), 0, node.get_input(2).element_type)


@translator("QLinearWhere", domain=DOMAIN)
def qlinear_where(node: OnnxNodeContext) -> Translation:
    selected = ops.Select(node.get_input(0), _dequantized_input(node, 1), _dequantized_input(node, 4))
    return _quantize_result(node, selected, 7, node.get_input(1).element_type)


@translator("QGemm", domain=DOMAIN)
def qgemm(node: OnnxNodeContext) -> Translation:
    """Return alpha·A·B + C, quantized, or f32 if the result has no scale. C is i32 with scale alpha·a_scale·b_scale."""
    a, b_scale, zero_point = node.get_input(0), node.get_input(4), node.get_optional_input(8)
    transposed = [node.get_attribute(name, 0) for name in ("transA", "transB")]
    products = integer_gemm(a, node.get_optional_input(2), node.get_input(3), node.get_optional_input(5), transposed)
    total = ops.Convert(add_optional(products, node.get_optional_input(6)), Type.f32)
    scale = multiply_by(ops.Multiply(node.get_input(1), b_scale), node.get_attribute("alpha", 1.0))
    if not node.has_input(7):
        return ops.Multiply(total, scale)
    kind = a.element_type if zero_point is None else zero_point.element_type
    return quantize_scaled(ops.Multiply(total, ops.Divide(scale, node.get_input(7))).output(0), zero_point, kind)


@translator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(node: OnnxNodeContext) -> Translation:
    """Return (A - a_zero_point) · (B - b_zero_point) · a_scale · b_scale + bias."""
    total = integer_gemm(node.get_input(0), node.get_optional_input(4), node.get_input(1), node.get_optional_input(5))
    return _rescale(node, total, node.get_input(2), 3, 6)


@translator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(node: OnnxNodeContext) -> Translation:
    """MatMulIntegerToFloat of A quantized dynamically to u8."""
    value, scale, zero_point = quantize_dynamically(node.get_input(0))
    total = integer_gemm(value, zero_point, node.get_input(1), node.get_optional_input(3))
    return _rescale(node, total, scale, 2, 4)


def _rescale(node: OnnxNodeContext, total: Output, a_scale: Output, b_scale: int, bias: int) -> Output:
    """Return total · a_scale · b_scale + bias in f32. The scale of B and the optional bias are given by input index."""
    columns = broadcast_along_axis(node.get_input(b_scale), node.get_input(1), -1)
    result = ops.Multiply(ops.Convert(total, Type.f32), ops.Multiply(a_scale, columns))
    return add_optional(result, node.get_optional_input(bias))

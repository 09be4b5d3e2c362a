"""Operators of the domain com.microsoft on quantized numbers, as ONNX Runtime's quantizer writes them."""

from __future__ import annotations

from collections.abc import Callable

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.microsoft_fused import DOMAIN
from hetero.frontend.onnx.translators.pooling import average_pool_of
from hetero.frontend.onnx.translators.quantization import (
    dequantize_linear,
    dynamically_quantized,
    product,
    quantize_linear,
    quantized_convolution,
)
from hetero.frontend.onnx.translators.recurrent import lstm
from hetero.frontend.quantization import (
    as_scalar,
    broadcast_along_axis,
    dequantize,
    quantize,
    quantize_scaled,
    subtract_zero_point,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import flatten, int64, rank_of, reshape, scalar_like
from hetero.graph import Op, Output
from hetero.types import Type

translator("QuantizeLinear", domain=DOMAIN)(quantize_linear)
translator("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def _number(node: OnnxNodeContext, index: int) -> Output:
    """The number that three inputs from an index on are: an integer, its scale and its zero point."""
    scale, zero_point = as_scalar(node.get_input(index + 1)), node.get_optional_input(index + 2)
    return dequantize(node.get_input(index), scale, None if zero_point is None else as_scalar(zero_point), Type.f32)


def _quantized(node: OnnxNodeContext, value: Output | Op, index: int, kind: Type) -> Output:
    """A number by the scale and the zero point in two inputs from an index on."""
    value = value if isinstance(value, Output) else value.output(0)
    scale, zero_point = as_scalar(node.get_input(index)), node.get_optional_input(index + 1)
    return quantize(value, scale, None if zero_point is None else as_scalar(zero_point), kind)


def _binary(operation: type[Op]) -> Callable[[OnnxNodeContext], Translation]:
    def translate(node: OnnxNodeContext) -> Translation:
        result = operation(_number(node, 0), _number(node, 3))
        return _quantized(node, result, 6, node.get_input(0).element_type)

    return translate


for _type, _operation in {"QLinearAdd": ops.Add, "QLinearMul": ops.Multiply}.items():
    translator(_type, domain=DOMAIN)(_binary(_operation))


def _unary(function: Callable[[OnnxNodeContext, Output], Op | Output]) -> Callable[[OnnxNodeContext], Translation]:
    def translate(node: OnnxNodeContext) -> Translation:
        return _quantized(node, function(node, _number(node, 0)), 3, node.get_input(0).element_type)

    return translate


def _leaky_relu(node: OnnxNodeContext, value: Output) -> Op:
    return ops.PRelu(value, scalar_like(value, node.get_attribute("alpha", 0.01)))


def _softmax(node: OnnxNodeContext, value: Output) -> Op:
    axis = node.get_attribute("axis", -1)
    if node.get_attribute("opset") >= 13:
        return ops.Softmax(value, axis)
    # Softmax was over all dimensions from the axis on.
    return ops.Reshape(ops.Softmax(flatten(value, axis), 1), ops.ShapeOf(value), False)


def _reduce_mean(node: OnnxNodeContext, value: Output) -> Op:
    axes = node.get_attribute("axes", None) or range(rank_of(value))
    return ops.ReduceMean(value, int64(axes), bool(node.get_attribute("keepdims", 1)))


def _global_average_pool(node: OnnxNodeContext, value: Output) -> Op:
    last = bool(node.get_attribute("channels_last", 0))
    rank = rank_of(value)
    return ops.ReduceMean(value, int64(range(1, rank - 1) if last else range(2, rank)), True)


def _average_pool(node: OnnxNodeContext, value: Output) -> Output:
    return _channels_second(node, value, average_pool_of)


def _channels_second(
    node: OnnxNodeContext, value: Output, function: Callable[[OnnxNodeContext, Output], Output]
) -> Output:
    """What a function for ``[N, C, spatial…]`` makes of a value, which is ``[N, spatial…, C]`` with channels_last."""
    if not node.get_attribute("channels_last", 0):
        return function(node, value)
    rank = rank_of(value)
    result = function(node, ops.Transpose(value, int64([0, rank - 1, *range(1, rank - 1)])).output(0))
    return ops.Transpose(result, int64([0, *range(2, rank), 1])).output(0)


@translator("QLinearConv", domain=DOMAIN)
def qlinear_conv(node: OnnxNodeContext) -> Translation:
    return _channels_second(node, node.get_input(0), quantized_convolution)


for _type, _function in {
    "QLinearLeakyRelu": _leaky_relu, "QLinearSigmoid": lambda node, value: ops.Sigmoid(value),
    "QLinearSoftmax": _softmax, "QLinearReduceMean": _reduce_mean,
    "QLinearGlobalAveragePool": _global_average_pool, "QLinearAveragePool": _average_pool,
}.items():  # fmt: skip
    translator(_type, domain=DOMAIN)(_unary(_function))


@translator("QLinearConcat", domain=DOMAIN)
def qlinear_concat(node: OnnxNodeContext) -> Translation:
    # The scale and the zero point of the result come first here.
    values = [_number(node, index) for index in range(2, node.get_input_size(), 3)]
    return _quantized(node, ops.Concat(values, node.get_attribute("axis")), 0, node.get_input(2).element_type)


@translator("QLinearWhere", domain=DOMAIN)
def qlinear_where(node: OnnxNodeContext) -> Translation:
    chosen = ops.Select(node.get_input(0), _number(node, 1), _number(node, 4))
    return _quantized(node, chosen, 7, node.get_input(1).element_type)


@translator("QGemm", domain=DOMAIN)
def qgemm(node: OnnxNodeContext) -> Translation:
    """alpha·A·B + C, C being i32 of the scale alpha·a_scale·b_scale; f32 where no scale of the result is given."""
    first, second, columns = node.get_input(0), node.get_input(3), node.get_input(4)
    second_zero = node.get_optional_input(5)
    if rank_of(columns) == 1 and node.get_attribute("transB", 0) and second_zero is not None:
        second_zero = broadcast_along_axis(second_zero, second, 0)
    numbers = (
        subtract_zero_point(first, node.get_optional_input(2), Type.i32),
        subtract_zero_point(second, second_zero, Type.i32),
    )
    transposed = [bool(node.get_attribute(name, 0)) for name in ("transA", "transB")]
    total = ops.MatMul(*numbers, *transposed).output(0)
    if node.has_input(6):
        total = ops.Add(total, node.get_input(6)).output(0)
    factor = ops.Multiply(node.get_input(1), columns).output(0)
    factor = ops.Multiply(factor, scalar_like(factor, node.get_attribute("alpha", 1.0))).output(0)
    if not node.has_input(7):
        return ops.Multiply(ops.Convert(total, Type.f32), factor)
    zero_point = node.get_optional_input(8)
    kind = first.element_type if zero_point is None else zero_point.element_type
    factor = ops.Divide(factor, node.get_input(7))
    return quantize_scaled(ops.Multiply(ops.Convert(total, Type.f32), factor).output(0), zero_point, kind)


@translator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(node: OnnxNodeContext) -> Translation:
    """(A - a_zero_point) · (B - b_zero_point) · a_scale · b_scale + bias"""
    total = product(node.get_input(0), node.get_optional_input(4), node.get_input(1), node.get_optional_input(5))
    return _scaled(node, total, node.get_input(2), 3, 6)


@translator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(node: OnnxNodeContext) -> Translation:
    """The same with A quantized to u8 by what is in it."""
    value, scale, zero_point = dynamically_quantized(node.get_input(0))
    total = product(value, zero_point, node.get_input(1), node.get_optional_input(3))
    return _scaled(node, total, scale, 2, 4)


def _scaled(node: OnnxNodeContext, total: Output, first_scale: Output, second_scale: int, bias: int) -> Op:
    """A product in units of two scales as numbers; the second scale, and a bias, are in the inputs of these indices."""
    columns = broadcast_along_axis(node.get_input(second_scale), node.get_input(1), -1)
    result = ops.Multiply(ops.Convert(total, Type.f32), ops.Multiply(first_scale, columns))
    return ops.Add(result, node.get_input(bias)) if node.has_input(bias) else result


@translator("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(node: OnnxNodeContext) -> Translation:
    """LSTM with quantized weights, ``[directions, inputs, 4 · hidden_size]``.

    The data is quantized as ONNX Runtime does it, but not the hidden state in each step, so that the result is nearer
    to that of the weights without any quantization: it differs by up to a step of such codes, a 255th.
    """
    value, scale, zero_point = dynamically_quantized(node.get_input(0))
    weights = [_lstm_weights(node, index, first) for index, first in ((1, 8), (2, 10))]
    others = [node.get_optional_input(index) for index in range(3, 8)]
    return lstm(node.with_inputs([dequantize(value, scale, zero_point, Type.f32), *weights, *others]))


def _lstm_weights(node: OnnxNodeContext, index: int, first: int) -> Output:
    """Weights ``[directions, 4 · hidden_size, inputs]`` of the input of an index, with the scale in input ``first``."""
    codes = node.get_input(index)
    directions = codes.shape[0]
    scale, zero_point = (reshape(node.get_input(place), (directions, 1, -1)) for place in (first, first + 1))
    return ops.Transpose(dequantize(codes, scale, zero_point, Type.f32), int64([0, 2, 1])).output(0)

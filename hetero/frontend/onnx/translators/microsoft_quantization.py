"""Operators of the domain com.microsoft on quantized numbers, as ONNX Runtime's quantizer writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.translators.common import int64, rank_of, scalar_like
from hetero.frontend.onnx.translators.pooling import average_pool_of
from hetero.frontend.onnx.translators.quantization import (
    dequantize,
    dequantize_linear,
    dynamically_quantized,
    quantize,
    quantize_linear,
    spread,
)
from hetero.graph import Op, Output
from hetero.types import Type

DOMAIN = "com.microsoft"

translator("QuantizeLinear", domain=DOMAIN)(quantize_linear)
translator("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def _optional(node: OnnxNodeContext, index: int) -> Output | None:
    return node.get_input(index) if node.has_input(index) else None


def _number(node: OnnxNodeContext, index: int) -> Output:
    """The number that three inputs from an index on are: an integer, its scale and its zero point."""
    return dequantize(node.get_input(index), node.get_input(index + 1), _optional(node, index + 2))


def _quantized(node: OnnxNodeContext, value: Output | Op, index: int, kind: Type) -> Output:
    """A number by the scale and the zero point in two inputs from an index on."""
    value = value if isinstance(value, Output) else value.output(0)
    return quantize(value, node.get_input(index), _optional(node, index + 1), kind)


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
    if node.get_attribute("opset") < 13:
        raise FrontendError("QLinearSoftmax of an operator set before 13 is not supported")
    return ops.Softmax(value, node.get_attribute("axis", -1))


def _reduce_mean(node: OnnxNodeContext, value: Output) -> Op:
    axes = node.get_attribute("axes", None) or range(rank_of(value))
    return ops.ReduceMean(value, int64(axes), bool(node.get_attribute("keepdims", 1)))


def _global_average_pool(node: OnnxNodeContext, value: Output) -> Op:
    last = bool(node.get_attribute("channels_last", 0))
    rank = rank_of(value)
    return ops.ReduceMean(value, int64(range(1, rank - 1) if last else range(2, rank)), True)


def _average_pool(node: OnnxNodeContext, value: Output) -> Op | Output:
    if node.get_attribute("channels_last", 0):
        raise FrontendError("QLinearAveragePool with channels_last is not supported")
    return average_pool_of(node, value)


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
    first, second = (_centred(node, index) for index in (0, 3))
    transposed = [bool(node.get_attribute(name, 0)) for name in ("transA", "transB")]
    total: Op | Output = ops.MatMul(first, second, *transposed)
    if node.has_input(6):
        total = ops.Add(total, ops.Convert(node.get_input(6), "f64"))
    factor = ops.Multiply(node.get_input(1), node.get_input(4))
    factor = ops.Multiply(factor, scalar_like(factor.output(0), node.get_attribute("alpha", 1.0)))
    number = ops.Multiply(ops.Convert(total, Type.f32), factor)
    if not node.has_input(7):
        return number
    return _quantized(node, number, 7, node.get_input(0).element_type)


def _centred(node: OnnxNodeContext, index: int) -> Output:
    """The integer in an input less the zero point two inputs behind it, in f64, which is exact."""
    number, zero_point = ops.Convert(node.get_input(index), "f64"), _optional(node, index + 2)
    if zero_point is None:
        return number.output(0)
    return ops.Subtract(number, ops.Convert(zero_point, "f64")).output(0)


@translator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(node: OnnxNodeContext) -> Translation:
    """(A - a_zero_point) · (B - b_zero_point) · a_scale · b_scale + bias"""
    return _scaled_product(node.get_input(0), node.get_input(2), _optional(node, 4), node, 3, 5, 6)


@translator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(node: OnnxNodeContext) -> Translation:
    """The same with A quantized to u8 by what is in it."""
    value, scale, zero_point = dynamically_quantized(node.get_input(0))
    return _scaled_product(value, scale, zero_point, node, 2, 3, 4)


def _scaled_product(
    value: Output,
    value_scale: Output,
    value_zero: Output | None,
    node: OnnxNodeContext,
    scale: int,
    zero: int,
    bias: int,
) -> Op:
    """The value times input 1, whose scale and zero point, and a bias, are in the inputs of these numbers."""
    second, second_zero = node.get_input(1), _optional(node, zero)
    numbers: Sequence[Output] = [ops.Convert(operand, "f64").output(0) for operand in (value, second)]
    centred = [
        number if zero_point is None else ops.Subtract(number, ops.Convert(spread(zero_point, number, axis), "f64"))
        for number, zero_point, axis in zip(numbers, (value_zero, second_zero), (-2, -1))
    ]
    total = ops.Convert(ops.MatMul(*centred, False, False), Type.f32)
    factor = ops.Multiply(value_scale, spread(node.get_input(scale), second, -1))
    result = ops.Multiply(total, factor)
    return ops.Add(result, node.get_input(bias)) if node.has_input(bias) else result

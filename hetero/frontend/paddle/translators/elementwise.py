"""Arithmetic, comparison and logic of two tensors, and functions of the elements of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import elementwise
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import rank_of, scalar_like
from hetero.graph import Constant, Node, Op, Output

_BINARY: dict[str, type[Op]] = {
    "elementwise_add": ops.Add, "elementwise_sub": ops.Subtract, "elementwise_mul": ops.Multiply,
    "elementwise_max": ops.Maximum, "elementwise_min": ops.Minimum, "elementwise_pow": ops.Power,
    "elementwise_mod": ops.FloorMod, "equal": ops.Equal, "not_equal": ops.NotEqual, "less_than": ops.Less,
    "less_equal": ops.LessEqual, "greater_than": ops.Greater, "greater_equal": ops.GreaterEqual,
    "bitwise_and": ops.BitwiseAnd, "bitwise_or": ops.BitwiseOr, "bitwise_xor": ops.BitwiseXor,
}  # fmt: skip
# Sums and products of conditions.
_OF_BOOLEANS: dict[type[Op], type[Op]] = {ops.Add: ops.LogicalOr, ops.Multiply: ops.LogicalAnd}
_LOGICAL: dict[str, type[Op]] = {
    "logical_and": ops.LogicalAnd, "logical_or": ops.LogicalOr, "logical_xor": ops.LogicalXor,
}  # fmt: skip
_UNARY: dict[str, type[Op]] = {
    "abs": ops.Abs, "acos": ops.Acos, "acosh": ops.Acosh, "asin": ops.Asin, "asinh": ops.Asinh, "atan": ops.Atan,
    "atanh": ops.Atanh, "ceil": ops.Ceiling, "cos": ops.Cos, "cosh": ops.Cosh, "erf": ops.Erf,
    "floor": ops.Floor, "isfinite_v2": ops.IsFinite, "isinf_v2": ops.IsInf, "isnan_v2": ops.IsNaN, "log": ops.Log,
    "bitwise_not": ops.BitwiseNot, "sign": ops.Sign, "sin": ops.Sin, "sinh": ops.Sinh, "sqrt": ops.Sqrt, "tan": ops.Tan,
    "tanh": ops.Tanh, "sigmoid": ops.Sigmoid, "relu": ops.Relu, "softsign": ops.SoftSign,
}  # fmt: skip


def operands(node: PaddleNodeContext) -> tuple[Output, Output]:
    """Return X and Y, in the type of X. With ``axis`` the one of lower rank has the axes of the other from it on."""
    x, y = node.get_input("X"), node.get_input("Y")
    axis = node.get_attribute("axis", -1)
    if axis >= 0:
        x, y = _from_axis(x, rank_of(y), axis), _from_axis(y, rank_of(x), axis)
    return x, convert_to(y, x.element_type)


def _from_axis(value: Output, rank: int, axis: int) -> Output:
    """Append axes to a value whose axes are those from ``axis`` on of a tensor of a higher rank."""
    own = rank_of(value)
    if not 0 < own < rank or axis + own >= rank:
        return value
    return ops.Unsqueeze(value, np.arange(own, rank - axis)).output(0)


def _binary(operation: type[Op]) -> Callable[[PaddleNodeContext], ConversionResult]:
    def translate(node: PaddleNodeContext) -> ConversionResult:
        x, y = operands(node)
        return (_OF_BOOLEANS.get(operation, operation) if x.element_type is Type.boolean else operation)(x, y)

    return translate


def _logical(operation: type[Op]) -> Callable[[PaddleNodeContext], ConversionResult]:
    return lambda node: operation(*(convert_to(node.get_input(port), Type.boolean) for port in "XY"))


def _unary(operation: type[Op]) -> Callable[[PaddleNodeContext], ConversionResult]:
    return lambda node: operation(node.get_input("X"))


for _op_type, _operation in _BINARY.items():
    translator(_op_type)(_binary(_operation))
for _op_type, _operation in _LOGICAL.items():
    translator(_op_type)(_logical(_operation))
for _op_type, _operation in _UNARY.items():
    translator(_op_type)(_unary(_operation))


@translator("elementwise_div")
def divide(node: PaddleNodeContext) -> ConversionResult:
    """Division, which rounds towards zero for integers."""
    x, y = operands(node)
    return ops.Divide(x, y, "numpy", False) if x.element_type.is_integer() else ops.Divide(x, y)


@translator("elementwise_floordiv")
def floor_divide(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.floor_divide(*operands(node))


@translator("elementwise_fmax", "elementwise_fmin")
def extreme_number(node: PaddleNodeContext) -> ConversionResult:
    """The larger or the smaller number; the other one if one of them is NaN."""
    operation = ops.Maximum if node.get_op_type() == "elementwise_fmax" else ops.Minimum
    return elementwise.ignore_nan(operation)(*operands(node))


@translator("elementwise_heaviside")
def heaviside(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.heaviside(*operands(node))


@translator("atan2")
def atan2(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.atan2(*(_as_real(node.get_input(port)) for port in ("X1", "X2")))


def _as_real(value: Output) -> Output:
    """Return integers as f32, as functions of them are."""
    return value if value.element_type.is_real() else convert_to(value, Type.f32)


@translator("logical_not")
def logical_not(node: PaddleNodeContext) -> ConversionResult:
    return ops.LogicalNot(convert_to(node.get_input("X"), Type.boolean))


@translator("lerp")
def lerp(node: PaddleNodeContext) -> ConversionResult:
    x, y, weight = (node.get_input(name) for name in ("X", "Y", "Weight"))
    return ops.Add(x, ops.Multiply(weight, ops.Subtract(y, x)))


@translator("isclose", "allclose")
def is_close(node: PaddleNodeContext) -> ConversionResult:
    """Whether ``|x - y| <= atol + rtol · |y|``."""
    x, y = node.get_input("Input"), node.get_input("Other")
    rtol, atol = (node.scalar(name.lower(), name, y.element_type) for name in ("Rtol", "Atol"))
    limit = ops.Add(ops.Multiply(ops.Abs(y), rtol), atol)
    close = ops.LessEqual(ops.Abs(ops.Subtract(x, y)), limit)
    return close if node.get_op_type() == "isclose" else ops.ReduceLogicalAnd(close, np.arange(rank_of(x)), False)


@translator("equal_all")
def equal_all(node: PaddleNodeContext) -> ConversionResult:
    x, y = operands(node)
    return ops.ReduceLogicalAnd(ops.Equal(x, y), np.arange(rank_of(x)), False)


@translator("sum")
def add_all(node: PaddleNodeContext) -> ConversionResult:
    total, *others = node.tensors("X")
    for other in others:
        total = ops.Add(total, other).output(0)
    return total


@translator("scale")
def scale(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    kind = value.element_type
    factor, bias = node.scalar("scale", "ScaleTensor", kind, 1.0), node.get_attribute("bias", 0.0)
    shift = scalar_like(value, bias) if kind.is_real() else scalar_like(value, int(bias))
    if not node.get_attribute("bias_after_scale", True):
        return ops.Multiply(ops.Add(value, shift) if bias else value, factor)
    data = getattr(factor.node, "data", None)
    scaled = value if data is not None and data.item() == 1 else ops.Multiply(value, factor).output(0)
    if not bias:
        return scaled if scaled is not value else ops.Multiply(value, factor)
    return ops.Add(scaled, shift)


@translator("increment")
def increment(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    return ops.Add(value, scalar_like(value, node.get_attribute("step", 1.0)))


@translator("pow")
def power(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    return ops.Power(value, node.scalar("factor", "FactorTensor", value.element_type, 1.0))


@translator("clip")
def clip(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    low, high = (node.scalar(name.lower(), name, value.element_type) for name in ("Min", "Max"))
    if isinstance(low.node, Constant) and isinstance(high.node, Constant) and value.element_type.is_real():
        return ops.Clamp(value, low.node.data.item(), high.node.data.item())
    return ops.Minimum(ops.Maximum(value, low), high)


@translator("cast")
def cast(node: PaddleNodeContext) -> ConversionResult:
    kind = node.type_attribute("out_dtype") or node.output_variable().element_type
    return ops.Convert(node.get_input("X"), kind)


@translator("round")
def round_to_decimals(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.round_to_decimals(node.get_input("X"), node.get_attribute("decimals", 0))


@translator("trunc")
def truncate(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.truncate(node.get_input("X"))


@translator("square")
def square(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.square(node.get_input("X"))


# Functions of real numbers, also of integers.
_OF_REAL: dict[str, Callable[[Output], Node]] = {
    "exp": ops.Exp, "reciprocal": elementwise.reciprocal, "rsqrt": elementwise.reciprocal_square_root,
    "log2": partial(elementwise.logarithm, base=2), "log10": partial(elementwise.logarithm, base=10),
    "log1p": elementwise.log1p, "expm1": elementwise.expm1,
}  # fmt: skip


@translator(*_OF_REAL)
def function(node: PaddleNodeContext) -> ConversionResult:
    return _OF_REAL[node.get_op_type()](_as_real(node.get_input("X")))


@translator("logit")
def logit(node: PaddleNodeContext) -> ConversionResult:
    return elementwise.logit(node.get_input("X"), node.get_attribute("eps", 1e-6) or None)

"""Arithmetic, comparisons, logic and activation functions."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.promotion import promoted_type
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import multiply_by, scalar_like
from hetero.graph import Op

_UNARY = {
    "abs": ops.Abs, "acos": ops.Acos, "acosh": ops.Acosh, "asin": ops.Asin, "asinh": ops.Asinh, "atan": ops.Atan,
    "atanh": ops.Atanh, "ceil": ops.Ceiling, "cos": ops.Cos, "cosh": ops.Cosh, "erf": ops.Erf, "exp": ops.Exp,
    "floor": ops.Floor, "log": ops.Log, "neg": ops.Negative, "relu": ops.Relu, "sigmoid": ops.Sigmoid,
    "silu": ops.Swish, "sin": ops.Sin, "sinh": ops.Sinh, "sqrt": ops.Sqrt,
    "tan": ops.Tan, "tanh": ops.Tanh, "hardswish": ops.HSwish, "mish": ops.Mish,
}  # fmt: skip
_BINARY: dict[str, type[Op]] = {
    "mul": ops.Multiply, "maximum": ops.Maximum, "minimum": ops.Minimum, "remainder": ops.FloorMod, "fmod": ops.Mod,
}  # fmt: skip
# The operations on booleans.
_BOOLEAN_BINARY: dict[type[Op], type[Op]] = {
    ops.Multiply: ops.LogicalAnd,
    ops.Maximum: ops.LogicalOr,
    ops.Minimum: ops.LogicalAnd,
}
_COMPARISONS = {
    "eq": ops.Equal, "ne": ops.NotEqual, "lt": ops.Less, "le": ops.LessEqual, "gt": ops.Greater, "ge": ops.GreaterEqual,
}  # fmt: skip
_LOGICAL = {"logical_and": ops.LogicalAnd, "logical_or": ops.LogicalOr, "logical_xor": ops.LogicalXor}
_BITWISE = {"bitwise_and": ops.BitwiseAnd, "bitwise_or": ops.BitwiseOr, "bitwise_xor": ops.BitwiseXor}


@translator(*(f"aten::{name}" for name in _UNARY))
def unary(node: TorchNodeContext) -> Translation:
    return _UNARY[_name(node)](*node.operands("self"))


@translator("aten::sign", "aten::sgn")
def sign(node: TorchNodeContext) -> Translation:
    """The sign; 0 for NaN."""
    (value,) = node.operands("self")
    result = ops.Sign(value)
    return (
        ops.Select(ops.Equal(value, value), result, scalar_like(value, 0)) if value.element_type.is_real() else result
    )


@translator(*(f"aten::{name}" for name in _BINARY))
def binary(node: TorchNodeContext) -> Translation:
    operation = _BINARY[_name(node)]
    if node.output_type() is Type.boolean:
        operation = _BOOLEAN_BINARY[operation]
    return operation(*node.operands("self", "other"))


@translator("aten::add", "aten::sub", "aten::rsub")
def sum_or_difference(node: TorchNodeContext) -> Translation:
    left, right = node.operands("self", "other")
    factor = node.get_attribute("alpha", 1)
    if node.output_type() is Type.boolean:
        return ops.LogicalOr(left, right) if factor else left
    if _name(node) == "rsub":
        return ops.Subtract(right, multiply_by(left, factor))
    operation = ops.Add if _name(node) == "add" else ops.Subtract
    return operation(left, multiply_by(right, factor))


@translator("aten::div")
def divide(node: TorchNodeContext) -> Translation:
    left, right = node.operands("self", "other")
    mode = node.get_attribute("rounding_mode", None)
    if mode is None:
        return ops.Divide(left, right)
    if mode == "floor":
        return elementwise.floor_divide(left, right)
    return elementwise.truncate(elementwise.truncate_divide(left, right).output(0))


@translator("aten::floor_divide")
def floor_divide(node: TorchNodeContext) -> Translation:
    return elementwise.floor_divide(*node.operands("self", "other"))


@translator("aten::pow")
def power(node: TorchNodeContext) -> Translation:
    return ops.Power(*node.operands("self", "exponent"))


@translator("aten::trunc")
def trunc(node: TorchNodeContext) -> Translation:
    return elementwise.truncate(*node.operands("self"))


@translator(*(f"aten::{name}" for name in _COMPARISONS))
def comparison(node: TorchNodeContext) -> Translation:
    kind = promoted_type([node.arguments["self"], node.arguments["other"]])
    return _COMPARISONS[_name(node)](node.converted("self", kind), node.converted("other", kind))


@translator(*(f"aten::{name}" for name in (*_LOGICAL, "logical_not")))
def logical(node: TorchNodeContext) -> Translation:
    values = [node.converted(name, Type.boolean) for name in ("self", "other") if name in node.arguments]
    return ops.LogicalNot(*values) if _name(node) == "logical_not" else _LOGICAL[_name(node)](*values)


@translator(*(f"aten::{name}" for name in (*_BITWISE, "bitwise_not")))
def bitwise(node: TorchNodeContext) -> Translation:
    if _name(node) == "bitwise_not":
        return ops.BitwiseNot(*node.operands("self"))
    return _BITWISE[_name(node)](*node.operands("self", "other"))


@translator("aten::rsqrt")
def reciprocal_square_root(node: TorchNodeContext) -> Translation:
    return elementwise.reciprocal_square_root(*node.operands("self"))


@translator("aten::reciprocal")
def reciprocal(node: TorchNodeContext) -> Translation:
    return elementwise.reciprocal(*node.operands("self"))


@translator("aten::log2", "aten::log10")
def logarithm(node: TorchNodeContext) -> Translation:
    return elementwise.logarithm(node.operands("self")[0], base=int(_name(node)[3:]))


@translator("aten::log1p")
def log1p(node: TorchNodeContext) -> Translation:
    return elementwise.log1p(*node.operands("self"))


@translator("aten::expm1")
def expm1(node: TorchNodeContext) -> Translation:
    return elementwise.expm1(*node.operands("self"))


@translator("aten::gelu")
def gelu(node: TorchNodeContext) -> Translation:
    return activation.gelu(node.operands("self")[0], approximate=node.get_attribute("approximate", "none"))


@translator("aten::leaky_relu")
def leaky_relu(node: TorchNodeContext) -> Translation:
    return activation.leaky_relu(node.operands("self")[0], slope=node.get_attribute("negative_slope", 0.01))


@translator("aten::elu")
def elu(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    zero, scale = scalar_like(value, 0), node.get_attribute("scale", 1)
    inner = multiply_by(ops.Minimum(value, zero).output(0), node.get_attribute("input_scale", 1))
    negative = multiply_by(
        ops.Subtract(ops.Exp(inner), scalar_like(value, 1)).output(0), node.get_attribute("alpha", 1)
    )
    return multiply_by(ops.Add(ops.Maximum(value, zero), negative).output(0), scale)


@translator("aten::hardsigmoid")
def hard_sigmoid(node: TorchNodeContext) -> Translation:
    return ops.HSigmoid(*node.operands("self"))


@translator("aten::hardtanh", "aten::relu6")
def hard_tanh(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    default = (0, 6) if _name(node) == "relu6" else (-1, 1)
    limits = [node.get_attribute(name, number) for name, number in zip(("min_val", "max_val"), default)]
    return ops.Clamp(value, *limits)


@translator("aten::clamp", "aten::clamp_min", "aten::clamp_max")
def clamp(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    for name, operation in (("min", ops.Maximum), ("max", ops.Minimum)):
        if node.arguments.get(name) is not None:
            value = operation(value, node.converted(name, node.output_type())).output(0)
    return value


@translator("aten::where")
def where(node: TorchNodeContext) -> Translation:
    condition = node.converted("condition", Type.boolean)
    return ops.Select(condition, *node.operands("self", "other"))


@translator("aten::masked_fill")
def masked_fill(node: TorchNodeContext) -> Translation:
    return ops.Select(node.converted("mask", Type.boolean), *node.operands("value", "self"))


@translator("aten::isnan")
def is_nan(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    return ops.NotEqual(value, value)


@translator("aten::isinf")
def is_infinite(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    return ops.IsInf(value) if value.element_type.is_real() else ops.NotEqual(value, value)


@translator("aten::round")
def round_half_to_even(node: TorchNodeContext) -> Translation:
    return elementwise.round_to_decimals(node.operands("self")[0], decimals=node.get_attribute("decimals", 0))


@translator("aten::atan2")
def atan2(node: TorchNodeContext) -> Translation:
    return elementwise.atan2(*node.operands("self", "other"))


@translator("aten::_to_copy", "aten::to", "aten::type_as")
def convert(node: TorchNodeContext) -> Translation:
    return node.operands("self")


@translator("aten::clone", "aten::alias", "aten::detach", "aten::detach_", "aten::contiguous", "aten::lift_fresh_copy",
            "aten::lift_fresh", "aten::alias_copy", "aten::real", "aten::conj_physical", "aten::resolve_conj",
            "aten::resolve_neg")  # fmt: skip
def identity(node: TorchNodeContext) -> Translation:
    return node.get_input(0)


def _name(node: TorchNodeContext) -> str:
    return node.get_op_type().removeprefix("aten::")

"""Arithmetic, comparisons, logic and conversions, also of numbers computed at run time; activation functions."""

from __future__ import annotations

import math

from ml_dtypes import finfo

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.pytorch.node_context import TorchNodeContext, converted_to, promoted, rows, translator
from hetero.frontend.pytorch.promotion import promoted_type
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator
from hetero.frontend.translation.values import multiply_by, per_channel, rank_of, scalar_like
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError


def _compared(row: Row) -> Translator:
    """Return the translator of a row whose inputs, by default all, are promoted with each other."""

    def translate(node: TorchNodeContext) -> Translation:
        names = [str(name) for name in row.inputs or node.arguments]
        kind = promoted_type([node.arguments[name] for name in names])
        return row.make(node, [node.converted(name, kind) for name in names])

    return translate


def _sum(left: Output, right: Output, alpha: float) -> Output | Node:
    if left.element_type is Type.boolean:
        return ops.LogicalOr(left, right) if alpha else left
    return ops.Add(left, multiply_by(right, alpha))


def _quotient(left: Output, right: Output, mode: str | None) -> Output | Node:
    """Return a quotient, or with the mode "floor" or "trunc" an integer."""
    if mode == "floor":
        return elementwise.floor_divide(left, right)
    if mode == "trunc":
        return elementwise.truncate(elementwise.truncate_divide(left, right).output(0))
    return ops.Divide(left, right)


def _sign(value: Output) -> Node:
    """Return the sign; 0 for NaN."""
    sign = ops.Sign(value)
    if not value.element_type.is_real():
        return sign
    return ops.Select(ops.Equal(value, value), sign, scalar_like(value, 0))


def _is_nan(value: Output) -> Node:
    return ops.NotEqual(value, value)


def log_sum(x: Output, y: Output, base: float = math.e) -> Node:
    """Return log(base**x + base**y), without overflow."""
    rate = math.log(base)
    size = ops.Exp(multiply_by(ops.Abs(ops.Subtract(x, y)), -rate))
    rest = ops.Log(ops.Add(size, scalar_like(x, 1)))
    # The difference of infinities of one sign is NaN.
    return ops.Select(ops.Equal(x, y), ops.Add(x, scalar_like(x, math.log(2) / rate)),
                      ops.Add(ops.Maximum(x, y), multiply_by(rest, 1 / rate)))  # fmt: skip


def _sinc(x: Output) -> Node:
    angle = multiply_by(x, math.pi)
    return ops.Select(ops.Equal(x, scalar_like(x, 0)), scalar_like(x, 1), ops.Divide(ops.Sin(angle), angle))


def _hypotenuse(x: Output, y: Output) -> Node:
    """Return sqrt(x² + y²), divided by the larger number so that squares do not overflow."""
    sizes = ops.Abs(x), ops.Abs(y)
    largest, least = ops.Maximum(*sizes), ops.Minimum(*sizes)
    # Equal numbers may be 0 or infinite.
    ratio = ops.Select(ops.Equal(least, largest), scalar_like(x, 1), ops.Divide(least, largest))
    return ops.Multiply(largest, ops.Sqrt(ops.Add(ops.Multiply(ratio, ratio), scalar_like(x, 1))))


def _x_log_y(x: Output, y: Output) -> Node:
    zero = scalar_like(x, 0)
    return ops.Select(_is_nan(y), y, ops.Select(ops.Equal(x, zero), zero, ops.Multiply(x, ops.Log(y))))


def _interpolated(start: Output, end: Output, weight: Output) -> Node:
    """Return numbers from the start to the end, computed from the nearer one, so that a weight of 1 gives the end."""
    difference = ops.Subtract(end, start)
    from_start = ops.Add(start, ops.Multiply(weight, difference))
    from_end = ops.Subtract(end, ops.Multiply(difference, ops.Subtract(scalar_like(weight, 1), weight)))
    return ops.Select(ops.Less(ops.Abs(weight), scalar_like(weight, 0.5)), from_start, from_end)


def _nan_to_num(value: Output, nan: float, posinf: float | None, neginf: float | None) -> Output | Node:
    if not value.element_type.is_real():
        return value
    largest = float(finfo(value.element_type.to_dtype()).max)
    result = ops.Select(_is_nan(value), scalar_like(value, nan), value)
    for infinity, number, default in ((math.inf, posinf, largest), (-math.inf, neginf, -largest)):
        is_infinite = ops.Equal(value, scalar_like(value, infinity))
        result = ops.Select(is_infinite, scalar_like(value, default if number is None else number), result)
    return result


def _is_close(x: Output, y: Output, rtol: float, atol: float, equal_nan: bool) -> Node:
    """Return |x - y| ≤ atol + rtol |y|, for floating-point numbers."""
    limit = ops.Add(multiply_by(ops.Abs(y), rtol), scalar_like(y, atol))
    near = ops.LogicalAnd(ops.LessEqual(ops.Abs(ops.Subtract(x, y)), limit), ops.IsFinite(y))
    result = ops.LogicalOr(near, ops.Equal(x, y))
    return ops.LogicalOr(result, ops.LogicalAnd(_is_nan(x), _is_nan(y))) if equal_nan else result


def _is_infinite(value: Output, **signs: bool) -> Node:
    return ops.IsInf(value, signs) if value.element_type.is_real() else ops.NotEqual(value, value)


_COMPARISONS = {
    "eq": ops.Equal, "ne": ops.NotEqual, "lt": ops.Less, "le": ops.LessEqual, "gt": ops.Greater, "ge": ops.GreaterEqual,
}  # fmt: skip

rows({
    "aten::abs": Row(ops.Abs, "self"), "aten::acos": Row(ops.Acos, "self"), "aten::acosh": Row(ops.Acosh, "self"),
    "aten::asin": Row(ops.Asin, "self"), "aten::asinh": Row(ops.Asinh, "self"), "aten::atan": Row(ops.Atan, "self"),
    "aten::atanh": Row(ops.Atanh, "self"), "aten::ceil": Row(ops.Ceiling, "self"), "aten::cos": Row(ops.Cos, "self"),
    "aten::cosh": Row(ops.Cosh, "self"), "aten::erf": Row(ops.Erf, "self"), "aten::exp": Row(ops.Exp, "self"),
    "aten::floor": Row(ops.Floor, "self"), "aten::log": Row(ops.Log, "self"), "aten::neg": Row(ops.Negative, "self"),
    "aten::sin": Row(ops.Sin, "self"), "aten::sinh": Row(ops.Sinh, "self"), "aten::sqrt": Row(ops.Sqrt, "self"),
    "aten::tan": Row(ops.Tan, "self"), "aten::bitwise_not": Row(ops.BitwiseNot, "self"),
    "aten::positive": Row(lambda x: x, "self"), "aten::_to_copy": Row(lambda x: x, "self"),
    "aten::to": Row(lambda x: x, "self"), "aten::type_as": Row(lambda x: x, "self"),
    "aten::sign": Row(_sign, "self"), "aten::sgn": Row(_sign, "self"),
    "aten::trunc": Row(elementwise.truncate, "self"),
    "aten::frac": Row(lambda x: ops.Subtract(x, elementwise.truncate(x)), "self"),
    "aten::round": Row(elementwise.round_to_decimals, "self", decimals=Attr("decimals", 0)),
    "aten::square": Row(elementwise.square, "self"),
    "aten::reciprocal": Row(elementwise.reciprocal, "self"),
    "aten::rsqrt": Row(elementwise.reciprocal_square_root, "self"),
    "aten::exp2": Row(lambda x: ops.Power(scalar_like(x, 2), x), "self"),
    "aten::expm1": Row(elementwise.expm1, "self"),
    "aten::log1p": Row(elementwise.log1p, "self"),
    "aten::log2": Row(elementwise.logarithm, "self", base=2),
    "aten::log10": Row(elementwise.logarithm, "self", base=10),
    "aten::logit": Row(elementwise.logit, "self", epsilon=Attr("eps", None)),
    "aten::erfc": Row(elementwise.erfc, "self"),
    "aten::special_ndtr": Row(
        lambda x: multiply_by(ops.Add(ops.Erf(multiply_by(x, math.sqrt(0.5))), scalar_like(x, 1)), 0.5), "self"
    ),
    "aten::sinc": Row(_sinc, "self"),
    "aten::deg2rad": Row(multiply_by, "self", factor=math.pi / 180),
    "aten::rad2deg": Row(multiply_by, "self", factor=180 / math.pi),
    "aten::nan_to_num": Row(
        _nan_to_num, "self", nan=Attr("nan", 0.0), posinf=Attr("posinf", None), neginf=Attr("neginf", None)
    ),
    "aten::add": Row(_sum, "self", "other", alpha=Attr("alpha", 1)),
    "aten::sub": Row(
        lambda x, y, alpha: ops.Subtract(x, multiply_by(y, alpha)), "self", "other", alpha=Attr("alpha", 1)
    ),
    "aten::rsub": Row(
        lambda x, y, alpha: ops.Subtract(y, multiply_by(x, alpha)), "self", "other", alpha=Attr("alpha", 1)
    ),
    "aten::mul": Row(elementwise.on_booleans(ops.Multiply, ops.LogicalAnd), "self", "other"),
    "aten::div": Row(_quotient, "self", "other", mode=Attr("rounding_mode", None)),
    "aten::true_divide": Row(ops.Divide, "self", "other"),
    "aten::floor_divide": Row(elementwise.floor_divide, "self", "other"),
    "aten::remainder": Row(ops.FloorMod, "self", "other"), "aten::fmod": Row(ops.Mod, "self", "other"),
    "aten::pow": Row(ops.Power, "self", "exponent"), "aten::float_power": Row(ops.Power, "self", "exponent"),
    "aten::ldexp": Row(lambda x, y: ops.Multiply(x, ops.Power(scalar_like(y, 2), y)), "self", "other"),
    "aten::maximum": Row(elementwise.on_booleans(ops.Maximum, ops.LogicalOr), "self", "other"),
    "aten::minimum": Row(elementwise.on_booleans(ops.Minimum, ops.LogicalAnd), "self", "other"),
    "aten::fmax": Row(elementwise.ignore_nan(ops.Maximum), "self", "other"),
    "aten::fmin": Row(elementwise.ignore_nan(ops.Minimum), "self", "other"),
    "aten::atan2": Row(elementwise.atan2, "self", "other"), "aten::hypot": Row(_hypotenuse, "self", "other"),
    "aten::logaddexp": Row(log_sum, "self", "other"), "aten::logaddexp2": Row(log_sum, "self", "other", base=2),
    "aten::xlogy": Row(_x_log_y, "self", "other"), "aten::heaviside": Row(elementwise.heaviside, "self", "values"),
    "aten::addcmul": Row(
        lambda added, x, y, value: ops.Add(added, multiply_by(ops.Multiply(x, y), value)),
        "self", "tensor1", "tensor2", value=Attr("value", 1),
    ),
    "aten::addcdiv": Row(
        lambda added, x, y, value: ops.Add(added, multiply_by(ops.Divide(x, y), value)),
        "self", "tensor1", "tensor2", value=Attr("value", 1),
    ),
    "aten::lerp": Row(_interpolated, "self", "end", "weight"),
    "aten::bitwise_and": Row(ops.BitwiseAnd, "self", "other"), "aten::bitwise_or": Row(ops.BitwiseOr, "self", "other"),
    "aten::bitwise_xor": Row(ops.BitwiseXor, "self", "other"),
    "aten::bitwise_left_shift": Row(ops.BitwiseLeftShift, "self", "other"),
    "aten::bitwise_right_shift": Row(ops.BitwiseRightShift, "self", "other"),
}, promoted)  # fmt: skip
rows({f"aten::{name}": Row(operation, "self", "other") for name, operation in _COMPARISONS.items()}, _compared)
rows({
    "aten::logical_and": Row(ops.LogicalAnd, "self", "other"), "aten::logical_or": Row(ops.LogicalOr, "self", "other"),
    "aten::logical_xor": Row(ops.LogicalXor, "self", "other"), "aten::logical_not": Row(ops.LogicalNot, "self"),
}, converted_to(Type.boolean))  # fmt: skip
rows({
    "aten::isclose": Row(
        _is_close, "self", "other", rtol=Attr("rtol", 1e-5), atol=Attr("atol", 1e-8), equal_nan=Attr("equal_nan", False)
    ),
    "_operator.truediv": Row(ops.Divide),
}, converted_to(Type.f64))  # fmt: skip
rows({
    "aten::isnan": Row(_is_nan, "self"), "aten::isinf": Row(_is_infinite, "self"),
    "aten::isposinf": Row(_is_infinite, "self", detect_negative=False),
    "aten::isneginf": Row(_is_infinite, "self", detect_positive=False),
    "aten::isfinite": Row(
        lambda value: ops.IsFinite(value) if value.element_type.is_real() else ops.Equal(value, value), "self"
    ),
    **{f"aten::{name}": Row(lambda x: x, 0) for name in (
        "clone", "alias", "detach", "detach_", "contiguous", "lift_fresh_copy", "lift_fresh", "alias_copy", "real",
        "conj_physical", "resolve_conj", "resolve_neg",
    )},
})  # fmt: skip
rows({
    **{f"_operator.{name}": Row(operation) for name, operation in _COMPARISONS.items()},
    "_operator.add": Row(ops.Add), "_operator.sub": Row(ops.Subtract), "_operator.mul": Row(ops.Multiply),
    "_operator.floordiv": Row(ops.Divide), "_operator.mod": Row(ops.FloorMod), "_operator.pow": Row(ops.Power),
    "torch.sym_max": Row(ops.Maximum), "torch.sym_min": Row(ops.Minimum),
}, _compared)  # fmt: skip


@translator("aten::clamp", "aten::clamp_min", "aten::clamp_max")
def clamp(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    for name, operation in (("min", ops.Maximum), ("max", ops.Minimum)):
        if node.arguments.get(name) is not None:
            value = operation(value, node.converted(name, node.output_type())).output(0)
    return value


rows(
    {
        "aten::where": lambda node: ops.Select(
            node.converted("condition", Type.boolean), *node.operands("self", "other")
        ),
        "aten::masked_fill": lambda node: ops.Select(
            node.converted("mask", Type.boolean), *node.operands("value", "self")
        ),
    }
)


@translator("aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata", "aten::sym_constrain_range",
            "aten::sym_constrain_range_for_size")  # fmt: skip
def check(node: TorchNodeContext) -> Translation:
    """Checks that torch makes at run time, of lengths that shape inference knows."""
    return []


def _elu(value: Output, alpha: float, scale: float, input_scale: float) -> Output:
    """Return scale · x where x is positive, else scale · alpha · (exp(input_scale · x) - 1)."""
    zero = scalar_like(value, 0)
    inner = multiply_by(ops.Minimum(value, zero), input_scale)
    negative = multiply_by(ops.Subtract(ops.Exp(inner), scalar_like(value, 1)), alpha)
    return multiply_by(ops.Add(ops.Maximum(value, zero), negative), scale)


def _prelu(value: Output, slope: Output) -> Node:
    if rank_of(value) > 1:
        slope = per_channel(slope, rank_of(value))
    zero = scalar_like(value, 0)
    return ops.Add(ops.Maximum(value, zero), ops.Multiply(ops.Minimum(value, zero), slope))


def _gated(value: Output, axis: int) -> Node:
    """Return the first half of a value along an axis, times the sigmoid of the second."""
    half, gate = ops.Split(value, axis, 2).outputs()
    return ops.Multiply(half, ops.Sigmoid(gate))


rows({
    "aten::relu": Row(ops.Relu, "self"), "aten::sigmoid": Row(ops.Sigmoid, "self"), "aten::tanh": Row(ops.Tanh, "self"),
    "aten::silu": Row(ops.Swish, "self"), "aten::mish": Row(ops.Mish, "self"),
    "aten::hardswish": Row(ops.HSwish, "self"), "aten::hardsigmoid": Row(ops.HSigmoid, "self"),
    "aten::hardtanh": Row(ops.Clamp, "self", min_value=Attr("min_val", -1), max_value=Attr("max_val", 1)),
    "aten::relu6": Row(ops.Clamp, "self", min_value=0, max_value=6),
    "aten::gelu": Row(activation.gelu, "self", approximate=Attr("approximate", "none")),
    "aten::leaky_relu": Row(activation.leaky_relu, "self", slope=Attr("negative_slope", 0.01)),
    "aten::elu": Row(
        _elu, "self", alpha=Attr("alpha", 1), scale=Attr("scale", 1), input_scale=Attr("input_scale", 1)
    ),
    "aten::celu": Row(activation.celu, "self", alpha=Attr("alpha", 1.0)), "aten::selu": Row(activation.selu, "self"),
    "aten::softplus": Row(activation.softplus, "self", beta=Attr("beta", 1), threshold=Attr("threshold", 20)),
    "aten::log_sigmoid": Row(activation.log_sigmoid, "self"),
    "aten::threshold": Row(activation.threshold, "self", limit=Attr("threshold"), other=Attr("value")),
    "aten::softshrink": Row(activation.soft_shrink, "self", limit=Attr("lambd", 0.5)),
    "aten::hardshrink": Row(activation.hard_shrink, "self", limit=Attr("lambd", 0.5)),
}, promoted)  # fmt: skip
rows({"aten::prelu": Row(_prelu, "self", "weight"), "aten::glu": Row(_gated, "self", axis=Attr("dim", -1))})


@translator("aten::dropout", "aten::native_dropout", "aten::alpha_dropout", "aten::feature_dropout")
def no_dropout(node: TorchNodeContext) -> Translation:
    if node.get_attribute("train", False) and node.get_attribute("p", 0.5):
        raise FrontendError("dropout in training mode is not supported: export the module after eval()")
    value = node.get_input(0)
    return [value, ops.Equal(value, value)] if node.get_output_size() > 1 else value

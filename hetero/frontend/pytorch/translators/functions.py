"""Further element-wise functions, which core ATen lacks, by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from ml_dtypes import finfo

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics import activation, elementwise
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import multiply_by, scalar_like
from hetero.graph import Node, Output


def _is_nan(value: Output) -> Node:
    return ops.NotEqual(value, value)


def log_sum(x: Output, y: Output, base: float = math.e) -> Node:
    """log(base**x + base**y), without overflow."""
    rate = math.log(base)
    size = ops.Exp(multiply_by(ops.Abs(ops.Subtract(x, y)), -rate))
    rest = ops.Log(ops.Add(size, scalar_like(x, 1)))
    # The difference of infinities of one sign is NaN.
    return ops.Select(ops.Equal(x, y), ops.Add(x, scalar_like(x, math.log(2) / rate)),
                      ops.Add(ops.Maximum(x, y), multiply_by(rest, 1 / rate)))  # fmt: skip


def _zero_where(condition: Node, like: Output, value: Node) -> Node:
    return ops.Select(condition, scalar_like(like, 0), value)


def _fractional_part(x: Output) -> Node:
    return ops.Subtract(x, elementwise.truncate(x))


def _sinc(x: Output) -> Node:
    angle = multiply_by(x, math.pi)
    one = scalar_like(x, 1)
    return ops.Select(ops.Equal(x, scalar_like(x, 0)), one, ops.Divide(ops.Sin(angle), angle))


def _hypotenuse(x: Output, y: Output) -> Node:
    """sqrt(x² + y²), divided by the larger number so that squares do not overflow."""
    sizes = ops.Abs(x), ops.Abs(y)
    largest, least = ops.Maximum(*sizes), ops.Minimum(*sizes)
    # Equal numbers may be 0 or infinite.
    ratio = ops.Select(ops.Equal(least, largest), scalar_like(x, 1), ops.Divide(least, largest))
    return ops.Multiply(largest, ops.Sqrt(ops.Add(ops.Multiply(ratio, ratio), scalar_like(x, 1))))


_UNARY: dict[str, Callable[[Output], Output | Node]] = {
    "exp2": lambda x: ops.Power(scalar_like(x, 2), x),
    "erfc": elementwise.erfc,
    "frac": _fractional_part,
    "positive": lambda x: x,
    "sinc": _sinc,
    "special_ndtr": lambda x: multiply_by(
        ops.Add(ops.Erf(multiply_by(x, math.sqrt(0.5))), scalar_like(x, 1)), 0.5
    ),
}  # fmt: skip
_BINARY: dict[str, Callable[[Output, Output], Node]] = {
    "hypot": _hypotenuse,
    "fmax": elementwise.ignore_nan(ops.Maximum),
    "fmin": elementwise.ignore_nan(ops.Minimum),
    "logaddexp": log_sum,
    "logaddexp2": lambda x, y: log_sum(x, y, 2),
    "xlogy": lambda x, y: ops.Select(
        _is_nan(y), y, _zero_where(ops.Equal(x, scalar_like(x, 0)), x, ops.Multiply(x, ops.Log(y)))
    ),
    "ldexp": lambda x, y: ops.Multiply(x, ops.Power(scalar_like(y, 2), y)),
    "bitwise_left_shift": ops.BitwiseLeftShift,
    "bitwise_right_shift": ops.BitwiseRightShift,
    "float_power": ops.Power,
    "true_divide": ops.Divide,
}  # fmt: skip


@translator(*(f"aten::{name}" for name in _UNARY))
def unary(node: TorchNodeContext) -> Translation:
    return _UNARY[node.get_op_type().removeprefix("aten::")](*node.operands("self"))


@translator(*(f"aten::{name}" for name in _BINARY))
def binary(node: TorchNodeContext) -> Translation:
    names = ("self", "exponent" if "exponent" in node.arguments else "other")
    return _BINARY[node.get_op_type().removeprefix("aten::")](*node.operands(*names))


@translator("aten::isfinite", "aten::isposinf", "aten::isneginf")
def classification(node: TorchNodeContext) -> Translation:
    value, name = node.get_input("self"), node.get_op_type()
    if not value.element_type.is_real():
        return ops.Equal(value, value) if name == "aten::isfinite" else ops.NotEqual(value, value)
    if name == "aten::isfinite":
        return ops.IsFinite(value)
    return ops.IsInf(value, {"detect_negative": name == "aten::isneginf", "detect_positive": name == "aten::isposinf"})


@translator("aten::isclose")
def is_close(node: TorchNodeContext) -> Translation:
    """|x - y| ≤ atol + rtol |y|, for floating-point numbers."""
    x, y = (node.converted(name, Type.f64) for name in ("self", "other"))
    limit = ops.Add(multiply_by(ops.Abs(y), node.get_attribute("rtol", 1e-5)),
                    scalar_like(y, node.get_attribute("atol", 1e-8)))  # fmt: skip
    near = ops.LogicalAnd(ops.LessEqual(ops.Abs(ops.Subtract(x, y)), limit), ops.IsFinite(y))
    result = ops.LogicalOr(near, ops.Equal(x, y))
    if node.get_attribute("equal_nan", False):
        return ops.LogicalOr(result, ops.LogicalAnd(_is_nan(x), _is_nan(y)))
    return result


@translator("aten::logit")
def logit(node: TorchNodeContext) -> Translation:
    return elementwise.logit(node.operands("self")[0], epsilon=node.get_attribute("eps", None))


@translator("aten::heaviside")
def heaviside(node: TorchNodeContext) -> Translation:
    return elementwise.heaviside(*node.operands("self", "values"))


@translator("aten::nan_to_num")
def nan_to_num(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    if not value.element_type.is_real():
        return value
    largest = float(finfo(value.element_type.to_dtype()).max)
    infinite = {"posinf": largest, "neginf": -largest}
    result = ops.Select(_is_nan(value), scalar_like(value, node.get_attribute("nan", 0.0)), value)
    for name, default in infinite.items():
        found = ops.Equal(value, scalar_like(value, math.copysign(math.inf, default)))
        result = ops.Select(found, scalar_like(value, node.get_attribute(name, default)), result)
    return result


@translator("aten::softshrink", "aten::hardshrink")
def shrink(node: TorchNodeContext) -> Translation:
    function = activation.hard_shrink if node.get_op_type() == "aten::hardshrink" else activation.soft_shrink
    return function(node.operands("self")[0], limit=node.get_attribute("lambd", 0.5))


@translator("aten::cosine_similarity")
def cosine_similarity(node: TorchNodeContext) -> Translation:
    x, y = node.operands("x1", "x2")
    axis = np.array([node.get_attribute("dim", 1)])
    least = scalar_like(x, node.get_attribute("eps", 1e-8))
    sizes = [ops.Maximum(ops.ReduceL2(one, axis, False), least) for one in (x, y)]
    return ops.Divide(ops.ReduceSum(ops.Multiply(x, y), axis, False), ops.Multiply(*sizes))

"""Element-wise arithmetic, comparison and logic."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, normalize_axis, rank_of, scalar_like
from hetero.graph import Op, Output

_UNARY: dict[str, type[Op]] = {
    "Abs": ops.Abs, "Acos": ops.Acos, "Asin": ops.Asin, "Atan": ops.Atan, "Ceil": ops.Ceiling, "Cos": ops.Cos,
    "Cosh": ops.Cosh, "Erf": ops.Erf, "Exp": ops.Exp, "Floor": ops.Floor, "Log": ops.Log, "Neg": ops.Negative,
    "Not": ops.LogicalNot, "Sign": ops.Sign, "Sin": ops.Sin, "Sinh": ops.Sinh, "Sqrt": ops.Sqrt, "Tan": ops.Tan,
    "Tanh": ops.Tanh, "Acosh": ops.Acosh, "Asinh": ops.Asinh, "Atanh": ops.Atanh, "BitwiseNot": ops.BitwiseNot,
    "Det": ops.Det,
}  # fmt: skip

# From operator set 7 on these broadcast as numpy does, before by the attributes broadcast and axis.
_BINARY: dict[str, type[Op]] = {
    "Add": ops.Add, "And": ops.LogicalAnd, "Equal": ops.Equal, "Greater": ops.Greater,
    "GreaterOrEqual": ops.GreaterEqual, "Less": ops.Less, "LessOrEqual": ops.LessEqual, "Mul": ops.Multiply,
    "Or": ops.LogicalOr, "Sub": ops.Subtract, "Xor": ops.LogicalXor, "BitwiseAnd": ops.BitwiseAnd,
    "BitwiseOr": ops.BitwiseOr, "BitwiseXor": ops.BitwiseXor,
}  # fmt: skip

_VARIADIC: dict[str, type[Op]] = {"Max": ops.Maximum, "Min": ops.Minimum, "Sum": ops.Add}


def _unary(operation: type[Op]) -> Callable[[OnnxNodeContext], Translation]:
    return lambda node: operation(node.get_input(0))


def _binary(operation: type[Op]) -> Callable[[OnnxNodeContext], Translation]:
    return lambda node: operation(node.get_input(0), node.get_input(1))


def _aligned(node: OnnxNodeContext) -> tuple[Output, Output]:
    """Both inputs of an old operator, the second with the dimensions that the attribute axis gives it."""
    first, second = node.get_input(0), node.get_input(1)
    if not node.get_attribute("broadcast", 0) or not node.has_attribute("axis"):
        return first, second
    axis, ranks = node.get_attribute("axis"), (rank_of(first), rank_of(second))
    behind = ranks[0] - normalize_axis(axis, ranks[0]) - ranks[1]
    if behind < 0:
        raise FrontendError(f"a value of rank {ranks[1]} does not fit at axis {axis} of one of rank {ranks[0]}")
    if not behind:
        return first, second
    return first, ops.Unsqueeze(second, int64(range(ranks[1], ranks[1] + behind))).output(0)


def _old_binary(operation: Callable[..., Op]) -> Callable[[OnnxNodeContext], Translation]:
    return lambda node: operation(*_aligned(node))


def _variadic(operation: type[Op]) -> Callable[[OnnxNodeContext], Translation]:
    return lambda node: [reduce(operation, node.get_inputs())]


for _type, _operation in _UNARY.items():
    translator(_type)(_unary(_operation))
for _type, _operation in _BINARY.items():
    translator(_type)(_old_binary(_operation))
    translator(_type, since=7)(_binary(_operation))
for _type, _operation in _VARIADIC.items():
    translator(_type)(_variadic(_operation))


@translator("Mean")
def mean(node: OnnxNodeContext) -> Translation:
    values = node.get_inputs()
    return ops.Divide(reduce(ops.Add, values), scalar_like(values[0], len(values)))


@translator("Div")
def old_div(node: OnnxNodeContext) -> Translation:
    return ops.Divide(*_aligned(node), m_pythondiv=False)


@translator("Div", since=7)
def div(node: OnnxNodeContext) -> Translation:
    # ONNX rounds the quotient of integers towards 0.
    return ops.Divide(node.get_input(0), node.get_input(1), m_pythondiv=False)


@translator("Mod", since=10)
def mod(node: OnnxNodeContext) -> Translation:
    # The sign of the result is that of the dividend with fmod, else that of the divisor.
    operation = ops.Mod if node.get_attribute("fmod", 0) else ops.FloorMod
    return operation(node.get_input(0), node.get_input(1))


@translator("Pow")
def old_power(node: OnnxNodeContext) -> Translation:
    return ops.Power(*_aligned(node))


@translator("BitShift", since=11)
def bit_shift(node: OnnxNodeContext) -> Translation:
    operations = {"LEFT": ops.BitwiseLeftShift, "RIGHT": ops.BitwiseRightShift}
    direction = node.get_attribute("direction")
    if direction not in operations:
        raise FrontendError(f"direction {direction} is none of LEFT and RIGHT")
    return operations[direction](node.get_input(0), node.get_input(1))


@translator("Pow", since=7)
def power(node: OnnxNodeContext) -> Translation:
    base, exponent = node.get_input(0), node.get_input(1)
    if base.element_type is exponent.element_type:
        return ops.Power(base, exponent)
    if base.element_type.is_real():
        return ops.Power(base, ops.Convert(exponent, base.element_type))
    # An integer to the power of another type: the result is of the base's type again.
    return ops.Convert(ops.Power(ops.Convert(base, exponent.element_type), exponent), base.element_type)


@translator("Reciprocal")
def reciprocal(node: OnnxNodeContext) -> Translation:
    return ops.Divide(scalar_like(node.get_input(0), 1), node.get_input(0))


@translator("IsNaN", since=9)
def is_nan(node: OnnxNodeContext) -> Translation:
    return ops.IsNaN(node.get_input(0))


@translator("IsInf", since=10)
def is_inf(node: OnnxNodeContext) -> Translation:
    directions = {name: bool(node.get_attribute(name, 1)) for name in ("detect_negative", "detect_positive")}
    return ops.IsInf(node.get_input(0), directions)


@translator("Round", since=11)
def round_half_to_even(node: OnnxNodeContext) -> Translation:
    return ops.Round(node.get_input(0), "half_to_even")


@translator("Where", since=9)
def where(node: OnnxNodeContext) -> Translation:
    return ops.Select(node.get_input(0), node.get_input(1), node.get_input(2))


@translator("Identity")
def identity(node: OnnxNodeContext) -> Translation:
    return node.get_input(0)

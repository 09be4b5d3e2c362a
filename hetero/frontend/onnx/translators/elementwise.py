"""Element-wise arithmetic, comparison and logic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from hetero import ops
from hetero.frontend.numerics.elementwise import reciprocal
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, normalize_axis, rank_of, scalar_like
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


def _power(base: Output, exponent: Output) -> Op:
    if base.element_type is exponent.element_type:
        return ops.Power(base, exponent)
    if base.element_type.is_real():
        return ops.Power(base, ops.Convert(exponent, base.element_type))
    # An integer base and an exponent of another type: computed in the exponent's type, returned in the base's.
    return ops.Convert(ops.Power(ops.Convert(base, exponent.element_type), exponent), base.element_type)


_UNARY: dict[str, Callable[[Output], Op | Output]] = {
    "Abs": ops.Abs, "Acos": ops.Acos, "Asin": ops.Asin, "Atan": ops.Atan, "Ceil": ops.Ceiling, "Cos": ops.Cos,
    "Cosh": ops.Cosh, "Erf": ops.Erf, "Exp": ops.Exp, "Floor": ops.Floor, "Log": ops.Log, "Neg": ops.Negative,
    "Not": ops.LogicalNot, "Sign": ops.Sign, "Sin": ops.Sin, "Sinh": ops.Sinh, "Sqrt": ops.Sqrt, "Tan": ops.Tan,
    "Tanh": ops.Tanh, "Acosh": ops.Acosh, "Asinh": ops.Asinh, "Atanh": ops.Atanh, "BitwiseNot": ops.BitwiseNot,
    "Identity": lambda value: value,
    "Reciprocal": reciprocal,
}  # fmt: skip

# They broadcast like numpy from operator set 7 on, and by the attributes broadcast and axis before.
_BINARY: dict[str, Callable[[Output, Output], Op]] = {
    "Add": ops.Add, "And": ops.LogicalAnd, "Equal": ops.Equal, "Greater": ops.Greater,
    "GreaterOrEqual": ops.GreaterEqual, "Less": ops.Less, "LessOrEqual": ops.LessEqual, "Mul": ops.Multiply,
    "Or": ops.LogicalOr, "Sub": ops.Subtract, "Xor": ops.LogicalXor, "BitwiseAnd": ops.BitwiseAnd,
    "BitwiseOr": ops.BitwiseOr, "BitwiseXor": ops.BitwiseXor, "Pow": _power,
    "Div": partial(ops.Divide, m_pythondiv=False),  # the quotient of integers is truncated toward 0
}  # fmt: skip

_VARIADIC: dict[str, type[Op]] = {"Max": ops.Maximum, "Min": ops.Minimum, "Sum": ops.Add}


register_direct(_UNARY, 1)
register_direct({"IsNaN": ops.IsNaN}, 1, since=9)
register_direct({"Round": ops.Round}, 1, since=11)
register_direct(_BINARY, 2, since=7)
register_direct({"Where": ops.Select}, 3, since=9)


@translator(*_BINARY)
def binary_1(node: OnnxNodeContext) -> Translation:
    """Before operator set 7, the attribute axis says where the second input begins in the first."""
    operation, first, second = _BINARY[node.get_op_type()], node.get_input(0), node.get_input(1)
    if not node.get_attribute("broadcast", 0) or not node.has_attribute("axis"):
        return operation(first, second)
    axis, ranks = node.get_attribute("axis"), (rank_of(first), rank_of(second))
    trailing = ranks[0] - normalize_axis(axis, ranks[0]) - ranks[1]
    if trailing < 0:
        raise FrontendError(f"an input of rank {ranks[1]} does not fit at axis {axis} of one of rank {ranks[0]}")
    if trailing:
        second = ops.Unsqueeze(second, int64(range(ranks[1], ranks[1] + trailing))).output(0)
    return operation(first, second)


@translator(*_VARIADIC)
def variadic(node: OnnxNodeContext) -> Translation:
    return _fold(_VARIADIC[node.get_op_type()], node.get_inputs())


@translator("Mean")
def mean(node: OnnxNodeContext) -> Translation:
    values = node.get_inputs()
    return ops.Divide(_fold(ops.Add, values), scalar_like(values[0], len(values)))


def _fold(operation: type[Op], values: Sequence[Output]) -> Output:
    return reduce(lambda first, second: operation(first, second).output(0), values)


@translator("Mod", since=10)
def mod(node: OnnxNodeContext) -> Translation:
    # With fmod the result has the sign of the dividend, else of the divisor.
    operation = ops.Mod if node.get_attribute("fmod", 0) else ops.FloorMod
    return operation(node.get_input(0), node.get_input(1))


@translator("BitShift", since=11)
def bit_shift(node: OnnxNodeContext) -> Translation:
    operations = {"LEFT": ops.BitwiseLeftShift, "RIGHT": ops.BitwiseRightShift}
    direction = node.get_attribute("direction")
    if direction not in operations:
        raise FrontendError(f"direction must be LEFT or RIGHT, but is {direction}")
    return operations[direction](node.get_input(0), node.get_input(1))


@translator("IsInf", since=10)
def is_inf(node: OnnxNodeContext) -> Translation:
    directions = {name: bool(node.get_attribute(name, 1)) for name in ("detect_negative", "detect_positive")}
    return ops.IsInf(node.get_input(0), directions)

"""Element-wise operations on two tensors: arithmetic, comparison, logic, bits; Select."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates, register_functions


@evaluates(ops.Divide, in_f32=True)
def divide(node: ops.Divide, a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    return quotient if node.m_pythondiv else quotient + ((quotient < 0) & (quotient * b != a))


# Frequent exponents, for which these functions are faster than pow.
_SIMPLER_POWERS: dict[float, Callable[[Array], Array]] = {
    -1: np.reciprocal, 1: np.positive, 2: np.square, 3: lambda x: np.square(x) * x,
    4: lambda x: np.square(np.square(x)),
}  # fmt: skip
# The same for positive numbers only, as the square root differs from pow at -0 and -inf.
_SIMPLER_ROOTS: dict[float, Callable[[Array], Array]] = {-0.5: lambda x: np.reciprocal(np.sqrt(x)), 0.5: np.sqrt}


@evaluates(ops.Power, in_f32=True)
def power(node: ops.Power, a: Array, b: Array) -> Array:
    if a.dtype.kind == "f" and b.size == 1:
        simpler = _SIMPLER_POWERS.get(b.item()) or _SIMPLER_ROOTS.get(b.item())
        if simpler and (b.item() in _SIMPLER_POWERS or (a > 0).all()):
            return simpler(a).reshape(np.broadcast_shapes(a.shape, b.shape))
    if b.dtype.kind == "i" and (b < 0).any():
        return np.power(a.astype(np.float64), b).astype(a.dtype)  # numpy rejects negative integer exponents
    return np.power(a, b)


def squared_difference(a: Array, b: Array) -> Array:
    difference = a - b
    return np.square(difference, difference) if difference.ndim else np.square(difference)


register_functions({ops.Select: np.where})
register_functions(
    {
        ops.Add: np.add, ops.Subtract: np.subtract, ops.Multiply: np.multiply, ops.Maximum: np.maximum,
        ops.Minimum: np.minimum, ops.Mod: np.fmod, ops.FloorMod: np.mod, ops.SquaredDifference: squared_difference,
    },
    in_f32=True,
)  # fmt: skip


_COMPARISONS = (
    ops.Equal, ops.NotEqual, ops.Greater, ops.GreaterEqual, ops.Less, ops.LessEqual,
    ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor,
)  # fmt: skip
register_functions({operation: operation.combine for operation in _COMPARISONS})
register_functions({ops.LogicalNot: np.logical_not})
register_functions({ops.IsFinite: np.isfinite, ops.IsNaN: np.isnan}, in_f32=True)


@evaluates(ops.IsInf, in_f32=True)
def is_inf(node: ops.IsInf, x: Array) -> Array:
    if node.detect_positive and node.detect_negative:
        return np.isinf(x)
    if node.detect_positive or node.detect_negative:
        return x == x.dtype.type(np.inf if node.detect_positive else -np.inf)
    return np.zeros(x.shape, np.bool_)


register_functions({
    ops.BitwiseAnd: np.bitwise_and, ops.BitwiseOr: np.bitwise_or, ops.BitwiseXor: np.bitwise_xor,
    ops.BitwiseNot: np.bitwise_not, ops.BitwiseLeftShift: np.left_shift, ops.BitwiseRightShift: np.right_shift,
})  # fmt: skip

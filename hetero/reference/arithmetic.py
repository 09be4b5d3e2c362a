"""Element-wise arithmetic on two tensors, and Select."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import compute_in_f32, evaluates

_FUNCTIONS = {
    ops.Add: np.add, ops.Subtract: np.subtract, ops.Multiply: np.multiply, ops.Maximum: np.maximum,
    ops.Minimum: np.minimum, ops.Mod: np.fmod, ops.FloorMod: np.mod,
}  # fmt: skip


@evaluates(*_FUNCTIONS)
@compute_in_f32
def arithmetic(node, a, b):
    return _FUNCTIONS[type(node)](a, b)


@evaluates(ops.Divide)
@compute_in_f32
def divide(node, a, b):
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    return quotient if node.m_pythondiv else quotient + ((quotient < 0) & (quotient * b != a))


# Frequent exponents, for which these functions are faster than pow.
_SIMPLER_POWERS = {
    -1: np.reciprocal, -0.5: lambda x: np.reciprocal(np.sqrt(x)), 0.5: np.sqrt, 1: np.positive, 2: np.square,
    3: lambda x: np.square(x) * x, 4: lambda x: np.square(np.square(x)),
}  # fmt: skip


@evaluates(ops.Power)
@compute_in_f32
def power(node, a, b):
    if a.dtype.kind == "f" and b.size == 1:
        simpler = _SIMPLER_POWERS.get(b.item())
        if simpler:
            return simpler(a).reshape(np.broadcast_shapes(a.shape, b.shape))
    if b.dtype.kind == "i" and (b < 0).any():
        return np.power(a.astype(np.float64), b).astype(a.dtype)  # numpy rejects negative integer exponents
    return np.power(a, b)


@evaluates(ops.SquaredDifference)
@compute_in_f32
def squared_difference(node, a, b):
    difference = a - b
    return np.square(difference, difference) if difference.ndim else np.square(difference)


@evaluates(ops.Select)
def select(node, condition, then, otherwise):
    return np.where(condition, then, otherwise)

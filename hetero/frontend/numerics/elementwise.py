"""Functions of elements. Numbers are real, and both operands of one type, unless the docstring says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.values import int64, multiply_by, rank_of, reshape, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError

_UNSIGNED = {2: Type.u2, 4: Type.u4, 8: Type.u8, 16: Type.u16, 32: Type.u32, 64: Type.u64}


def reciprocal(value: Output) -> Op:
    """Return 1 / x."""
    return ops.Divide(scalar_like(value, 1), value)


def reciprocal_square_root(value: Output) -> Op:
    """Return 1 / √x."""
    return ops.Divide(scalar_like(value, 1), ops.Sqrt(value))


def square(value: Output) -> Op:
    """Return x², of integers too."""
    return ops.Multiply(value, value)


def logarithm(value: Output, base: float) -> Op:
    """Return log(x) / log(base), which is exact for the powers of the base that are exact."""
    return ops.Divide(ops.Log(value), scalar_like(value, math.log(base)))


def log1p(value: Output) -> Op:
    """Return log(1 + x) as log(u) · x / (u - 1) with u = 1 + x: the factor compensates the rounding of u.

    The error is at most 5 units in the last place, also near 0. Kahan's formula; see Higham, "Accuracy and Stability of
    Numerical Algorithms", 2002, section 1.14.1.
    """
    one = scalar_like(value, 1)
    total = ops.Add(value, one)
    # Large numbers and infinity do not change if 1 is added.
    factor = ops.Select(ops.Equal(total, value), one, ops.Divide(value, ops.Subtract(total, one)))
    return ops.Select(ops.Equal(total, one), value, ops.Multiply(ops.Log(total), factor))


def expm1(value: Output) -> Op:
    """Return exp(x) - 1 as tanh(x / 2) · (exp(x) + 1), whose error is at most 4 units in the last place."""
    return ops.Multiply(ops.Tanh(multiply_by(value, 0.5)), ops.Add(ops.Exp(value), scalar_like(value, 1)))


def erfc(value: Output) -> Op:
    """Return 1 - erf(x)."""
    return ops.Subtract(scalar_like(value, 1), ops.Erf(value))


def logit(value: Output, epsilon: float | None = None) -> Op:
    """Return log(x / (1 - x)), with x clamped to ``epsilon`` … 1 - ``epsilon`` if it is given."""
    if epsilon is not None:
        value = ops.Clamp(value, epsilon, 1 - epsilon).output(0)
    return ops.Log(ops.Divide(value, ops.Subtract(scalar_like(value, 1), value)))


def truncate(value: Output) -> Output:
    """Return numbers rounded toward 0; integers unchanged."""
    if not value.element_type.is_real():
        return value
    return ops.Multiply(ops.Sign(value), ops.Floor(ops.Abs(value))).output(0)


def round_to_decimals(value: Output, decimals: int) -> Output:
    """Return round(x · 10ᵈ) / 10ᵈ, halves rounded to even; for negative d round(x / 10⁻ᵈ) · 10⁻ᵈ.

    10⁻ᵈ is not a binary fraction: a product with it would round once more, 0.3 to 0.30000000000000004.
    """
    power = scalar_like(value, 10.0 ** abs(decimals))
    if decimals == 0:
        return ops.Round(value, "half_to_even").output(0)
    if decimals > 0:
        return ops.Divide(ops.Round(ops.Multiply(value, power), "half_to_even"), power).output(0)
    return ops.Multiply(ops.Round(ops.Divide(value, power), "half_to_even"), power).output(0)


def floor_divide(left: Output, right: Output) -> Op:
    """Return the floor of the exact quotient, also of integers. A rounded quotient may exceed it: 1 // 0.1 is 9.

    Division of real numbers by 0 gives left / right. Formula: Python's ``float.__floordiv__``.
    """
    if not left.element_type.is_real():
        return ops.Divide(left, right, m_pythondiv=True)
    zero = scalar_like(left, 0)
    remainder = ops.Mod(left, right)
    is_negative = ops.LogicalXor(ops.Less(left, zero), ops.Less(right, zero))
    quotient = ops.Round(ops.Divide(ops.Subtract(left, remainder), right), "half_to_even")
    is_above = ops.LogicalAnd(ops.NotEqual(remainder, zero), is_negative)
    floor = ops.Select(is_above, ops.Subtract(quotient, scalar_like(left, 1)), quotient)
    return ops.Select(ops.Equal(right, zero), ops.Divide(left, right), floor)


def truncate_divide(left: Output, right: Output) -> Op:
    """Return the quotient, that of integers rounded toward 0."""
    return ops.Divide(left, right, m_pythondiv=False)


def atan2(y: Output, x: Output) -> Op:
    """Return the angle of the points (x, y), from -π to π: that of (|x|, |y|), mirrored into their quadrants."""
    height, width = ops.Abs(y), ops.Abs(x)
    # Equal lengths may be 0 or infinite, whose quotient is NaN.
    ratio = ops.Select(ops.Equal(height, width), ops.Sign(height), ops.Divide(height, width))
    angle: Op = ops.Atan(ratio)
    angle = ops.Select(_has_minus(x), ops.Subtract(scalar_like(x, math.pi), angle), angle)
    return ops.Select(_has_minus(y), ops.Negative(angle), angle)


def _has_minus(value: Output) -> Op:
    """Return whether numbers are negative, or -0, whose reciprocal is."""
    return ops.Less(ops.Add(value, reciprocal(value)), scalar_like(value, 0))


def heaviside(value: Output, at_zero: Output) -> Op:
    """Return 0 for negative numbers, 1 for positive ones, ``at_zero`` for 0. NaN gives 0."""
    zero = scalar_like(value, 0)
    return ops.Select(ops.Equal(value, zero), at_zero, ops.Convert(ops.Greater(value, zero), value.element_type))


def ignore_nan(operation: Callable[[Output, Output], Op]) -> Callable[[Output, Output], Op]:
    """Return the operation on two numbers that gives the other one if one is NaN. Integers are never NaN."""

    def operate(left: Output, right: Output) -> Op:
        result = operation(left, right)
        if not left.element_type.is_real():
            return result
        return ops.Select(ops.IsNaN(left), right, ops.Select(ops.IsNaN(right), left, result))

    return operate


def on_booleans(operation: Callable[..., Op], logical: Callable[..., Op]) -> Callable[[Output, Output], Op]:
    """Return the operation on two numbers that is ``logical`` on booleans."""
    return lambda left, right: (logical if left.element_type is Type.boolean else operation)(left, right)


def reinterpret(value: Output, kind: Type) -> Output:
    """Return the little-endian bytes of numbers as numbers of another type.

    Wider numbers are made of those of the last axis; narrower ones are on a new last axis.
    """
    old, new = value.element_type.bitwidth, kind.bitwidth
    if value.element_type is kind:
        return value
    if old != new:
        if old not in _UNSIGNED or new not in _UNSIGNED:
            raise FrontendError(f"{value.element_type} and {kind} must have whole bytes")
        value = reinterpret(value, _UNSIGNED[old])
        parts = max(old, new) // min(old, new)
        wide, narrow = _UNSIGNED[max(old, new)], _UNSIGNED[min(old, new)]
        shifts = Constant((np.arange(parts) * min(old, new)).astype(wide.to_dtype()))
        if new > old:
            if not rank_of(value) or not value.partial_shape[-1].compatible(parts):
                raise FrontendError(f"the last dimension of {value.partial_shape} must be {parts}")
            shifted = ops.BitwiseLeftShift(ops.Convert(value, wide), shifts).output(0)
            lasts = [ops.Gather(shifted, int64(part), int64(-1)).output(0) for part in range(parts)]
            value = reduce(lambda left, right: ops.BitwiseOr(left, right).output(0), lasts)
        else:
            shifted = ops.BitwiseRightShift(ops.Unsqueeze(value, int64([-1])), shifts).output(0)
            mask = scalar_like(shifted, 2**new - 1)
            value = ops.Convert(ops.BitwiseAnd(shifted, mask), narrow).output(0)
    return value if value.element_type is kind else ops.BitCast(value, kind).output(0)


def reinterpret_last_axis(value: Output, kind: Type) -> Output:
    """Return the little-endian bytes of each row of numbers as a row of numbers of another type.

    The last axis becomes longer or shorter, as the numbers are narrower or wider.
    """
    old, new = value.element_type.bitwidth, kind.bitwidth
    before = [0] * (rank_of(value) - 1)
    if new > old:
        value = reshape(value, [*before, -1, new // old])
    value = reinterpret(value, kind)
    return value if new >= old else reshape(value, [*before, -1])

"""Element-wise operations in numpy, in the element type of the data."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates, in_single

_EXACT = {
    ops.Abs: np.abs, ops.Ceiling: np.ceil, ops.Floor: np.floor, ops.Negative: np.negative, ops.Sign: np.sign,
    ops.Add: np.add, ops.Subtract: np.subtract, ops.Multiply: np.multiply, ops.Maximum: np.maximum,
    ops.Minimum: np.minimum, ops.Mod: np.fmod, ops.FloorMod: np.mod,
}  # fmt: skip


@evaluates(*_EXACT)
@in_single
def exact(node, *arrays):
    return _EXACT[type(node)](*arrays)


# erf(x) is tanh(x · P(x²)) up to where it is 1 in f32. The coefficients are our own fit of atanh(erf(x)) / x, of even
# relative error in erf: 1e-8 in exact arithmetic, 1.2e-7 when computed in f32.
_ERF_END = 4.2  # where tanh is 1 in f32, as GELU of large negative numbers needs
_ERF_P = (
    1.12837918, 0.102772165, -0.000206651883, -0.000595310508, 6.93230123e-05, 1.32562778e-06, -1.28873378e-06,
    1.56119765e-07, -8.46587199e-09, 1.78640907e-10,
)  # fmt: skip
# Elements computed at once, so that what is between stays in the processor's cache.
_BLOCK = 1 << 14


def erf(x: np.ndarray) -> np.ndarray:
    """The error function of f32 or f64, to 1.2e-7."""
    result = np.empty(x.shape, x.dtype)
    source, target = x.reshape(-1), result.reshape(-1)
    for start in range(0, x.size, _BLOCK):
        part = np.clip(source[start : start + _BLOCK], -_ERF_END, _ERF_END)
        square = part * part
        polynomial = np.full_like(part, _ERF_P[-1])
        for coefficient in reversed(_ERF_P[:-1]):
            polynomial *= square
            polynomial += x.dtype.type(coefficient)
        polynomial *= part
        np.tanh(polynomial, out=target[start : start + _BLOCK])
    return result


def sigmoid(x: np.ndarray) -> np.ndarray:
    """By tanh, which does not overflow."""
    half = x.dtype.type(0.5)
    return half * np.tanh(half * x) + half


def h_sigmoid(x: np.ndarray) -> np.ndarray:
    return np.clip(x + x.dtype.type(3), 0, 6) / x.dtype.type(6)


_REAL = {
    ops.Acos: np.arccos, ops.Asin: np.arcsin, ops.Atan: np.arctan, ops.Cos: np.cos, ops.Cosh: np.cosh, ops.Erf: erf,
    ops.Exp: np.exp, ops.HSigmoid: h_sigmoid, ops.HSwish: lambda x: x * h_sigmoid(x), ops.Log: np.log,
    ops.Sigmoid: sigmoid, ops.Sin: np.sin, ops.Sinh: np.sinh, ops.Sqrt: np.sqrt, ops.Tan: np.tan, ops.Tanh: np.tanh,
}  # fmt: skip


@evaluates(*_REAL)
@in_single
def real(node, x):
    function = _REAL[type(node)]
    # Of integers the nearest whole number, as OpenVINO's CPU device has it.
    return np.rint(function(x.astype(np.float64))) if x.dtype.kind in "iu" else function(x)


@evaluates(ops.Relu)
@in_single
def relu(node, x):
    return np.maximum(x, x.dtype.type(0))


@evaluates(ops.Mish)
@in_single
def mish(node, x):
    return x * np.tanh(np.logaddexp(x, x.dtype.type(0)))


@evaluates(ops.SoftPlus)
@in_single
def soft_plus(node, x):
    return np.logaddexp(x, x.dtype.type(0))


@evaluates(ops.SoftSign)
@in_single
def soft_sign(node, x):
    return x / (1 + np.abs(x))


@evaluates(ops.Swish)
@in_single
def swish(node, x, beta=None):
    return x * sigmoid(x if beta is None else beta * x)


@evaluates(ops.Round)
@in_single
def round_(node, x):
    if x.dtype.kind != "f":
        return x
    if node.mode == "half_to_even":
        return np.rint(x)
    # Not by adding a half, which the largest number below a half does not survive.
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)


@evaluates(ops.Gelu)
@in_single
def gelu(node, x):
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    if node.approximation_mode == "erf":
        return half * x * (one + erf(x * x.dtype.type(np.sqrt(0.5))))
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return half * x * (one + np.tanh(inner))


@evaluates(ops.Clamp)
@in_single
def clamp(node, x):
    low, high = node.min_value, node.max_value
    if x.dtype.kind in "iu":
        # Whole bounds inside the type: up from below, down from above.
        low, high = _inside(np.ceil(low), x.dtype), _inside(np.floor(high), x.dtype)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


def _inside(bound: float, dtype: np.dtype) -> int:
    limits = np.iinfo(dtype)
    return limits.min if bound <= limits.min else limits.max if bound >= limits.max else int(bound)


@evaluates(ops.Elu)
@in_single
def elu(node, x):
    return np.where(x > 0, x, x.dtype.type(node.alpha) * np.expm1(np.minimum(x, 0)))


@evaluates(ops.HardSigmoid)
@in_single
def hard_sigmoid(node, x, alpha, beta):
    return np.clip(alpha.reshape(()) * x + beta.reshape(()), 0, 1)


@evaluates(ops.Selu)
@in_single
def selu(node, x, alpha, lambda_value):
    return lambda_value * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@evaluates(ops.PRelu)
@in_single
def prelu(node, x, slope):
    if slope.ndim == 1 and x.ndim > 1 and slope.size == x.shape[1]:
        slope = slope.reshape(-1, *[1] * (x.ndim - 2))  # one slope a channel
    return np.where(x > 0, x, slope * x)


@evaluates(ops.Divide)
@in_single
def divide(node, a, b):
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    return quotient if node.m_pythondiv else quotient + ((quotient < 0) & (quotient * b != a))


@evaluates(ops.Power)
@in_single
def power(node, a, b):
    if a.dtype.kind == "f" and b.size == 1:
        # The powers that models are full of, faster than pow.
        exponent = b.reshape(()).item()
        shape = np.broadcast_shapes(a.shape, b.shape)
        if exponent == 2:
            return np.square(a).reshape(shape)
        if exponent == 0.5:
            return np.sqrt(a).reshape(shape)
    if b.dtype.kind == "i" and (b < 0).any():
        return np.power(a.astype(np.float64), b).astype(a.dtype)  # numpy refuses negative whole exponents
    return np.power(a, b)


@evaluates(ops.SquaredDifference)
@in_single
def squared_difference(node, a, b):
    return np.square(a - b)


@evaluates(ops.Select)
def select(node, condition, then, otherwise):
    return np.where(condition, then, otherwise)

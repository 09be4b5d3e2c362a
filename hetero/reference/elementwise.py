"""Element-wise operations in numpy, in the element type of the data."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates
from hetero.types import Type

_PLAIN = {
    ops.Abs: np.abs, ops.Acos: np.arccos, ops.Asin: np.arcsin, ops.Atan: np.arctan, ops.Ceiling: np.ceil,
    ops.Cos: np.cos, ops.Cosh: np.cosh, ops.Exp: np.exp, ops.Floor: np.floor, ops.Log: np.log,
    ops.Negative: np.negative, ops.Sign: np.sign, ops.Sin: np.sin, ops.Sinh: np.sinh, ops.Sqrt: np.sqrt,
    ops.Tan: np.tan, ops.Tanh: np.tanh, ops.Add: np.add, ops.Subtract: np.subtract, ops.Multiply: np.multiply,
    ops.Maximum: np.maximum, ops.Minimum: np.minimum, ops.Mod: np.fmod, ops.FloorMod: np.mod,
}  # fmt: skip


def _register(operation: type, function: np.ufunc) -> None:
    @evaluates(operation)
    def plain(node, *arrays):
        with np.errstate(all="ignore"):  # infinities and NaN are values here
            return function(*arrays)


for _operation, _function in _PLAIN.items():
    _register(_operation, _function)

# erf(x) is x · P(x²) / Q(x²) up to where it is 1 in f32. The coefficients are a least-squares fit of ours with errors
# weighted towards an even size: 3e-8 in exact arithmetic, 4e-7 when computed in f32.
ERF_END = 3.95
ERF_P = (1.12837907, 0.191660149, 0.0529017455, 0.00381781756, 0.000285762269, 2.03519369e-06)
ERF_Q = (1.0, 0.503186515, 0.114616573, 0.0150713249, 0.00117481104, 3.79867092e-05)


def erf(x: np.ndarray) -> np.ndarray:
    """The error function of floating-point numbers, to 4e-7."""
    x = np.clip(x, -ERF_END, ERF_END)
    square = x * x
    result = _polynomial(ERF_P, square)
    result *= x
    result /= _polynomial(ERF_Q, square)
    return np.clip(result, -1, 1, out=result)


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """By Horner's scheme, in the type of x."""
    result = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result *= x
        result += x.dtype.type(coefficient)
    return result


@evaluates(ops.Erf)
def erf_of(node, x):
    return erf(x)


@evaluates(ops.Relu)
def relu(node, x):
    return np.maximum(x, x.dtype.type(0))


@evaluates(ops.Sigmoid)
def sigmoid(node, x):
    # By tanh, which does not overflow.
    half = x.dtype.type(0.5)
    return half * np.tanh(half * x) + half


@evaluates(ops.Mish)
def mish(node, x):
    return x * np.tanh(np.logaddexp(x, x.dtype.type(0)))


@evaluates(ops.SoftPlus)
def soft_plus(node, x):
    return np.logaddexp(x, x.dtype.type(0))


@evaluates(ops.SoftSign)
def soft_sign(node, x):
    return x / (1 + np.abs(x))


@evaluates(ops.HSigmoid)
def h_sigmoid(node, x):
    return np.clip(x + x.dtype.type(3), 0, 6) / x.dtype.type(6)


@evaluates(ops.HSwish)
def h_swish(node, x):
    return x * h_sigmoid(node, x)


@evaluates(ops.Swish)
def swish(node, x, beta=None):
    return x * sigmoid(node, x if beta is None else beta * x)


@evaluates(ops.Round)
def round_(node, x):
    if node.mode == "half_to_even":
        return np.rint(x)
    return np.trunc(x + np.copysign(x.dtype.type(0.5), x)) if x.dtype.kind == "f" else x


@evaluates(ops.Gelu)
def gelu(node, x):
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    if node.approximation_mode == "erf":
        return half * x * (one + erf(x * x.dtype.type(np.sqrt(0.5))))
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return half * x * (one + np.tanh(inner))


@evaluates(ops.Clamp)
def clamp(node, x):
    low, high = node.min_value, node.max_value
    if x.dtype.kind in "iu":
        # Whole bounds inside the type: up from below, down from above.
        limits = np.iinfo(x.dtype)
        low = int(max(np.ceil(max(low, limits.min)), limits.min))
        high = limits.max if high >= limits.max else int(np.floor(high))
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


@evaluates(ops.Elu)
def elu(node, x):
    return np.where(x > 0, x, x.dtype.type(node.alpha) * np.expm1(np.minimum(x, 0)))


@evaluates(ops.HardSigmoid)
def hard_sigmoid(node, x, alpha, beta):
    return np.clip(alpha.reshape(()) * x + beta.reshape(()), 0, 1)


@evaluates(ops.Selu)
def selu(node, x, alpha, lambda_value):
    return lambda_value * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@evaluates(ops.PRelu)
def prelu(node, x, slope):
    if slope.ndim == 1 and slope.size > 1 and x.ndim > 1:
        slope = slope.reshape(-1, *[1] * (x.ndim - 2))  # one slope a channel
    return np.where(x > 0, x, slope * x)


@evaluates(ops.Convert)
def convert(node, x):
    with np.errstate(invalid="ignore"):
        return (x != 0) if node.destination_type is Type.boolean else x.astype(node.destination_type.to_dtype())


@evaluates(ops.Divide)
def divide(node, a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        if a.dtype.kind == "f":
            return np.divide(a, b)
        quotient = np.floor_divide(a, b)
        if node.m_pythondiv:
            return quotient
        return quotient + ((quotient < 0) & (quotient * b != a))


@evaluates(ops.Power)
def power(node, a, b):
    with np.errstate(all="ignore"):
        if a.dtype.kind == "f" and b.size == 1:
            # The powers that models are full of, faster than pow.
            exponent = b.reshape(()).item()
            shape = np.broadcast_shapes(a.shape, b.shape)
            if exponent == 2:
                return np.square(a).reshape(shape)
            if exponent == 0.5:
                return np.sqrt(a).reshape(shape)
        if a.dtype.kind in "iu":
            return np.power(a.astype(np.float64), b).astype(a.dtype)  # numpy refuses negative whole exponents
        return np.power(a, b)


@evaluates(ops.SquaredDifference)
def squared_difference(node, a, b):
    return np.square(a - b)


@evaluates(ops.Select)
def select(node, condition, then, otherwise):
    return np.where(condition, then, otherwise)

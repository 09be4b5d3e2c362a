"""Activation functions."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.elementwise import by_blocks, erf_into, in_real
from hetero.reference.registry import compute_in_f32, evaluates

# The functions *_into compute their result in the array ``out``, with few temporaries.


def sigmoid_into(x: np.ndarray, out: np.ndarray) -> None:
    """Compute 1 / (1 + exp(-x)). If the exponential overflows, the result is 0, which is correct."""
    np.negative(x, out)
    np.exp(out, out)
    out += x.dtype.type(1)
    np.divide(x.dtype.type(1), out, out)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) for floating-point numbers."""
    return by_blocks(sigmoid_into, x)


def h_sigmoid_into(x: np.ndarray, out: np.ndarray) -> None:
    np.add(x, x.dtype.type(3), out)
    np.clip(out, 0, 6, out)
    out /= x.dtype.type(6)


def h_swish_into(x: np.ndarray, out: np.ndarray) -> None:
    h_sigmoid_into(x, out)
    out *= x


_REAL = {ops.HSigmoid: h_sigmoid_into, ops.HSwish: h_swish_into, ops.Sigmoid: sigmoid_into}


@evaluates(*_REAL)
@compute_in_f32
def real(node, x):
    return in_real(lambda numbers: by_blocks(_REAL[type(node)], numbers), x)


@evaluates(ops.Relu)
@compute_in_f32
def relu(node, x):
    return np.maximum(x, x.dtype.type(0))


def _gelu_by_erf_into(x: np.ndarray, out: np.ndarray) -> None:
    erf_into(x * x.dtype.type(np.sqrt(0.5)), out)
    out += x.dtype.type(1)
    out *= x
    out *= x.dtype.type(0.5)


def _gelu_by_tanh_into(x: np.ndarray, out: np.ndarray) -> None:
    number = x.dtype.type
    np.multiply(x, x, out)
    out *= number(0.044715 * np.sqrt(2 / np.pi))
    out += number(np.sqrt(2 / np.pi))
    out *= x
    np.tanh(out, out)
    out += number(1)
    out *= x
    out *= number(0.5)


@evaluates(ops.Gelu, ops.GeluV2)
@compute_in_f32
def gelu(node, x):
    return by_blocks(_gelu_by_erf_into if node.approximation_mode == "erf" else _gelu_by_tanh_into, x)


def elu_into(x: np.ndarray, alpha: float, out: np.ndarray) -> None:
    """Compute max(x, 0) + alpha · (exp(min(x, 0)) - 1), which avoids a conditional."""
    zero = x.dtype.type(0)
    np.minimum(x, zero, out=out)
    np.expm1(out, out)
    out *= x.dtype.type(alpha)
    out += np.maximum(x, zero)


@evaluates(ops.Elu)
@compute_in_f32
def elu(node, x):
    return in_real(lambda numbers: by_blocks(lambda part, out: elu_into(part, node.alpha, out), numbers), x)


@evaluates(ops.Selu)
@compute_in_f32
def selu(node, x, alpha, lambda_value):
    if alpha.size > 1 or lambda_value.size > 1:
        return lambda_value * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))

    def selu_into(part: np.ndarray, out: np.ndarray) -> None:
        elu_into(part, alpha.item(), out)
        out *= lambda_value.reshape(())

    return by_blocks(selu_into, x)


@evaluates(ops.PRelu)
@compute_in_f32
def prelu(node, x, slope):
    if slope.size == 1 and 0 < slope.item() <= 1:
        return np.maximum(x, slope.reshape(()) * x)  # correct for 0 < slope <= 1
    if slope.ndim == 1 and x.ndim > 1 and slope.size == x.shape[1]:
        slope = slope.reshape(-1, *[1] * (x.ndim - 2))  # one slope per channel
    if np.isfinite(slope).all():
        zero = x.dtype.type(0)
        return np.maximum(x, zero) + slope * np.minimum(x, zero)  # faster than np.where
    return np.where(x > 0, x, slope * x)


def _mish_into(x: np.ndarray, out: np.ndarray) -> None:
    """Compute x · n / (n + 2) with n = e · (e + 2), e = exp(x): the fraction is tanh(ln(1 + e)), and 1 for x > 40."""
    np.minimum(x, x.dtype.type(40), out=out)
    np.exp(out, out)
    out *= out + x.dtype.type(2)
    out /= out + x.dtype.type(2)
    out *= x


@evaluates(ops.Mish)
@compute_in_f32
def mish(node, x):
    return by_blocks(_mish_into, x)


def _soft_plus_into(x: np.ndarray, out: np.ndarray) -> None:
    """Compute max(x, 0) + ln(1 + exp(-|x|)), which does not overflow."""
    np.abs(x, out)
    np.negative(out, out)
    np.exp(out, out)
    np.log1p(out, out)
    out += np.maximum(x, x.dtype.type(0))


@evaluates(ops.SoftPlus)
@compute_in_f32
def soft_plus(node, x):
    return by_blocks(_soft_plus_into, x)


@evaluates(ops.SoftSign)
@compute_in_f32
def soft_sign(node, x):
    result = np.abs(x)
    result = np.add(result, x.dtype.type(1))
    return np.divide(x, result)


@evaluates(ops.Swish)
@compute_in_f32
def swish(node, x, beta=None):
    def swish_into(part: np.ndarray, out: np.ndarray) -> None:
        sigmoid_into(part if beta is None else part * beta.reshape(()), out)
        out *= part

    return by_blocks(swish_into, x)


@evaluates(ops.HardSigmoid)
@compute_in_f32
def hard_sigmoid(node, x, alpha, beta):
    def hard_sigmoid_into(part: np.ndarray, out: np.ndarray) -> None:
        np.multiply(part, alpha.reshape(()), out)
        out += beta.reshape(())
        np.clip(out, 0, 1, out)

    return by_blocks(hard_sigmoid_into, x)

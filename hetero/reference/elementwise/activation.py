"""Activation functions."""

from __future__ import annotations

from functools import partial

import numpy as np

from hetero import ops
from hetero.reference.elementwise.elementwise import by_blocks, erf_into, in_real
from hetero.reference.registry import Array, evaluates, register_functions

# The functions *_into compute their result in the array ``out``, with few temporaries.


def sigmoid_into(x: Array, out: Array) -> None:
    """Compute 1 / (1 + exp(-x)). If the exponential overflows, the result is 0, which is correct."""
    np.negative(x, out)
    np.exp(out, out)
    out += x.dtype.type(1)
    np.divide(x.dtype.type(1), out, out)


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) for floating-point numbers."""
    return by_blocks(sigmoid_into, x)


def h_sigmoid_into(x: Array, out: Array) -> None:
    np.add(x, x.dtype.type(3), out)
    np.clip(out, 0, 6, out)
    out /= x.dtype.type(6)


def h_swish_into(x: Array, out: Array) -> None:
    h_sigmoid_into(x, out)
    out *= x


def _gelu_by_erf_into(x: Array, out: Array) -> None:
    erf_into(x * x.dtype.type(np.sqrt(0.5)), out)
    out += x.dtype.type(1)
    out *= x
    out *= x.dtype.type(0.5)


def _gelu_by_tanh_into(x: Array, out: Array) -> None:
    number = x.dtype.type
    np.multiply(x, x, out)
    out *= number(0.044715 * np.sqrt(2 / np.pi))
    out += number(np.sqrt(2 / np.pi))
    out *= x
    np.tanh(out, out)
    out += number(1)
    out *= x
    out *= number(0.5)


@evaluates(ops.Gelu, ops.GeluV2, in_f32=True)
def gelu(node: ops.Gelu | ops.GeluV2, x: Array) -> Array:
    return by_blocks(_gelu_by_erf_into if node.approximation_mode == "erf" else _gelu_by_tanh_into, x)


def elu_into(x: Array, alpha: float, out: Array) -> None:
    """Compute max(x, 0) + alpha · (exp(min(x, 0)) - 1), which avoids a conditional."""
    zero = x.dtype.type(0)
    np.minimum(x, zero, out=out)
    np.expm1(out, out)
    out *= x.dtype.type(alpha)
    out += np.maximum(x, zero)


@evaluates(ops.Elu, in_f32=True)
def elu(node: ops.Elu, x: Array) -> Array:
    return in_real(lambda numbers: by_blocks(lambda part, out: elu_into(part, node.alpha, out), numbers), x)


@evaluates(ops.Selu, in_f32=True)
def selu(node: ops.Selu, x: Array, alpha: Array, lambda_value: Array) -> Array:
    if alpha.size > 1 or lambda_value.size > 1:
        return lambda_value * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))

    def selu_into(part: Array, out: Array) -> None:
        elu_into(part, alpha.item(), out)
        out *= lambda_value.reshape(())

    return by_blocks(selu_into, x)


@evaluates(ops.PRelu, in_f32=True)
def prelu(node: ops.PRelu, x: Array, slope: Array) -> Array:
    if slope.size == 1 and 0 < slope.item() <= 1:
        return np.maximum(x, slope.reshape(()) * x)  # correct for 0 < slope <= 1
    if slope.ndim == 1 and x.ndim > 1 and slope.size == x.shape[1]:
        slope = slope.reshape(-1, *[1] * (x.ndim - 2))  # one slope per channel
    if np.isfinite(slope).all():
        zero = x.dtype.type(0)
        return np.maximum(x, zero) + slope * np.minimum(x, zero)  # faster than np.where
    return np.where(x > 0, x, slope * x)


def _mish_into(x: Array, out: Array) -> None:
    """Compute x · n / (n + 2) with n = e · (e + 2), e = exp(x): the fraction is tanh(ln(1 + e)), and 1 for x > 40."""
    np.minimum(x, x.dtype.type(40), out=out)
    np.exp(out, out)
    out *= out + x.dtype.type(2)
    out /= out + x.dtype.type(2)
    out *= x


def _soft_plus_into(x: Array, out: Array) -> None:
    """Compute max(x, 0) + ln(1 + exp(-|x|)), which does not overflow."""
    np.abs(x, out)
    np.negative(out, out)
    np.exp(out, out)
    np.log1p(out, out)
    out += np.maximum(x, x.dtype.type(0))


def _soft_sign(x: Array) -> Array:
    result = np.abs(x)
    result = np.add(result, x.dtype.type(1))
    return np.divide(x, result)


@evaluates(ops.Swish, in_f32=True)
def swish(node: ops.Swish, x: Array, beta: Array | None = None) -> Array:
    def swish_into(part: Array, out: Array) -> None:
        sigmoid_into(part if beta is None else part * beta.reshape(()), out)
        out *= part

    return by_blocks(swish_into, x)


@evaluates(ops.HardSigmoid, in_f32=True)
def hard_sigmoid(node: ops.HardSigmoid, x: Array, alpha: Array, beta: Array) -> Array:
    def hard_sigmoid_into(part: Array, out: Array) -> None:
        np.multiply(part, alpha.reshape(()), out)
        out += beta.reshape(())
        np.clip(out, 0, 1, out)

    return by_blocks(hard_sigmoid_into, x)


register_functions(
    {
        ops.HSigmoid: partial(in_real, partial(by_blocks, h_sigmoid_into)),
        ops.HSwish: partial(in_real, partial(by_blocks, h_swish_into)),
        ops.Mish: partial(by_blocks, _mish_into),
        ops.Relu: lambda x: np.maximum(x, x.dtype.type(0)),
        ops.Sigmoid: partial(in_real, sigmoid),
        ops.SoftPlus: partial(by_blocks, _soft_plus_into),
        ops.SoftSign: _soft_sign,
    },
    in_f32=True,
)

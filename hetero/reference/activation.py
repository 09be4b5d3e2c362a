"""Activation functions in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.elementwise import erf, in_real
from hetero.reference.registry import evaluates, in_single


def sigmoid(x: np.ndarray) -> np.ndarray:
    """By tanh, which does not overflow."""
    half = x.dtype.type(0.5)
    return half * np.tanh(half * x) + half


def h_sigmoid(x: np.ndarray) -> np.ndarray:
    return np.clip(x + x.dtype.type(3), 0, 6) / x.dtype.type(6)


_REAL = {ops.HSigmoid: h_sigmoid, ops.HSwish: lambda x: x * h_sigmoid(x), ops.Sigmoid: sigmoid}


@evaluates(*_REAL)
@in_single
def real(node, x):
    return in_real(_REAL[type(node)], x)


@evaluates(ops.Relu)
@in_single
def relu(node, x):
    return np.maximum(x, x.dtype.type(0))


@evaluates(ops.Gelu, ops.GeluV2)
@in_single
def gelu(node, x):
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    if node.approximation_mode == "erf":
        return half * x * (one + erf(x * x.dtype.type(np.sqrt(0.5))))
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return half * x * (one + np.tanh(inner))


@evaluates(ops.Elu)
@in_single
def elu(node, x):
    return np.where(x > 0, x, x.dtype.type(node.alpha) * np.expm1(np.minimum(x, 0)))


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


@evaluates(ops.HardSigmoid)
@in_single
def hard_sigmoid(node, x, alpha, beta):
    return np.clip(alpha.reshape(()) * x + beta.reshape(()), 0, 1)

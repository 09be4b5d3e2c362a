"""Activation functions: what the operations of the formats compute with their attributes as Python numbers."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.translation.values import multiply_by, scalar_like
from hetero.graph import Op, Output


def leaky_relu(value: Output, slope: float) -> Op:
    """Return x if x > 0, else slope · x."""
    return ops.PRelu(value, scalar_like(value, slope))


def selu(value: Output, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805) -> Op:
    """Return scale · x if x > 0, else scale · alpha · (exp(x) - 1)."""
    return ops.Selu(value, scalar_like(value, alpha), scalar_like(value, scale))


def celu(value: Output, alpha: float) -> Output:
    """Return max(0, x) + min(0, alpha · (exp(x / alpha) - 1)), which is alpha · elu(x / alpha)."""
    return multiply_by(ops.Elu(multiply_by(value, 1 / alpha), 1.0), alpha)


def gelu(value: Output, approximate: bool | str = False) -> Op:
    """Return x · Φ(x), or its approximation by tanh if ``approximate`` is True or "tanh"."""
    return ops.Gelu(value, "tanh" if approximate in (True, "tanh") else "erf")


def swish(value: Output, beta: float = 1.0) -> Op:
    """Return x · sigmoid(beta · x)."""
    return ops.Swish(value) if beta == 1 else ops.Swish(value, scalar_like(value, beta))


def hard_sigmoid(value: Output, slope: float = 0.2, offset: float = 0.5) -> Op:
    """Return slope · x + offset, clamped to 0 … 1."""
    return ops.HardSigmoid(value, scalar_like(value, slope), scalar_like(value, offset))


def softplus(value: Output, beta: float = 1.0, threshold: float = 20.0) -> Op:
    """Return log(1 + exp(beta · x)) / beta, and x if beta · x is above the threshold."""
    scaled = multiply_by(value, beta)
    smooth = multiply_by(ops.SoftPlus(scaled), 1 / beta)
    return ops.Select(ops.Greater(scaled, scalar_like(value, threshold)), value, smooth)


def log_sigmoid(value: Output) -> Op:
    """Return log(sigmoid(x)) = -log(1 + exp(-x))."""
    return ops.Negative(ops.SoftPlus(ops.Negative(value)))


def threshold(value: Output, limit: float, other: float = 0.0) -> Op:
    """Return x if x > limit or NaN, else ``other``."""
    return ops.Select(ops.LessEqual(value, scalar_like(value, limit)), scalar_like(value, other), value)


def hard_shrink(value: Output, limit: float) -> Op:
    """Return x if |x| > limit or NaN, else 0."""
    return ops.Select(ops.LessEqual(ops.Abs(value), scalar_like(value, limit)), scalar_like(value, 0), value)


def soft_shrink(value: Output, limit: float) -> Op:
    """Return x - limit if x > limit, x + limit if x < -limit, else 0."""
    return ops.Subtract(value, ops.Clamp(value, -limit, limit))

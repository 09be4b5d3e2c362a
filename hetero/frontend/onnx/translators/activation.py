"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from hetero import ops
from hetero.frontend.numerics.activation import celu, gelu, hard_sigmoid, leaky_relu, selu, swish
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    axis_length,
    flatten,
    int64,
    normalize_axis,
    prelu_broadcasting,
    rank_of,
    scalar_like,
)
from hetero.graph import Op, Output
from hetero.ops.values import exact_value

register_direct({"Relu": ops.Relu, "Sigmoid": ops.Sigmoid, "Softplus": ops.SoftPlus, "Softsign": ops.SoftSign}, 1)
register_direct({"HardSwish": ops.HSwish}, 1, since=14)
register_direct({"Mish": ops.Mish}, 1, since=18)
register_direct({"Elu": ops.Elu}, 1, alpha=1.0)
# Like PRelu-1, PRelu takes a slope of rank 1 as one slope for each channel before operator set 7.
register_direct({"PRelu": ops.PRelu}, 2)
register_direct({"PRelu": prelu_broadcasting}, 2, since=7)
register_direct({"Clip": ops.Clamp}, 1, min=-math.inf, max=math.inf)
register_direct(
    {"Clip": ops.Clamp}, 1, since=6, min=float(np.finfo(np.float32).min), max=float(np.finfo(np.float32).max)
)


def _swiglu(value: Output, gate: Output, alpha: float) -> Op:
    return ops.Multiply(swish(value, alpha), gate)


def thresholded_relu(value: Output, alpha: float) -> Op:
    return ops.Select(ops.Greater(value, scalar_like(value, alpha)), value, scalar_like(value, 0))


def _shrink(value: Output, limit: float, bias: float) -> Op:
    offset = scalar_like(value, bias)
    below = ops.Select(ops.Less(value, scalar_like(value, -limit)), ops.Add(value, offset), scalar_like(value, 0))
    return ops.Select(ops.Greater(value, scalar_like(value, limit)), ops.Subtract(value, offset), below)


register_direct({"Swish": swish}, 1, since=24, alpha=1.0)
register_direct({"SwiGLU": _swiglu}, 2, since=28, alpha=1.0)
register_direct({"Gelu": gelu}, 1, since=20, approximate="none")
register_direct({"Celu": celu}, 1, since=12, alpha=1.0)
register_direct({"Selu": selu}, 1, alpha=1.6732, gamma=1.0507)
register_direct({"Selu": selu}, 1, since=6, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875)
register_direct({"LeakyRelu": leaky_relu}, 1, alpha=0.01)
# Version 1 was an experimental operator.
register_direct({"ThresholdedRelu": thresholded_relu}, 1, alpha=1.0)
register_direct({"Shrink": _shrink}, 1, since=9, lambd=0.5, bias=0.0)
register_direct({"HardSigmoid": hard_sigmoid}, 1, alpha=0.2, beta=0.5)


@translator("Clip", since=11)
def clip(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    bounds = [node.get_optional_input(index) for index in (1, 2)]
    if bounds == [None, None]:
        return value
    known = [exact_value(bound) if bound else np.array(limit) for bound, limit in zip(bounds, (-math.inf, math.inf))]
    numbers = [k.item() for k in known if k is not None and k.size == 1]
    if value.element_type.is_real() and len(numbers) == 2 and numbers[0] <= numbers[1]:
        return ops.Clamp(value, *numbers)
    for operation, bound in zip((ops.Maximum, ops.Minimum), bounds):
        if bound is not None:
            value = operation(value, bound).output(0)
    return value


def along_axis_and_later(operation: Callable[[Output, int], Op], value: Output, axis: int) -> Op:
    """Apply the operation to the rows of the value flattened at the axis, as before operator set 13."""
    axis = normalize_axis(axis, rank_of(value))
    if all(dimension == 1 for dimension in value.partial_shape[axis + 1 :]):
        return operation(value, axis)
    return ops.Reshape(operation(flatten(value, axis), 1), ops.ShapeOf(value), False)


def _hardmax(value: Output, axis: int) -> Op:
    """Return 1 at the first largest element along the axis, 0 elsewhere."""
    axis = normalize_axis(axis, rank_of(value))
    best = ops.TopK(value, int64(1), axis, "max", "value", "i64").output(1)
    length = axis_length(value, axis)
    return ops.OneHot(ops.Squeeze(best, int64([axis])), length, scalar_like(value, 1), scalar_like(value, 0), axis)


_ALONG_AXIS: dict[str, Callable[[Output, int], Op]] = {
    "Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax, "Hardmax": _hardmax,
}  # fmt: skip
register_direct(_ALONG_AXIS, 1, since=13, axis=-1)
for _type, _operation in _ALONG_AXIS.items():
    register_direct({_type: partial(along_axis_and_later, _operation)}, 1, axis=1)

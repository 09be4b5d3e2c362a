"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.frontend.activation import prelu_broadcasting
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import flatten, int64, length_of, normalize_axis, rank_of, scalar_like
from hetero.graph import Op, Output
from hetero.ops.values import exact_value

register_direct({"Relu": ops.Relu, "Sigmoid": ops.Sigmoid, "Softplus": ops.SoftPlus, "Softsign": ops.SoftSign}, 1)
register_direct({"HardSwish": ops.HSwish}, 1, since=14)
register_direct({"Mish": ops.Mish}, 1, since=18)
# Like PRelu-1, PRelu takes a slope of rank 1 as one slope for each channel before operator set 7.
register_direct({"PRelu": ops.PRelu}, 2)


@translator("Swish", since=24)
def swish(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Swish(value, scalar_like(value, node.get_attribute("alpha", 1.0)))


@translator("SwiGLU", since=28)
def swiglu(node: OnnxNodeContext) -> Translation:
    return ops.Multiply(swish(node), node.get_input(1))


@translator("Gelu", since=20)
def gelu(node: OnnxNodeContext) -> Translation:
    tanh = node.get_attribute("approximate", "none") == "tanh"
    return ops.Gelu(node.get_input(0), "tanh" if tanh else "erf")


@translator("Elu")
def elu(node: OnnxNodeContext) -> Translation:
    return ops.Elu(node.get_input(0), node.get_attribute("alpha", 1.0))


@translator("Celu", since=12)
def celu(node: OnnxNodeContext) -> Translation:
    # max(0, x) + min(0, a·(exp(x/a) - 1)) is a·elu(x/a), where elu has alpha 1.
    value = node.get_input(0)
    alpha = scalar_like(value, node.get_attribute("alpha", 1.0))
    return ops.Multiply(ops.Elu(ops.Divide(value, alpha), 1.0), alpha)


@translator("Selu")
def selu(node: OnnxNodeContext) -> Translation:
    value, alpha, gamma = node.get_input(0), 1.67326319217681884765625, 1.05070102214813232421875
    if node.get_opset_version() < 6:
        alpha, gamma = 1.6732, 1.0507
    factors = (node.get_attribute("alpha", alpha), node.get_attribute("gamma", gamma))
    return ops.Selu(value, *(scalar_like(value, factor) for factor in factors))


@translator("LeakyRelu")
def leaky_relu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.PRelu(value, scalar_like(value, node.get_attribute("alpha", 0.01)))


@translator("PRelu", since=7)
def prelu(node: OnnxNodeContext) -> Translation:
    return prelu_broadcasting(node.get_input(0), node.get_input(1))


@translator("ThresholdedRelu", since=10)
def thresholded_relu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    above = ops.Greater(value, scalar_like(value, node.get_attribute("alpha", 1.0)))
    return ops.Select(above, value, scalar_like(value, 0))


@translator("Shrink", since=9)
def shrink(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    limit, bias = node.get_attribute("lambd", 0.5), scalar_like(value, node.get_attribute("bias", 0.0))
    below = ops.Select(ops.Less(value, scalar_like(value, -limit)), ops.Add(value, bias), scalar_like(value, 0))
    return ops.Select(ops.Greater(value, scalar_like(value, limit)), ops.Subtract(value, bias), below)


@translator("HardSigmoid")
def hard_sigmoid(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    alpha, beta = node.get_attribute("alpha", 0.2), node.get_attribute("beta", 0.5)
    return ops.HardSigmoid(value, scalar_like(value, alpha), scalar_like(value, beta))


@translator("Clip")
def clip_1(node: OnnxNodeContext) -> Translation:
    return ops.Clamp(node.get_input(0), node.get_attribute("min", -math.inf), node.get_attribute("max", math.inf))


@translator("Clip", since=6)
def clip_6(node: OnnxNodeContext) -> Translation:
    limits = np.finfo(np.float32)
    return ops.Clamp(
        node.get_input(0), node.get_attribute("min", float(limits.min)), node.get_attribute("max", float(limits.max))
    )


@translator("Clip", since=11)
def clip(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    bounds = [node.get_optional_input(index) for index in (1, 2)]
    if bounds == [None, None]:
        return value
    known = [exact_value(bound) if bound else np.array(limit) for bound, limit in zip(bounds, (-math.inf, math.inf))]
    if value.element_type.is_real() and all(k is not None and k.size == 1 for k in known):
        low, high = (k.item() for k in known)
        if low <= high:
            return ops.Clamp(value, low, high)
    for operation, bound in zip((ops.Maximum, ops.Minimum), bounds):
        if bound is not None:
            value = operation(value, bound).output(0)
    return value


def _along_axis(node: OnnxNodeContext, operation: Callable[[Output, int], Op]) -> Translation:
    return operation(node.get_input(0), node.get_attribute("axis", -1))


def _along_axis_and_later(node: OnnxNodeContext, operation: Callable[[Output, int], Op]) -> Translation:
    """Apply the operation to the rows of the value flattened at the axis, as before operator set 13."""
    value = node.get_input(0)
    axis = normalize_axis(node.get_attribute("axis", 1), rank_of(value))
    if all(dimension == 1 for dimension in value.partial_shape[axis + 1 :]):
        return operation(value, axis)
    return ops.Reshape(operation(flatten(value, axis), 1), ops.ShapeOf(value), False)


def _hardmax(value: Output, axis: int) -> Op:
    """Return 1 at the first largest element along the axis, 0 elsewhere."""
    axis = normalize_axis(axis, rank_of(value))
    best = ops.TopK(value, int64(1), axis, "max", "value", "i64").output(1)
    length = length_of(value, axis)
    return ops.OneHot(ops.Squeeze(best, int64([axis])), length, scalar_like(value, 1), scalar_like(value, 0), axis)


for _type, _operation in {"Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax, "Hardmax": _hardmax}.items():
    translator(_type)(lambda node, operation=_operation: _along_axis_and_later(node, operation))
    translator(_type, since=13)(lambda node, operation=_operation: _along_axis(node, operation))

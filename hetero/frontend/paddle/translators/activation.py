"""Activations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.numerics import activation
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import int64, multiply_by, prelu_broadcasting, rank_of, reshape, scalar_like
from hetero.system.errors import FrontendError


@translator("relu6", "brelu")
def clamp(node: PaddleNodeContext) -> ConversionResult:
    if node.get_op_type() == "relu6":
        return ops.Clamp(node.get_input("X"), 0.0, node.get_attribute("threshold", 6.0))
    return ops.Clamp(node.get_input("X"), node.get_attribute("t_min", 0.0), node.get_attribute("t_max", 24.0))


@translator("leaky_relu")
def leaky_relu(node: PaddleNodeContext) -> ConversionResult:
    return activation.leaky_relu(node.get_input("X"), node.get_attribute("alpha", 0.02))


@translator("rrelu")
def randomized_leaky_relu(node: PaddleNodeContext) -> ConversionResult:
    """The slope is random in training, then the mean of its limits."""
    slope = (node.get_attribute("lower", 0.125) + node.get_attribute("upper", 1 / 3)) / 2
    return {"Out": activation.leaky_relu(node.get_input("X"), slope)}


@translator("prelu")
def prelu(node: PaddleNodeContext) -> ConversionResult:
    """One slope, one for each channel, or one for each element of a sample."""
    value, slope, mode = node.get_input("X"), node.get_input("Alpha"), node.get_attribute("mode", "all")
    rank = rank_of(value)
    if mode == "element":
        return prelu_broadcasting(value, reshape(slope, (1, *slope.partial_shape.to_shape()[-(rank - 1) :])))
    is_last = node.get_attribute("data_format", "NCHW") in ("NHWC", "NDHWC", "NLC")
    if mode == "all":
        return ops.PRelu(value, reshape(slope, (-1,)))
    if not is_last:
        return prelu_broadcasting(value, reshape(slope, (1, -1, *[1] * (rank - 2))))
    return prelu_broadcasting(value, reshape(slope, (1,) * (rank - 1) + (-1,)))


@translator("gelu")
def gelu(node: PaddleNodeContext) -> ConversionResult:
    return activation.gelu(node.get_input("X"), node.get_attribute("approximate", False))


@translator("silu", "swish")
def swish(node: PaddleNodeContext) -> ConversionResult:
    return activation.swish(node.get_input("X"), node.get_attribute("beta", 1.0))


@translator("mish")
def mish(node: PaddleNodeContext) -> ConversionResult:
    """x · tanh(softplus(x)), with a softplus that is x above the threshold."""
    value, threshold = node.get_input("X"), node.get_attribute("threshold", 20.0)
    if threshold >= 20:
        return ops.Mish(value)
    return ops.Multiply(value, ops.Tanh(activation.softplus(value, 1.0, threshold)))


@translator("hard_sigmoid")
def hard_sigmoid(node: PaddleNodeContext) -> ConversionResult:
    slope, offset = node.get_attribute("slope", 0.2), node.get_attribute("offset", 0.5)
    return activation.hard_sigmoid(node.get_input("X"), slope, offset)


@translator("hard_swish")
def hard_swish(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    threshold, scale, offset = (
        node.get_attribute(name, default) for name, default in (("threshold", 6.0), ("scale", 6.0), ("offset", 3.0))
    )
    if (threshold, scale, offset) == (6, 6, 3):
        return ops.HSwish(value)
    gate = ops.Clamp(ops.Add(value, scalar_like(value, offset)), 0.0, threshold)
    return multiply_by(ops.Multiply(value, gate), 1 / scale)


@translator("softplus")
def softplus(node: PaddleNodeContext) -> ConversionResult:
    beta, threshold = node.get_attribute("beta", 1.0), node.get_attribute("threshold", 20.0)
    return activation.softplus(node.get_input("X"), beta, threshold)


@translator("elu")
def elu(node: PaddleNodeContext) -> ConversionResult:
    return ops.Elu(node.get_input("X"), node.get_attribute("alpha", 1.0))


@translator("celu")
def celu(node: PaddleNodeContext) -> ConversionResult:
    alpha = node.get_attribute("alpha", 1.0)
    if alpha <= 0:
        raise FrontendError(f"alpha must be positive, but is {alpha}")
    return activation.celu(node.get_input("X"), alpha)


@translator("selu")
def selu(node: PaddleNodeContext) -> ConversionResult:
    alpha, scale = node.get_attribute("alpha", 1.6732632423543772), node.get_attribute("scale", 1.0507009873554805)
    return activation.selu(node.get_input("X"), alpha, scale)


@translator("logsigmoid")
def log_sigmoid(node: PaddleNodeContext) -> ConversionResult:
    return activation.log_sigmoid(node.get_input("X"))


@translator("tanh_shrink")
def tanh_shrink(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    return ops.Subtract(value, ops.Tanh(value))


@translator("softshrink")
def soft_shrink(node: PaddleNodeContext) -> ConversionResult:
    return activation.soft_shrink(node.get_input("X"), node.get_attribute("lambda", 0.5))


@translator("hard_shrink")
def hard_shrink(node: PaddleNodeContext) -> ConversionResult:
    return activation.hard_shrink(node.get_input("X"), node.get_attribute("threshold", 0.5))


@translator("thresholded_relu")
def thresholded_relu(node: PaddleNodeContext) -> ConversionResult:
    limit, other = node.get_attribute("threshold", 1.0), node.get_attribute("value", 0.0)
    return activation.threshold(node.get_input("X"), limit, other)


@translator("stanh")
def scaled_tanh(node: PaddleNodeContext) -> ConversionResult:
    inner = multiply_by(node.get_input("X"), node.get_attribute("scale_a", 0.67))
    return multiply_by(ops.Tanh(inner), node.get_attribute("scale_b", 1.7159))


@translator("softmax", "log_softmax")
def softmax(node: PaddleNodeContext) -> ConversionResult:
    value, axis = node.get_input("X"), node.get_attribute("axis", -1)
    operation = ops.Softmax if node.get_op_type() == "softmax" else ops.LogSoftmax
    if rank_of(value) == 0:
        axes = np.array([0])
        return ops.Squeeze(operation(ops.Unsqueeze(value, axes), 0), axes)
    return operation(value, axis)


@translator("fused_softmax_mask")
def softmax_of_sum(node: PaddleNodeContext) -> ConversionResult:
    return ops.Softmax(ops.Add(node.get_input("X"), node.get_input("Mask")), -1)


@translator("swiglu")
def gated_swish(node: PaddleNodeContext) -> ConversionResult:
    """swish(x) · y; without y, x and y are the halves of the last axis."""
    value = node.get_input("x")
    parts = [value, node.get_input("y")] if node.has_input("y") else ops.Split(value, int64(-1), 2).outputs()
    return ops.Multiply(ops.Swish(parts[0]), parts[1])


@translator("maxout")
def maxout(node: PaddleNodeContext) -> ConversionResult:
    """The largest of each ``groups`` channels that follow each other."""
    value, groups = node.get_input("X"), node.get_attribute("groups")
    rank = rank_of(value)
    axis = node.get_attribute("axis", 1) % rank
    lengths = value.partial_shape
    if lengths[axis].is_dynamic or lengths[axis].get_length() % groups:
        raise FrontendError(f"{lengths[axis]} channels are not groups of {groups}")
    if sum(length.is_dynamic for length in lengths) > 1:
        raise FrontendError("all lengths but one must be known")
    shape = [-1 if length.is_dynamic else length.get_length() for length in lengths]
    parts = reshape(value, (*shape[:axis], shape[axis] // groups, groups, *shape[axis + 1 :]))
    return ops.ReduceMax(parts, np.array([axis + 1]), False)


@translator("dropout")
def dropout(node: PaddleNodeContext) -> ConversionResult:
    """Scale the elements if training does not."""
    value = node.get_input("X")
    if node.get_attribute("dropout_implementation", "downgrade_in_infer") == "upscale_in_train":
        return value
    kept = 1 - (node.known_scalar("p") if node.has_input("p") else node.get_attribute("dropout_prob", 0.5))
    return multiply_by(value, kept)

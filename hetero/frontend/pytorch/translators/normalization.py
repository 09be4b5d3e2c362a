"""Normalizations and softmax."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.normalization import of_scalars_too, scale_and_shift
from hetero.frontend.pytorch.node_context import TorchNodeContext, promoted, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import convert_to, int64, known_length, per_channel, rank_of, scalar_like
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError


@translator("aten::batch_norm", "aten::_native_batch_norm_legit_no_training", "aten::native_batch_norm")
def batch_norm(node: TorchNodeContext) -> Translation:
    if not node.has_input("running_mean"):
        return batch_norm_of_batch(node)
    if node.get_attribute("training", False):
        raise FrontendError("a batch norm in training mode is not supported: export the module after eval()")
    value = _normalized_by_statistics(node)
    # What training would use.
    nothing = Constant(np.zeros(0, value.element_type.to_dtype())).output(0)
    return [value, nothing, nothing][: node.get_output_size()]


def _normalized_by_statistics(node: TorchNodeContext) -> Output:
    """Normalize each channel by the mean and the variance of training, in their element type."""
    data, mean, variance = (node.get_input(name) for name in ("input", "running_mean", "running_var"))
    kind = mean.element_type
    scale, bias = (
        convert_to(node.get_input(name), kind) if node.has_input(name) else
        ops.Broadcast(scalar_like(mean, default), ops.ShapeOf(mean)).output(0)
        for name, default in (("weight", 1), ("bias", 0))
    )  # fmt: skip
    epsilon = node.get_attribute("eps", 1e-5)
    value = ops.BatchNormInference(convert_to(data, kind), scale, bias, mean, variance, epsilon).output(0)
    return convert_to(value, data.element_type)


@translator("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(node: TorchNodeContext) -> Translation:
    """Normalize each channel by its own mean and variance in this batch."""
    data, epsilon = node.get_input("input"), node.get_attribute("eps", 1e-5)
    axes = int64([axis for axis in range(rank_of(data)) if axis != 1])
    value = _scaled_channels(node, ops.MVN(data, axes, True, epsilon, "inside_sqrt").output(0))
    if node.get_output_size() == 1:
        return value
    return [value, *(ops.Squeeze(statistic, axes) for statistic in _mean_and_inverse_deviation(data, axes, epsilon))]


def _scaled_channels(node: TorchNodeContext, value: Output) -> Output:
    """Apply the weight and the bias of each channel, if there are any, in the element type of the data."""
    kind, rank = value.element_type, rank_of(value)
    return scale_and_shift(node, value, ("weight", "bias"), lambda part: per_channel(convert_to(part, kind), rank))


def _mean_and_inverse_deviation(data: Output, axes: Constant, epsilon: float) -> tuple[Node, Node]:
    """Return the mean and 1 / sqrt(variance + epsilon); the axes stay, with length 1."""
    mean = ops.ReduceMean(data, axes, True)
    variance = ops.ReduceMean(ops.SquaredDifference(data, mean), axes, True)
    return mean, ops.Power(ops.Add(variance, scalar_like(data, epsilon)), scalar_like(data, -0.5))


@translator("aten::instance_norm")
def instance_norm(node: TorchNodeContext) -> Translation:
    """Normalize each channel of each image, or with the statistics of training, as a batch norm does."""
    data = node.get_input("input")
    if not node.get_attribute("use_input_stats", True):
        return _normalized_by_statistics(node)
    axes = int64(range(2, rank_of(data)))
    return _scaled_channels(node, ops.MVN(data, axes, True, node.get_attribute("eps"), "inside_sqrt").output(0))


@translator("aten::layer_norm", "aten::native_layer_norm")
def layer_norm(node: TorchNodeContext) -> Translation:
    data = node.get_input("input")
    axes = int64(range(-len(node.get_attribute("normalized_shape")), 0))
    epsilon = node.get_attribute("eps", 1e-5)
    value: Output = ops.MVN(data, axes, True, epsilon, "inside_sqrt").output(0)
    value = scale_and_shift(node, value, ("weight", "bias"))
    return value if node.get_output_size() == 1 else [value, *_mean_and_inverse_deviation(data, axes, epsilon)]


@translator("aten::group_norm", "aten::native_group_norm")
def group_norm(node: TorchNodeContext) -> Translation:
    data = node.get_input("input")
    groups, epsilon = node.get_attribute("num_groups", node.get_attribute("group", 1)), node.get_attribute("eps", 1e-5)
    channels = known_length(data, 1, "the number of channels")
    scale = node.get_optional_input("weight") or ops.Broadcast(scalar_like(data, 1), int64([channels])).output(0)
    bias = node.get_optional_input("bias") or ops.Broadcast(scalar_like(data, 0), int64([channels])).output(0)
    value = ops.GroupNormalization(data, scale, bias, groups, epsilon)
    if node.get_output_size() == 1:
        return value
    by_group = ops.Reshape(data, [0, groups, -1], True).output(0)
    statistics = _mean_and_inverse_deviation(by_group, int64([2]), epsilon)
    return [value, *(ops.Squeeze(statistic, [2]) for statistic in statistics)]


@translator("aten::rms_norm")
def rms_norm(node: TorchNodeContext) -> Translation:
    """x / sqrt(mean(x²) + eps), in f32 or f64, with eps the smallest step from 1 of that type by default."""
    data = node.get_input("input")
    value = convert_to(data, Type.f64 if data.element_type is Type.f64 else Type.f32)
    axes = int64(range(-len(node.get_attribute("normalized_shape")), 0))
    epsilon = node.get_attribute("eps", float(np.finfo(value.element_type.to_dtype()).eps))
    mean = ops.ReduceMean(ops.Multiply(value, value), axes, True)
    normalized = ops.Divide(value, ops.Sqrt(ops.Add(mean, scalar_like(value, epsilon)))).output(0)
    if node.has_input("weight"):
        normalized = ops.Multiply(normalized, convert_to(node.get_input("weight"), value.element_type)).output(0)
    return convert_to(normalized, data.element_type)


def _safe_softmax(value: Output, axis: int) -> Node:
    """Return softmax, with 0 where all elements are negative infinity."""
    is_empty = ops.Equal(ops.ReduceMax(value, [axis], True), scalar_like(value, -np.inf))
    zero = scalar_like(value, 0)
    return ops.Select(is_empty, zero, ops.Softmax(ops.Select(is_empty, zero, value), axis))


rows({
    "aten::softmax": Row(of_scalars_too(ops.Softmax), "self", axis=Attr("dim")),
    "aten::_softmax": Row(of_scalars_too(ops.Softmax), "self", axis=Attr("dim")),
    "aten::log_softmax": Row(of_scalars_too(ops.LogSoftmax), "self", axis=Attr("dim")),
    "aten::_log_softmax": Row(of_scalars_too(ops.LogSoftmax), "self", axis=Attr("dim")),
    "aten::_safe_softmax": Row(_safe_softmax, "self", axis=Attr("dim")),
}, promoted)  # fmt: skip

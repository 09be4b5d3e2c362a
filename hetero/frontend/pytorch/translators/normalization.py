"""Normalizations and softmax."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, per_channel, rank_of, scalar_like
from hetero.graph import Constant, Output


@translator("aten::batch_norm", "aten::_native_batch_norm_legit_no_training", "aten::native_batch_norm")
def batch_norm(node: TorchNodeContext) -> Translation:
    data, mean, variance = (node.get_input(name) for name in ("input", "running_mean", "running_var"))
    if node.get_attribute("training", False):
        raise FrontendError("a batch norm in training mode is not supported: export the module after eval()")
    scale = node.get_optional_input("weight") or ops.Broadcast(scalar_like(data, 1), ops.ShapeOf(mean)).output(0)
    bias = node.get_optional_input("bias") or ops.Broadcast(scalar_like(data, 0), ops.ShapeOf(mean)).output(0)
    value = ops.BatchNormInference(data, scale, bias, mean, variance, node.get_attribute("eps", 1e-5)).output(0)
    # What training would use.
    nothing = Constant(np.zeros(0, data.element_type.to_dtype())).output(0)
    return [value, nothing, nothing] if node.get_output_size() > 1 else value


@translator("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(node: TorchNodeContext) -> Translation:
    """Normalize each channel by its own mean and variance in this batch."""
    data, epsilon = node.get_input("input"), node.get_attribute("eps")
    rank = rank_of(data)
    axes = int64([axis for axis in range(rank) if axis != 1])
    value: Output = ops.MVN(data, axes, True, epsilon, "inside_sqrt").output(0)
    if node.has_input("weight"):
        value = ops.Multiply(value, per_channel(node.get_input("weight"), rank)).output(0)
    if node.has_input("bias"):
        value = ops.Add(value, per_channel(node.get_input("bias"), rank)).output(0)
    mean = ops.ReduceMean(data, axes, True)
    variance = ops.ReduceMean(ops.SquaredDifference(data, mean), axes, False)
    inverse = ops.Power(ops.Add(variance, scalar_like(data, epsilon)), scalar_like(data, -0.5))
    return [value, ops.Squeeze(mean, axes), inverse]


@translator("aten::layer_norm", "aten::native_layer_norm")
def layer_norm(node: TorchNodeContext) -> Translation:
    data = node.get_input("input")
    axes = int64(range(-len(node.get_attribute("normalized_shape")), 0))
    epsilon = node.get_attribute("eps", 1e-5)
    value: Output = ops.MVN(data, axes, True, epsilon, "inside_sqrt").output(0)
    if node.has_input("weight"):
        value = ops.Multiply(value, node.get_input("weight")).output(0)
    if node.has_input("bias"):
        value = ops.Add(value, node.get_input("bias")).output(0)
    if node.get_output_size() == 1:
        return value
    mean = ops.ReduceMean(data, axes, True)
    variance = ops.ReduceMean(ops.SquaredDifference(data, mean), axes, True)
    return [value, mean, ops.Power(ops.Add(variance, scalar_like(data, epsilon)), scalar_like(data, -0.5))]


@translator("aten::group_norm", "aten::native_group_norm")
def group_norm(node: TorchNodeContext) -> Translation:
    data = node.get_input("input")
    groups, epsilon = node.get_attribute("num_groups", node.get_attribute("group", 1)), node.get_attribute("eps", 1e-5)
    channels = data.partial_shape[1].get_length()
    scale = node.get_optional_input("weight") or ops.Broadcast(scalar_like(data, 1), int64([channels])).output(0)
    bias = node.get_optional_input("bias") or ops.Broadcast(scalar_like(data, 0), int64([channels])).output(0)
    value = ops.GroupNormalization(data, scale, bias, groups, epsilon)
    if node.get_output_size() == 1:
        return value
    by_group = ops.Reshape(data, int64([0, groups, -1]), True)
    mean = ops.ReduceMean(by_group, int64([2]), False)
    squares = ops.ReduceMean(ops.Multiply(by_group, by_group), int64([2]), False)
    variance = ops.Subtract(squares, ops.Multiply(mean, mean))
    return [value, mean, ops.Power(ops.Add(variance, scalar_like(data, epsilon)), scalar_like(data, -0.5))]


@translator("aten::softmax", "aten::_softmax", "aten::_safe_softmax", "aten::log_softmax", "aten::_log_softmax")
def softmax(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    operation = ops.LogSoftmax if "log" in node.get_op_type() else ops.Softmax
    if node.get_op_type() == "aten::_safe_softmax":
        return _safe_softmax(value, node.get_attribute("dim"))
    if rank_of(value):
        return operation(value, node.get_attribute("dim"))
    return ops.Reshape(operation(ops.Reshape(value, int64([1]), False), 0), int64([]), False)


def _safe_softmax(value: Output, axis: int) -> Output:
    """Return softmax, with 0 where all elements are negative infinity."""
    largest = ops.ReduceMax(value, int64([axis]), True)
    is_empty = ops.Equal(largest, scalar_like(value, -np.inf))
    zero = scalar_like(value, 0)
    return ops.Select(is_empty, zero, ops.Softmax(ops.Select(is_empty, zero, value), axis)).output(0)

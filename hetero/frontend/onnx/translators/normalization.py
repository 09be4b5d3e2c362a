"""Normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, normalize_axis, per_channel, rank_of, scalar_like
from hetero.graph import Output
from hetero.types import Type


@translator("BatchNormalization")
def old_batch_normalization(node: OnnxNodeContext) -> Translation:
    if not node.get_attribute("spatial", 1):
        return _normalization_of_each_element(node)
    # It is in training where it has more outputs than one: at the end again the new mean and variance.
    if any(map(node.has_output, range(1, node.get_output_size()))):
        return _batch_normalization_in_training(node)
    return _batch_normalization(node)


@translator("BatchNormalization", since=14)
def batch_normalization(node: OnnxNodeContext) -> Translation:
    if not node.get_attribute("training_mode", 0):
        return _batch_normalization(node)
    return _batch_normalization_in_training(node)[:3]


def _batch_normalization(node: OnnxNodeContext) -> Translation:
    return _normalized_by(node, *node.get_inputs())


def _normalized_by(node: OnnxNodeContext, data: Output, *statistics: Output) -> Output:
    """Statistics of another type than the data's are not rounded to that: the data is computed with in f32 or f64."""
    kinds = {value.element_type for value in (data, *statistics)}
    epsilon = node.get_attribute("epsilon", 1e-5)
    if len(kinds) == 1:
        return ops.BatchNormInference(data, *statistics, epsilon).output(0)
    wide = Type.f64 if Type.f64 in kinds else Type.f32
    result = ops.BatchNormInference(*(ops.Convert(value, wide) for value in (data, *statistics)), epsilon)
    return ops.Convert(result, data.element_type).output(0)


def _normalization_of_each_element(node: OnnxNodeContext) -> Translation:
    """The statistics are of each place ``[C, d…]`` on its own."""
    if any(map(node.has_output, range(1, node.get_output_size()))):
        raise FrontendError("batch normalization with spatial=0 is not supported in training")
    data, scale, bias, mean, variance = node.get_inputs()
    deviation = ops.Sqrt(ops.Add(variance, scalar_like(variance, node.get_attribute("epsilon", 1e-5))))
    factor = ops.Divide(scale, deviation)
    return ops.Add(ops.Multiply(data, factor), ops.Subtract(bias, ops.Multiply(mean, factor)))


def _batch_normalization_in_training(node: OnnxNodeContext) -> list[Output]:
    """The result, the running mean and variance brought up to date, and the mean and variance of the data."""
    data, scale, bias, *running = node.get_inputs()
    rank = rank_of(data)
    axes = int64([axis for axis in range(rank) if axis != 1])
    mean = ops.ReduceMean(data, axes, False)
    centred = ops.Subtract(data, per_channel(mean.output(0), rank))
    variance = ops.ReduceMean(ops.Multiply(centred, centred), axes, False)
    result = _normalized_by(node, data, scale, bias, mean.output(0), variance.output(0))
    momentum = node.get_attribute("momentum", 0.9)
    updated = [_moved(old, new.output(0), momentum) for old, new in zip(running, (mean, variance))]
    return [result, *updated, mean.output(0), variance.output(0)]


def _moved(old: Output, new: Output, momentum: float) -> Output:
    """old · momentum + new · (1 - momentum), in the type of the old one."""
    new = ops.Convert(new, old.element_type).output(0)
    kept = ops.Multiply(old, scalar_like(old, momentum))
    return ops.Add(kept, ops.Multiply(new, scalar_like(old, 1 - momentum))).output(0)


@translator("InstanceNormalization")
def instance_normalization(node: OnnxNodeContext) -> Translation:
    data = node.get_input(0)
    rank = rank_of(data)
    whitened = _normalize(data, range(2, rank), _epsilon(node))
    scaled = ops.Multiply(whitened, per_channel(node.get_input(1), rank))
    return ops.Add(scaled, per_channel(node.get_input(2), rank))


# Part of ONNX from operator set 17 on; ONNX Runtime's optimizer writes it into older models too.
@translator("LayerNormalization")
def layer_normalization(node: OnnxNodeContext) -> Translation:
    bias = node.get_optional_input(2)
    return layer_norm(node.get_input(0), _axes_from(node), _epsilon(node), node.get_input(1), bias)


@translator("RMSNormalization", since=23)
def rms_normalization(node: OnnxNodeContext) -> Translation:
    return rms_norm(node.get_input(0), _axes_from(node), _epsilon(node), node.get_input(1))[0]


@translator("GroupNormalization", since=18)
def group_normalization_by_group(node: OnnxNodeContext) -> Translation:
    """Scale and bias are of whole groups; the operation has one for each channel."""
    data, groups = node.get_input(0), node.get_attribute("num_groups")
    channels = ops.Gather(ops.ShapeOf(data), int64([1]), int64(0))
    shape = ops.Concat([int64([groups]), ops.Divide(channels, int64([groups]))], 0)
    vectors = [
        ops.Reshape(ops.Broadcast(ops.Unsqueeze(node.get_input(index), int64([1])), shape), int64([-1]), False)
        for index in (1, 2)
    ]
    return ops.GroupNormalization(data, *vectors, groups, _epsilon(node))


@translator("GroupNormalization", since=21)
def group_normalization(node: OnnxNodeContext) -> Translation:
    return ops.GroupNormalization(*node.get_inputs(), node.get_attribute("num_groups"), _epsilon(node))


@translator("LRN")
def lrn(node: OnnxNodeContext) -> Translation:
    alpha, beta = node.get_attribute("alpha", 1e-4), node.get_attribute("beta", 0.75)
    bias, size = node.get_attribute("bias", 1.0), node.get_attribute("size")
    return ops.LRN(node.get_input(0), int64([1]), alpha, beta, bias, size)


@translator("LpNormalization")
def lp_normalization(node: OnnxNodeContext) -> Translation:
    value, axis, p = node.get_input(0), int64([node.get_attribute("axis", -1)]), node.get_attribute("p", 2)
    if p not in (1, 2):
        raise FrontendError(f"p must be 1 or 2, but is {p}")
    norm = (ops.ReduceL1 if p == 1 else ops.ReduceL2)(value, axis, True)
    # Zeros stay zeros.
    zero = ops.Equal(norm, scalar_like(value, 0))
    return ops.Divide(value, ops.Select(zero, scalar_like(value, 1), norm))


@translator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node: OnnxNodeContext) -> Translation:
    # ONNX's own definition adds 1e-9 to the deviation.
    axes = int64(node.get_attribute("axes", (0, 2, 3)))
    return ops.MVN(node.get_input(0), axes, True, 1e-9, "outside_sqrt")


def _normalize(data: Output, axes: Sequence[int], epsilon: float) -> Output:
    return ops.MVN(data, int64(axes), True, epsilon, "inside_sqrt").output(0)


def layer_norm(value: Output, axes: Sequence[int], epsilon: float, scale: Output, bias: Output | None) -> list[Output]:
    """The normalized value, and in f32 where it is of halves the mean and the inverse of the deviation."""
    result = ops.Multiply(_normalize(value, axes, epsilon), scale)
    result = result if bias is None else ops.Add(result, bias)
    wide = _widened(value)
    mean = ops.ReduceMean(wide, int64(axes), True).output(0)
    centred = ops.Subtract(wide, mean)
    return [result.output(0), mean, _inverse_root_of_mean_square(centred.output(0), axes, epsilon)]


def rms_norm(value: Output, axes: Sequence[int], epsilon: float, scale: Output) -> list[Output]:
    """The value divided by the root of the mean of its squares, times the scale; and the inverse of that root.

    The first has the element type of the scale.
    """
    wide = _widened(value)
    inverse = _inverse_root_of_mean_square(wide, axes, epsilon)
    lengths = [value.partial_shape[axis] for axis in axes]
    if wide is value and value.element_type == scale.element_type and all(length.is_static for length in lengths):
        # The root of a sum is that of the mean times √count, which goes into the scale.
        count = math.prod(length.get_length() for length in lengths)
        result = ops.NormalizeL2(value, int64(axes), epsilon * count, "add").output(0)
        return [ops.Multiply(result, ops.Multiply(scale, scalar_like(scale, math.sqrt(count)))).output(0), inverse]
    result = ops.Multiply(wide, inverse).output(0)
    if result.element_type != scale.element_type:
        result = ops.Convert(result, scale.element_type).output(0)
    return [ops.Multiply(result, scale).output(0), inverse]


def _inverse_root_of_mean_square(value: Output, axes: Sequence[int], epsilon: float) -> Output:
    mean = ops.ReduceMean(ops.Multiply(value, value), int64(axes), True)
    root = ops.Sqrt(ops.Add(mean, scalar_like(value, epsilon)))
    return ops.Divide(scalar_like(value, 1), root).output(0)


def _widened(value: Output) -> Output:
    """Halves as f32."""
    return ops.Convert(value, Type.f32).output(0) if value.element_type in (Type.f16, Type.bf16) else value


def _axes_from(node: OnnxNodeContext) -> range:
    """All axes from that of the attribute on."""
    rank = rank_of(node.get_input(0))
    return range(normalize_axis(node.get_attribute("axis", -1), rank), rank)


def _epsilon(node: OnnxNodeContext) -> float:
    return node.get_attribute("epsilon", 1e-5)

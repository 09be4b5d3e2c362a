"""Normalization."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.translators.common import int64, per_channel, rank_of, scalar_like
from hetero.graph import Output


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
    data, scale, bias, mean, variance = node.get_inputs()
    return ops.BatchNormInference(data, scale, bias, mean, variance, node.get_attribute("epsilon", 1e-5))


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
    rank, epsilon = rank_of(data), node.get_attribute("epsilon", 1e-5)
    axes = int64([axis for axis in range(rank) if axis != 1])
    mean = ops.ReduceMean(data, axes, False)
    centred = ops.Subtract(data, per_channel(mean.output(0), rank))
    variance = ops.ReduceMean(ops.Multiply(centred, centred), axes, False)
    result = ops.BatchNormInference(data, scale, bias, mean, variance, epsilon)
    momentum = node.get_attribute("momentum", 0.9)
    updated = [_moved(old, new.output(0), momentum) for old, new in zip(running, (mean, variance))]
    return [result.output(0), *updated, mean.output(0), variance.output(0)]


def _moved(old: Output, new: Output, momentum: float) -> Output:
    """old · momentum + new · (1 - momentum), in the type of the old one."""
    new = ops.Convert(new, old.element_type).output(0)
    kept = ops.Multiply(old, scalar_like(old, momentum))
    return ops.Add(kept, ops.Multiply(new, scalar_like(old, 1 - momentum))).output(0)


@translator("InstanceNormalization")
def instance_normalization(node: OnnxNodeContext) -> Translation:
    data = node.get_input(0)
    rank = rank_of(data)
    normalized = _normalize(data, range(2, rank), node.get_attribute("epsilon", 1e-5))
    scaled = ops.Multiply(normalized, per_channel(node.get_input(1), rank))
    return ops.Add(scaled, per_channel(node.get_input(2), rank))


# Part of ONNX from operator set 17 on; ONNX Runtime's optimizer writes it into older models too.
@translator("LayerNormalization")
def layer_normalization(node: OnnxNodeContext) -> Translation:
    data, axis = node.get_input(0), node.get_attribute("axis", -1)
    rank = rank_of(data)
    axes = range(axis % rank if rank else 0, rank)
    result = ops.Multiply(_normalize(data, axes, node.get_attribute("epsilon", 1e-5)), node.get_input(1))
    return [(ops.Add(result, node.get_input(2)) if node.has_input(2) else result).output(0)]


@translator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node: OnnxNodeContext) -> Translation:
    # ONNX's own definition adds 1e-9 to the deviation.
    axes = int64(node.get_attribute("axes", (0, 2, 3)))
    return ops.MVN(node.get_input(0), axes, True, 1e-9, "outside_sqrt")


def _normalize(data: Output, axes: range, epsilon: float) -> Output:
    return ops.MVN(data, int64(axes), True, epsilon, "inside_sqrt").output(0)

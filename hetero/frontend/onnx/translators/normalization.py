"""Batch, layer, instance, group, RMS, local response and Lp normalization, and classification losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, OptionalInput, Row, Translation
from hetero.frontend.translation.values import (
    axis_length,
    int64,
    multiply_by,
    normalize_axis,
    per_channel,
    rank_of,
    scalar_like,
)
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


@translator("BatchNormalization")
def batch_normalization_1(node: OnnxNodeContext) -> Translation:
    # Before operator set 14, training mode is recognized by additional outputs.
    is_training = any(map(node.has_output, range(1, node.get_output_size())))
    if not node.get_attribute("spatial", 1):
        if is_training:
            raise FrontendError("batch normalization with spatial=0 is not supported in training mode")
        return _normalize_elements(node)
    return _normalize_training_batch(node) if is_training else _normalize_batch(node, *node.get_inputs())


@translator("BatchNormalization", since=14)
def batch_normalization(node: OnnxNodeContext) -> Translation:
    if not node.get_attribute("training_mode", 0):
        return _normalize_batch(node, *node.get_inputs())
    return _normalize_training_batch(node)[:3]


def _normalize_batch(node: OnnxNodeContext, data: Output, *parameters: Output) -> Output:
    """Normalize the data by scale, bias, mean and variance.

    If these have another element type than the data, all is computed in f32 or f64, so that they are not rounded.
    """
    types = {value.element_type for value in (data, *parameters)}
    if len(types) == 1:
        return ops.BatchNormInference(data, *parameters, _epsilon(node)).output(0)
    wide = Type.f64 if Type.f64 in types else Type.f32
    result = ops.BatchNormInference(*(ops.Convert(value, wide) for value in (data, *parameters)), _epsilon(node))
    return ops.Convert(result, data.element_type).output(0)


def _normalize_elements(node: OnnxNodeContext) -> Translation:
    """Normalize with separate statistics for each element ``[C, d…]``."""
    data, scale, bias, mean, variance = node.get_inputs()
    deviation = ops.Sqrt(ops.Add(variance, scalar_like(variance, _epsilon(node))))
    factor = ops.Divide(scale, deviation)
    return ops.Add(ops.Multiply(data, factor), ops.Subtract(bias, ops.Multiply(mean, factor)))


def _normalize_training_batch(node: OnnxNodeContext) -> list[Output]:
    """Return the result, the updated running mean and variance, and the mean and variance of the data."""
    data, scale, bias, *running = node.get_inputs()
    rank = rank_of(data)
    axes = int64([axis for axis in range(rank) if axis != 1])
    mean = ops.ReduceMean(data, axes, False)
    centered = ops.Subtract(data, per_channel(mean.output(0), rank))
    variance = ops.ReduceMean(ops.Multiply(centered, centered), axes, False)
    result = _normalize_batch(node, data, scale, bias, mean.output(0), variance.output(0))
    momentum = node.get_attribute("momentum", 0.9)
    updated = [_running_average(old, new.output(0), momentum) for old, new in zip(running, (mean, variance))]
    return [result, *updated, mean.output(0), variance.output(0)]


def _running_average(old: Output, new: Output, momentum: float) -> Output:
    """Return old · momentum + new · (1 - momentum) in the element type of ``old``."""
    new = ops.Convert(new, old.element_type).output(0)
    return ops.Add(multiply_by(old, momentum), multiply_by(new, 1 - momentum)).output(0)


@translator("InstanceNormalization")
def instance_normalization(node: OnnxNodeContext) -> Translation:
    data = node.get_input(0)
    rank = rank_of(data)
    scaled = ops.Multiply(_normalize(data, range(2, rank), _epsilon(node)), per_channel(node.get_input(1), rank))
    return ops.Add(scaled, per_channel(node.get_input(2), rank))


# In ONNX since operator set 17, but ONNX Runtime's optimizer writes it into older models too.
rows(
    {
        "LayerNormalization": lambda node: layer_norm(
            node.get_input(0), _axes_from(node), _epsilon(node), node.get_input(1), node.get_optional_input(2)
        ),
    }
)


# ONNX Runtime writes SimplifiedLayerNormalization into ONNX's own domain.
@translator("RMSNormalization", since=23)
@translator("SimplifiedLayerNormalization")
def rms_normalization(node: OnnxNodeContext) -> Translation:
    return rms_norm(node.get_input(0), _axes_from(node), _epsilon(node), node.get_input(1))


@translator("GroupNormalization", since=18)
def group_normalization_18(node: OnnxNodeContext) -> Translation:
    """Before operator set 21 scale and bias have one number per group, but the operation needs one per channel."""
    data, groups = node.get_input(0), node.get_attribute("num_groups")
    shape = ops.Concat([int64([groups]), ops.Divide(axis_length(data, [1]), int64([groups]))], 0)
    vectors = [
        ops.Reshape(ops.Broadcast(ops.Unsqueeze(node.get_input(index), int64([1])), shape), int64([-1]), False)
        for index in (1, 2)
    ]
    return ops.GroupNormalization(data, *vectors, groups, _epsilon(node))


rows({
    "GroupNormalization": Row(
        ops.GroupNormalization, since=21, num_groups=Attr("num_groups"), epsilon=Attr("epsilon", 1e-5)
    ),
    "LRN": Row(
        lambda value, **attributes: ops.LRN(value, int64([1]), **attributes),
        alpha=Attr("alpha", 1e-4), beta=Attr("beta", 0.75), bias=Attr("bias", 1.0), size=Attr("size"),
    ),
    # The ONNX function of this operator adds 1e-9 to the deviation.
    "MeanVarianceNormalization": Row(
        lambda value, axes: ops.MVN(value, int64(axes), True, 1e-9, "outside_sqrt"),
        since=9, axes=Attr("axes", (0, 2, 3)),
    ),
})  # fmt: skip


@translator("LpNormalization")
def lp_normalization(node: OnnxNodeContext) -> Translation:
    value, axis, p = node.get_input(0), int64([node.get_attribute("axis", -1)]), node.get_attribute("p", 2)
    if p not in (1, 2):
        raise FrontendError(f"p must be 1 or 2, but is {p}")
    return divide_by_norm(value, (ops.ReduceL1 if p == 1 else ops.ReduceL2)(value, axis, True))


def divide_by_norm(value: Output, norm: Op) -> Op:
    """Return value / norm, and the unchanged value if the norm is 0."""
    is_zero = ops.Equal(norm, scalar_like(value, 0))
    return ops.Divide(value, ops.Select(is_zero, scalar_like(value, 1), norm))


@translator("MeanVarianceNormalization")
def mean_variance_normalization_1(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    # Over the batch axis too, like the default of version 9.
    axes = (0, *range(1 if node.get_attribute("across_channels", 0) else 2, rank_of(value)))
    return ops.MVN(value, int64(axes), bool(node.get_attribute("normalize_variance", 1)), 1e-9, "outside_sqrt")


def _normalize(data: Output, axes: Sequence[int], epsilon: float) -> Output:
    return ops.MVN(data, int64(axes), True, epsilon, "inside_sqrt").output(0)


def layer_norm(value: Output, axes: Sequence[int], epsilon: float, scale: Output, bias: Output | None) -> list[Output]:
    """Return the normalized value, the mean and the inverse deviation; the latter two are f32 for f16 and bf16."""
    result: Op = ops.Multiply(_normalize(value, axes, epsilon), scale)
    result = result if bias is None else ops.Add(result, bias)
    wide = _widen(value)
    mean = ops.ReduceMean(wide, int64(axes), True).output(0)
    centered = ops.Subtract(wide, mean)
    return [result.output(0), mean, _inverse_rms(centered.output(0), axes, epsilon)]


def rms_norm(value: Output, axes: Sequence[int], epsilon: float, scale: Output) -> list[Output]:
    """Return value / RMS(value) · scale, in the element type of the scale, and 1 / RMS(value)."""
    wide = _widen(value)
    inverse = _inverse_rms(wide, axes, epsilon)
    lengths = [value.partial_shape[axis] for axis in axes]
    if wide is value and value.element_type == scale.element_type and all(length.is_static for length in lengths):
        # NormalizeL2 divides by the root of the sum, which is RMS · √count; the scale gets the factor √count.
        count = math.prod(length.get_length() for length in lengths)
        result = ops.NormalizeL2(value, int64(axes), epsilon * count, "add").output(0)
        return [ops.Multiply(result, multiply_by(scale, math.sqrt(count))).output(0), inverse]
    result = ops.Multiply(wide, inverse).output(0)
    if result.element_type != scale.element_type:
        result = ops.Convert(result, scale.element_type).output(0)
    return [ops.Multiply(result, scale).output(0), inverse]


def _inverse_rms(value: Output, axes: Sequence[int], epsilon: float) -> Output:
    """Return 1 / √(mean(value²) + epsilon)."""
    mean = ops.ReduceMean(ops.Multiply(value, value), int64(axes), True)
    root = ops.Sqrt(ops.Add(mean, scalar_like(value, epsilon)))
    return ops.Divide(scalar_like(value, 1), root).output(0)


def _widen(value: Output) -> Output:
    """Convert f16 and bf16 to f32."""
    return ops.Convert(value, Type.f32).output(0) if value.element_type in (Type.f16, Type.bf16) else value


def _axes_from(node: OnnxNodeContext) -> range:
    """Return the axis of the attribute and all later axes."""
    rank = rank_of(node.get_input(0))
    return range(normalize_axis(node.get_attribute("axis", -1), rank), rank)


def _epsilon(node: OnnxNodeContext) -> float:
    return node.get_attribute("epsilon", 1e-5)


def _cross_entropy(scores: Output, *arguments: Any, **attributes: Any) -> list[Output]:
    log_probabilities = ops.LogSoftmax(scores, 1).output(0)
    return [_loss(log_probabilities, *arguments, **attributes), log_probabilities]


def _loss(
    log_probabilities: Output, classes: Output, class_weights: Output | None, ignored: int | None, reduction: str
) -> Output:
    """Return the negative log probabilities ``[N, C, d…]`` of the target classes ``[N, d…]``, weighted and reduced."""
    valid = None
    if ignored is not None:
        valid = ops.NotEqual(classes, scalar_like(classes, ignored))
        classes = ops.Select(valid, classes, scalar_like(classes, 0)).output(0)  # ignore_index may be out of range
    loss = ops.Negative(_select_classes(log_probabilities, classes)).output(0)
    weights = None
    if class_weights is not None:
        weights = ops.Gather(class_weights, classes, int64(0)).output(0)
        if valid is not None:
            weights = ops.Select(valid, weights, scalar_like(weights, 0)).output(0)
    elif valid is not None:
        weights = ops.Convert(valid, log_probabilities.element_type).output(0)
    if weights is not None:
        # Select, because the loss of an ignored element may be infinite, and infinity times 0 is NaN.
        weighted = ops.Multiply(loss, weights)
        loss = (weighted if valid is None else ops.Select(valid, weighted, scalar_like(loss, 0))).output(0)
    return _reduce(loss, weights, reduction)


def _select_classes(log_probabilities: Output, classes: Output) -> Output:
    """Return the elements ``[N, d…]`` of ``[N, C, d…]`` at the classes."""
    indices = ops.Unsqueeze(classes, int64([1]))
    return ops.Squeeze(ops.GatherElements(log_probabilities, indices, 1), int64([1])).output(0)


def _reduce(loss: Output, weights: Output | None, reduction: str) -> Output:
    if reduction == "none":
        return loss
    if reduction not in ("sum", "mean"):
        raise FrontendError(f"reduction must be none, sum or mean, but is {reduction}")
    axes = int64(range(rank_of(loss)))
    if reduction == "mean" and weights is None:
        return ops.ReduceMean(loss, axes, False).output(0)
    total = ops.ReduceSum(loss, axes, False)
    return (total if reduction == "sum" else ops.Divide(total, ops.ReduceSum(weights, axes, False))).output(0)


_LOSS: dict[str, Any] = {"ignored": Attr("ignore_index", None), "reduction": Attr("reduction", "mean")}
rows({
    "NegativeLogLikelihoodLoss": Row(_loss, 0, 1, OptionalInput(2), since=12, **_LOSS),
    "SoftmaxCrossEntropyLoss": Row(_cross_entropy, 0, 1, OptionalInput(2), since=12, **_LOSS),
})  # fmt: skip

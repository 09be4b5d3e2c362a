"""Normalization."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.frontend.numerics.normalization import scale_and_shift
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.paddle.translators.convolution import channels_moved, is_channels_last
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import (
    axis_length,
    channels_last,
    channels_second,
    int64,
    per_channel,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError


@translator("batch_norm", "sync_batch_norm")
def batch_norm(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    if not node.get_attribute("is_test", False) and not node.get_attribute("use_global_stats", False):
        raise FrontendError("batch normalization in training mode is not supported: save the model after eval()")
    is_last = is_channels_last(node) and rank_of(value) > 2
    value = channels_second(value) if is_last else value
    mean, variance = node.get_input("Mean"), node.get_input("Variance")
    scale, bias = (
        node.get_input(name) if node.has_input(name) else _filled(mean, number)
        for name, number in (("Scale", 1), ("Bias", 0))
    )
    epsilon = node.get_attribute("epsilon", 1e-5)
    result = ops.BatchNormInference(value, scale, bias, mean, variance, epsilon).output(0)
    return {"Y": channels_last(result) if is_last else result}


def _filled(like: Output, number: float) -> Output:
    return Constant(np.full(like.partial_shape.to_shape(), number, like.element_type.to_dtype())).output(0)


rows(
    {
        # The axes from ``begin_norm_axis`` on are normalized. Scale and bias are vectors of all their elements.
        "layer_norm": lambda node: {"Y": _layer_norm(node, node.get_input("X"))},
        "skip_layernorm": lambda node: _layer_norm(node, ops.Add(node.get_input("X"), node.get_input("Y")).output(0)),
    }
)


def _layer_norm(node: PaddleNodeContext, value: Output) -> Output:
    rank = rank_of(value)
    first = node.get_attribute("begin_norm_axis", 1) % rank
    axes, epsilon = int64(range(first, rank)), node.get_attribute("epsilon", 1e-5)
    normalized = ops.MVN(value, axes, True, epsilon, "inside_sqrt").output(0)
    return scale_and_shift(node, normalized, ("Scale", "Bias"), lambda part: _over_axes(part, value, first))


def _over_axes(parameter: Output, value: Output, first: int) -> Output:
    """Return a vector in the shape of the last axes."""
    if rank_of(value) - first == 1:
        return parameter
    return ops.Reshape(parameter, axis_length(value, range(first, rank_of(value))), False).output(0)


@translator("rms_norm")
def rms_norm(node: PaddleNodeContext) -> ConversionResult:
    value, scale = node.get_input("x"), node.get_optional_input("scale")
    count = len(node.get_attribute("normalized_shape", [1]))
    axes = int64(range(-count, 0))
    mean = ops.ReduceMean(ops.Multiply(value, value), axes, True)
    root = ops.Sqrt(ops.Add(mean, scalar_like(value, node.get_attribute("epsilon", 1e-5))))
    result: Node = ops.Divide(value, root)
    return {"y": result if scale is None else ops.Multiply(result, scale)}


@translator("instance_norm")
def instance_norm(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    rank = rank_of(value)
    axes, epsilon = int64(range(2, rank)), node.get_attribute("epsilon", 1e-5)
    result = ops.MVN(value, axes, True, epsilon, "inside_sqrt").output(0)
    return {"Y": scale_and_shift(node, result, ("Scale", "Bias"), lambda part: per_channel(part, rank))}


@translator("group_norm")
def group_norm(node: PaddleNodeContext) -> ConversionResult:
    value, restored = channels_moved(node, node.get_input("X"))
    channels = value.partial_shape[1].get_length()
    scale, bias = (
        node.get_input(name) if node.has_input(name)
        else Constant(np.full(channels, number, value.element_type.to_dtype())).output(0)
        for name, number in (("Scale", 1), ("Bias", 0))
    )  # fmt: skip
    groups, epsilon = node.get_attribute("groups", 1), node.get_attribute("epsilon", 1e-5)
    return {"Y": restored(ops.GroupNormalization(value, scale, bias, groups, epsilon).output(0))}


@translator("lrn")
def local_response(node: PaddleNodeContext) -> ConversionResult:
    """Divide by a power of k plus alpha times the sum of squares of ``n`` channels around."""
    (value, restored), size = channels_moved(node, node.get_input("X")), node.get_attribute("n", 5)
    alpha, beta, k = (
        node.get_attribute(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("k", 2.0))
    )
    return {"Out": restored(ops.LRN(value, int64([1]), alpha * size, beta, k, size).output(0))}


@translator("label_smooth")
def label_smooth(node: PaddleNodeContext) -> ConversionResult:
    value, epsilon = node.get_input("X"), node.get_attribute("epsilon", 0.0)
    length = value.partial_shape[-1].get_length()
    if not length or not math.isfinite(epsilon):
        raise FrontendError("there are no labels")
    prior = node.get_input("PriorDist") if node.has_input("PriorDist") else scalar_like(value, 1 / length).output(0)
    kept = ops.Multiply(value, scalar_like(value, 1 - epsilon))
    return ops.Add(kept, ops.Multiply(prior, scalar_like(value, epsilon)))

"""Normalizations in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.reduction import axes_of
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.Softmax, ops.SoftmaxV1)
@in_single
def softmax(node, x):
    if x.size == 0:
        return x
    result = np.exp(x - x.max(axis=node.axis, keepdims=True))  # less the largest, so that nothing overflows
    result /= result.sum(axis=node.axis, keepdims=True)
    return result


@evaluates(ops.LogSoftmax)
@in_single
def log_softmax(node, x):
    if x.size == 0:
        return x
    shifted = x - x.max(axis=node.axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=node.axis, keepdims=True))


@evaluates(ops.BatchNormInference)
@in_single
def batch_norm_inference(node, x, gamma, beta, mean, variance):
    channels = (-1, *[1] * (x.ndim - 2))
    scale = gamma / np.sqrt(variance + x.dtype.type(node.epsilon))
    return x * scale.reshape(channels) + (beta - mean * scale).reshape(channels)


@evaluates(ops.BatchNormInferenceV1)
def batch_norm_inference_v1(node, gamma, beta, x, mean, variance):
    return batch_norm_inference(node, x, gamma, beta, mean, variance)


@evaluates(ops.MVN)
@in_single
def mvn(node, x, axes):
    return _mvn(node, x, axes_of(axes, x.ndim))


@evaluates(ops.MVNV2)
@in_single
def mvn_v2(node, x):
    axes = node.reduction_axes
    return _mvn(node, x, tuple(range(1 if node.across_channels else 2, x.ndim)) if axes is None else axes)


def _mvn(node, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    centred = x - x.mean(axis=axes, keepdims=True)
    if not node.normalize_variance:
        return centred
    variance, epsilon = np.square(centred).mean(axis=axes, keepdims=True), x.dtype.type(node.eps)
    if node.eps_mode == "inside_sqrt":
        return centred / np.sqrt(variance + epsilon)
    return centred / (np.sqrt(variance) + epsilon)

"""Normalizations in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.reduction import axes_of
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.Softmax)
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


@evaluates(ops.MVN)
@in_single
def mvn(node, x, axes):
    axes = axes_of(axes, x.ndim)
    centred = x - x.mean(axis=axes, keepdims=True)
    if not node.normalize_variance:
        return centred
    variance, epsilon = np.square(centred).mean(axis=axes, keepdims=True), x.dtype.type(node.eps)
    if node.eps_mode == "inside_sqrt":
        return centred / np.sqrt(variance + epsilon)
    return centred / (np.sqrt(variance) + epsilon)

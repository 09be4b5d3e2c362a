"""Softmax and normalizations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.reduction import axes_of
from hetero.reference.registry import compute_in_f32, evaluates


@evaluates(ops.Softmax, ops.SoftmaxV1)
@compute_in_f32
def softmax(node, x):
    if x.size == 0:
        return x
    result = x - x.max(axis=node.axis, keepdims=True)  # prevents overflow
    np.exp(result, out=result)
    result /= result.sum(axis=node.axis, keepdims=True)
    return result


@evaluates(ops.LogSoftmax)
@compute_in_f32
def log_softmax(node, x):
    if x.size == 0:
        return x
    shifted = x - x.max(axis=node.axis, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=node.axis, keepdims=True))
    return shifted


@evaluates(ops.BatchNormInference)
@compute_in_f32
def batch_norm_inference(node, x, gamma, beta, mean, variance):
    channels = (-1, *[1] * (x.ndim - 2))
    scale = gamma / np.sqrt(variance + x.dtype.type(node.epsilon))
    result = x * scale.reshape(channels)
    result += (beta - mean * scale).reshape(channels)
    return result


@evaluates(ops.BatchNormInferenceV1)
def batch_norm_inference_v1(node, gamma, beta, x, mean, variance):
    return batch_norm_inference(node, x, gamma, beta, mean, variance)


@evaluates(ops.MVN)
@compute_in_f32
def mvn(node, x, axes):
    return _mvn(node, x, axes_of(axes, x.ndim))


@evaluates(ops.MVNV2)
@compute_in_f32
def mvn_v2(node, x):
    axes = node.reduction_axes
    return _mvn(node, x, tuple(range(1 if node.across_channels else 2, x.ndim)) if axes is None else axes).reshape(
        x.shape
    )


def _mvn(node, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    shape, first = x.shape, x.ndim - len(axes)
    if x.size and sorted(axis % x.ndim for axis in axes) == list(range(first, x.ndim)):
        # Trailing axes are flattened into one, for which the mean of squares needs no temporary array.
        x, axes = x.reshape(*shape[:first], -1), (-1,)
    centered = x - x.mean(axis=axes, keepdims=True)
    if node.normalize_variance:
        variance = _mean_of_squares(centered) if axes == (-1,) else np.square(centered).mean(axis=axes, keepdims=True)
        epsilon = x.dtype.type(node.eps)
        centered /= np.sqrt(variance + epsilon) if node.eps_mode == "inside_sqrt" else np.sqrt(variance) + epsilon
    return centered.reshape(shape)


def _mean_of_squares(x: np.ndarray) -> np.ndarray:
    """Return the mean of squares over the last axis, which is kept with length 1."""
    return np.vecdot(x, x)[..., None] / x.dtype.type(x.shape[-1])


@evaluates(ops.GroupNormalization)
@compute_in_f32
def group_normalization(node, x, scale, bias):
    if x.size == 0:
        return x
    groups = x.reshape(x.shape[0], node.num_groups, -1)
    centered = groups - groups.mean(axis=2, keepdims=True)
    centered /= np.sqrt(_mean_of_squares(centered) + x.dtype.type(node.epsilon))
    channels = (-1, *[1] * (x.ndim - 2))
    result = centered.reshape(x.shape)
    result *= scale.reshape(channels)
    result += bias.reshape(channels)
    return result


@evaluates(ops.LRN)
@compute_in_f32
def lrn(node, x, axes):
    sums, axes = np.square(x), axes_of(axes, x.ndim)
    for axis in axes:
        sums = _window_sums(sums, axis, node.size)
    sums *= x.dtype.type(node.alpha / node.size ** len(axes))
    sums += x.dtype.type(node.bias)
    np.power(sums, x.dtype.type(node.beta), out=sums)
    return np.divide(x, sums, out=sums)


def _window_sums(x: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Return the sum of each element, the (size - 1) // 2 elements before it and the size // 2 elements after it."""
    x, length = x.swapaxes(0, axis), x.shape[axis]
    sums = x.copy()
    for distance in range(1, min((size - 1) // 2, length - 1) + 1):
        sums[distance:] += x[:-distance]
    for distance in range(1, min(size // 2, length - 1) + 1):
        sums[:-distance] += x[distance:]
    return sums.swapaxes(0, axis)


@evaluates(ops.NormalizeL2)
@compute_in_f32
def normalize_l2(node, x, axes):
    axes, eps = axes_of(axes, x.ndim), x.dtype.type(node.eps)
    along_last = axes == (x.ndim - 1,)
    sums = np.vecdot(x, x)[..., None] if along_last else np.square(x).sum(axis=axes, keepdims=True)
    return x / np.sqrt(sums + eps if node.eps_mode == "add" else np.maximum(sums, eps))


@evaluates(ops.GRN)
@compute_in_f32
def grn(node, x):
    return x / np.sqrt(np.square(x).sum(axis=1, keepdims=True) + x.dtype.type(node.bias))

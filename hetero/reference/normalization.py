"""Softmax and normalizations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.reduction import axes_of
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Softmax, ops.SoftmaxV1, in_f32=True)
def softmax(node: ops.Softmax | ops.SoftmaxV1, x: Array) -> Array:
    if x.size == 0:
        return x
    result = x - x.max(axis=node.axis, keepdims=True)  # prevents overflow
    np.exp(result, out=result)
    result /= result.sum(axis=node.axis, keepdims=True)
    return result


@evaluates(ops.LogSoftmax, in_f32=True)
def log_softmax(node: ops.LogSoftmax, x: Array) -> Array:
    if x.size == 0:
        return x
    shifted = x - x.max(axis=node.axis, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=node.axis, keepdims=True))
    return shifted


@evaluates(ops.BatchNormInference, in_f32=True)
def batch_norm_inference(
    node: ops.BatchNormInference | ops.BatchNormInferenceV1, x: Array, gamma: Array, beta: Array, *moments: Array
) -> Array:
    mean, variance = moments
    channels = (-1, *[1] * (x.ndim - 2))
    scale = gamma / np.sqrt(variance + x.dtype.type(node.epsilon))
    result = x * scale.reshape(channels)
    result += (beta - mean * scale).reshape(channels)
    return result


@evaluates(ops.BatchNormInferenceV1, in_f32=True)
def batch_norm_v1(node: ops.BatchNormInferenceV1, gamma: Array, beta: Array, x: Array, *moments: Array) -> Array:
    return batch_norm_inference(node, x, gamma, beta, *moments)


@evaluates(ops.MVN, in_f32=True)
def mvn(node: ops.MVN, x: Array, axes: Array) -> Array:
    return _mvn(node, x, axes_of(axes, x.ndim))


@evaluates(ops.MVNV2, in_f32=True)
def mvn_v2(node: ops.MVNV2, x: Array) -> Array:
    axes = node.reduction_axes
    return _mvn(node, x, tuple(range(1 if node.across_channels else 2, x.ndim)) if axes is None else axes)


def _mvn(node: ops.MVN | ops.MVNV2, x: Array, axes: tuple[int, ...]) -> Array:
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


def _mean_of_squares(x: Array) -> Array:
    """Return the mean of squares over the last axis, which is kept with length 1."""
    return np.vecdot(x, x)[..., None] / x.dtype.type(x.shape[-1])


@evaluates(ops.GroupNormalization, in_f32=True)
def group_normalization(node: ops.GroupNormalization, x: Array, scale: Array, bias: Array) -> Array:
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


@evaluates(ops.LRN, in_f32=True)
def lrn(node: ops.LRN, x: Array, axes: Array) -> Array:
    sums, normalized = np.square(x), axes_of(axes, x.ndim)
    for axis in normalized:
        sums = _window_sums(sums, axis, node.size)
    sums *= x.dtype.type(node.alpha / node.size ** len(normalized))
    sums += x.dtype.type(node.bias)
    np.power(sums, x.dtype.type(node.beta), out=sums)
    return np.divide(x, sums, out=sums)


def _window_sums(x: Array, axis: int, size: int) -> Array:
    """Return the sum of each element, the (size - 1) // 2 elements before it and the size // 2 elements after it."""
    x, length = x.swapaxes(0, axis), x.shape[axis]
    sums = x.copy()
    for distance in range(1, min((size - 1) // 2, length - 1) + 1):
        sums[distance:] += x[:-distance]
    for distance in range(1, min(size // 2, length - 1) + 1):
        sums[:-distance] += x[distance:]
    return sums.swapaxes(0, axis)


@evaluates(ops.NormalizeL2, in_f32=True)
def normalize_l2(node: ops.NormalizeL2, x: Array, axes: Array) -> Array:
    reduced, eps = axes_of(axes, x.ndim), x.dtype.type(node.eps)
    along_last = reduced == (x.ndim - 1,)
    sums = np.vecdot(x, x)[..., None] if along_last else np.square(x).sum(axis=reduced, keepdims=True)
    return x / np.sqrt(sums + eps if node.eps_mode == "add" else np.maximum(sums, eps))


@evaluates(ops.GRN, in_f32=True)
def grn(node: ops.GRN, x: Array) -> Array:
    return x / np.sqrt(np.square(x).sum(axis=1, keepdims=True) + x.dtype.type(node.bias))

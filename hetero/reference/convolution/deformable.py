"""Deformable convolution: im2col with bilinear sampling, then gemm, one image after the other."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.reference.images.bilinear import bilinear
from hetero.reference.registry import Array, evaluates

_Deformable = ops.DeformableConvolution | ops.DeformableConvolutionV1


@evaluates(ops.DeformableConvolution, ops.DeformableConvolutionV1, in_f32=True)
def deformable_convolution(node: _Deformable, data: Array, offsets: Array, filters: Array, *mask: Array) -> Array:
    points = _sampling_points(node, data, offsets, filters)
    outputs, channels, *kernel = filters.shape
    positions = offsets.shape[2:]
    weights = filters.reshape(node.group, outputs // node.group, channels * math.prod(kernel))
    result = np.empty((len(data), node.group, outputs // node.group, math.prod(positions)), data.dtype)
    for number, target in enumerate(result):
        groups = zip(np.split(data[number], node.deformable_group), points[number])
        columns = np.stack([_samples(node, image, *coordinates) for image, coordinates in groups])
        if mask:
            columns *= mask[0][number].reshape(node.deformable_group, 1, math.prod(kernel), *positions)
        np.matmul(weights, columns.reshape(node.group, weights.shape[2], math.prod(positions)), out=target)
    return result.reshape(len(data), outputs, *positions)


def _sampling_points(node: _Deformable, data: Array, offsets: Array, filters: Array) -> Array:
    """Return y and x of the sample for each filter element: ``[N, deformable groups, 2, kernel, positions…]``."""
    kernel, positions = filters.shape[2:], offsets.shape[2:]
    begin, _ = node.resolve_pads(data.shape[2:], kernel)
    shifts = offsets.reshape(len(data), node.deformable_group, *kernel, 2, *positions)
    base_y, base_x = (
        (np.arange(size, dtype=offsets.dtype) * dilation - pad)[:, None]
        + np.arange(count, dtype=offsets.dtype) * stride
        for size, count, stride, dilation, pad in zip(kernel, positions, node.strides, node.dilations, begin)
    )  # [elements, positions] for each axis
    y = shifts[:, :, :, :, 0] + base_y[:, None, :, None]
    x = shifts[:, :, :, :, 1] + base_x[:, None, :]
    return np.stack([y, x], 2).reshape(len(data), node.deformable_group, 2, math.prod(kernel), *positions)


def _samples(node: _Deformable, image: Array, y: Array, x: Array) -> Array:
    """Return samples of an image ``[C, H, W]`` at points, 0 outside of it."""
    height, width = image.shape[1:]
    if node.bilinear_interpolation_pad:
        inside = (y > -1) & (y < height) & (x > -1) & (x < width)
        image = np.pad(image, ((0, 0), (1, 1), (1, 1)))
        y, x, height, width = y + 1, x + 1, height + 2, width + 2
    else:
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    y, x = np.where(inside, np.clip(y, 0, height - 1), 0), np.where(inside, np.clip(x, 0, width - 1), 0)
    samples = bilinear(image.reshape(len(image), height * width), (height, width), y, x)
    samples *= inside
    return samples

"""Convolutions as gemm with im2col, transposed ones with col2im, deformable ones with bilinear sampling."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from hetero.reference.accumulation import accumulation_type, to_element_type
from hetero.reference.images.grid_sample import bilinear
from hetero.reference.registry import Array, evaluates

_Convolution = ops.Convolution | ops.GroupConvolution | ops.FusedConvolution | ops.BinaryConvolution

# Bytes of columns that are copied at once, so that they are still in the processor's cache when gemm reads them.
_BLOCK = 1 << 21
# The buffer for columns, one per thread.
_buffer = threading.local()


@evaluates(ops.Convolution, ops.GroupConvolution)
def convolution(node: _Convolution, data: Array, filters: Array) -> Array:
    filters = filters if node.filter_axes == 3 else filters[None]  # [G, O, C, kernel…]
    begin, end = node.resolve_pads(data.shape[2:], filters.shape[3:])
    element_type, work = data.dtype, accumulation_type(data, filters, math.prod(filters.shape[2:]))
    data, filters = data.astype(work, copy=False), filters.astype(work, copy=False)
    return to_element_type(_convolve_padded(node, _pad(data, begin, end), filters), element_type)


@evaluates(ops.FusedConvolution)
def fused_convolution(node: ops.FusedConvolution, data: Array, filters: Array, bias: Array | None = None) -> Array:
    result = convolution(node, data, filters)
    if bias is not None:
        result += bias.reshape(-1, *[1] * (result.ndim - 2))
    if node.minimum > -math.inf:
        np.maximum(result, result.dtype.type(node.minimum), out=result)
    if node.maximum < math.inf:
        np.minimum(result, result.dtype.type(node.maximum), out=result)
    return result


@evaluates(ops.BinaryConvolution)
def binary_convolution(node: ops.BinaryConvolution, data: Array, filters: Array) -> Array:
    """Map 0 to -1, so that products of equal elements are 1 and of different ones -1, and convolve."""
    begin, end = node.resolve_pads(data.shape[2:], filters.shape[2:])
    pads = ((0, 0), (0, 0), *zip(begin, end))
    data = np.pad(data.astype(np.float32), pads, constant_values=node.pad_value)
    ones, zeros = (data == 1).astype(np.float32), (data == 0).astype(np.float32)
    signs = 2 * filters.astype(np.float32)[None] - 1
    result = _convolve_padded(node, ones - zeros, signs)
    if data.size > np.count_nonzero(ones) + np.count_nonzero(zeros):
        # Values other than 0 and 1, such as a pad_value of -1, differ from all filter elements.
        result -= _convolve_padded(node, 1 - ones - zeros, np.ones_like(signs))
    return result


def _convolve_padded(node: _Convolution, data: Array, filters: Array) -> Array:
    """Convolve padded data ``[N, G·C, spatial…]`` with filters ``[G, O, C, kernel…]``."""
    groups, outputs, channels, *kernel = filters.shape
    positions = [
        (length - (size - 1) * dilation - 1) // stride + 1
        for length, size, stride, dilation in zip(data.shape[2:], kernel, node.strides, node.dilations)
    ]
    result = np.empty((len(data), groups, outputs, math.prod(positions)), data.dtype)
    matrix = filters.reshape(groups, outputs, channels * math.prod(kernel))
    convolve = _convolve_depthwise if channels == outputs == 1 and groups > 1 else _convolve_image
    for image, target in zip(data, result):
        convolve(_windows(node, image, kernel, positions), matrix, target)
    return result.reshape(len(data), groups * outputs, *positions)


def _windows(node: _Convolution, image: Array, kernel: Sequence[int], positions: Sequence[int]) -> Array:
    """Return one image ``[C, spatial…]`` as a view ``[C, kernel…, positions…]``."""
    if math.prod(kernel) == 1:
        elements = (slice(None, count * stride, stride) for count, stride in zip(positions, node.strides))
        return image[(slice(None), *[None] * len(kernel), *elements)]
    count = len(kernel)
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, node.dilations)]
    windows = sliding_window_view(image, extents, tuple(range(1, image.ndim)))
    steps = (slice(None), *(slice(None, None, step) for step in (*node.strides, *node.dilations)))
    return windows[steps].transpose(0, *range(1 + count, 1 + 2 * count), *range(1, 1 + count))


def _convolve_image(windows: Array, matrix: Array, target: Array) -> None:
    """Multiply filters ``[G, O, C·kernel]`` with windows ``[G·C, kernel…, positions…]`` into ``[G, O, positions]``.

    The windows are copied to columns in blocks of rows of positions that fit into the processor's cache.
    """
    groups, count = len(matrix), (windows.ndim - 1) // 2
    first, *rest = windows.shape[1 + count :]
    width = math.prod(rest)
    if windows.flags.c_contiguous:
        np.matmul(matrix, windows.reshape(groups, matrix.shape[2], first * width), out=target)
        return
    rows = _block_length(math.prod(windows.shape[: 1 + count]) * width * windows.itemsize, first)
    for start in range(0, first, rows):
        part = windows[(*[slice(None)] * (1 + count), slice(start, start + rows))]
        columns = _copy(part).reshape(groups, matrix.shape[2], part.shape[1 + count] * width)
        np.matmul(matrix, columns, out=target[:, :, start * width : start * width + columns.shape[2]])


def _convolve_depthwise(windows: Array, matrix: Array, target: Array) -> None:
    """Multiply each channel of the windows with its filter ``[C, 1, kernel]``, in blocks of channels."""
    channels = _block_length(math.prod(windows.shape[1:]) * windows.itemsize, len(windows))
    for start in range(0, len(windows), channels):
        part = slice(start, start + channels)
        columns = _copy(windows[part])
        np.matmul(matrix[part], columns.reshape(len(columns), matrix.shape[2], target.shape[2]), out=target[part])


def _block_length(size: int, count: int) -> int:
    """Return how many of ``count`` items of ``size`` bytes to copy at once, at least one."""
    return min(count, max(1, _BLOCK // max(1, size)))


def _copy(part: Array) -> Array:
    """Return a contiguous copy in a reused buffer, as allocating new memory takes as long as filling it."""
    memory = getattr(_buffer, "memory", None)
    if memory is None or memory.nbytes < part.nbytes:
        memory = _buffer.memory = np.empty(max(part.nbytes, _BLOCK), np.uint8)
    columns = memory[: part.nbytes].view(part.dtype).reshape(part.shape)
    np.copyto(columns, part)
    return columns


@evaluates(ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData)
def transposed_convolution(
    node: ops.ConvolutionBackpropData | ops.GroupConvolutionBackpropData, data: Array, filters: Array, *shape: Array
) -> Array:
    filters = filters if node.filter_axes == 3 else filters[None]
    groups, channels, outputs, *kernel = filters.shape
    positions = data.shape[2:]
    begin, end = node.resolve_pads(positions, kernel, shape[0].tolist() if shape else None)
    lengths = [
        (count - 1) * stride + (size - 1) * dilation + 1
        for count, stride, size, dilation in zip(positions, node.strides, kernel, node.dilations)
    ]
    padded = [length + padding for length, padding in zip(lengths, node.output_padding)]
    element_type, work = data.dtype, accumulation_type(data, filters, channels * math.prod(kernel))
    data, filters = data.astype(work, copy=False), filters.astype(work, copy=False)
    matrix = filters.reshape(groups, channels, outputs * math.prod(kernel)).transpose(0, 2, 1)
    columns = np.matmul(matrix, data.reshape(len(data), groups, channels, math.prod(positions)))
    columns = columns.reshape(len(data), groups * outputs, math.prod(kernel), *positions)
    result = np.zeros((len(data), groups * outputs, *padded), data.dtype)
    for number, offset in enumerate(itertools.product(*map(range, kernel))):
        result[window_slices(offset, positions, node.strides, node.dilations)] += columns[:, :, number]
    return to_element_type(_pad(result, [-b for b in begin], [-e for e in end]), element_type)


def window_slices(
    offset: Sequence[int], positions: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[slice, ...]:
    """Return the index of the data ``[N, C, spatial…]`` under one kernel element at all window positions."""
    return spatial(
        slice(o * dilation, o * dilation + (count - 1) * stride + 1, stride)
        for o, count, stride, dilation in zip(offset, positions, strides, dilations)
    )


def spatial(slices: Iterable[slice]) -> tuple[slice, ...]:
    """Return the index of slices of the spatial axes in ``[N, C, spatial…]``."""
    return (slice(None), slice(None), *slices)


def _pad(data: Array, begin: Sequence[int], end: Sequence[int]) -> Array:
    """Pad the spatial axes with zeros, or crop them if a padding is negative."""
    data = data[spatial(slice(max(-b, 0), n - max(-e, 0)) for b, e, n in zip(begin, end, data.shape[2:]))]
    if not any(pad > 0 for pad in (*begin, *end)):
        return data
    lengths = [max(b, 0) + length + max(e, 0) for b, length, e in zip(begin, data.shape[2:], end)]
    padded = np.zeros((*data.shape[:2], *lengths), data.dtype)
    padded[spatial(slice(max(b, 0), max(b, 0) + length) for b, length in zip(begin, data.shape[2:]))] = data
    return padded


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

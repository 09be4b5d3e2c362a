"""Convolutions as gemm with im2col, and transposed convolutions as gemm with col2im."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from hetero.reference.accumulation import accumulation_type, to_element_type
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

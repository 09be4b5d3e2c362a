"""Convolutions as matrix products: windows gathered into columns, or columns scattered into the output."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from hetero.graph import Node
from hetero.reference.products import in_element_type, working_type
from hetero.reference.registry import evaluates


@evaluates(ops.Convolution)
def convolution(node: Node, data: np.ndarray, filters: np.ndarray) -> np.ndarray:
    return _convolve(node, data, filters[None])


@evaluates(ops.GroupConvolution)
def group_convolution(node: Node, data: np.ndarray, filters: np.ndarray) -> np.ndarray:
    return _convolve(node, data, filters)


@evaluates(ops.FusedConvolution)
def fused_convolution(node: Node, data: np.ndarray, filters: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    result = _convolve(node, data, filters if node.grouped else filters[None])
    if bias is not None:
        result += bias.reshape(-1, *[1] * (result.ndim - 2))
    if node.minimum > -math.inf:
        np.maximum(result, result.dtype.type(node.minimum), out=result)
    if node.maximum < math.inf:
        np.minimum(result, result.dtype.type(node.maximum), out=result)
    return result


@evaluates(ops.BinaryConvolution)
def binary_convolution(node: Node, data: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """With 1 for 1 and -1 for 0 products of equal elements are 1, of others -1."""
    begin, end = node.resolve_pads(data.shape[2:], filters.shape[2:])
    pads = ((0, 0), (0, 0), *zip(begin, end))
    data = np.pad(data.astype(np.float32), pads, constant_values=node.pad_value)
    ones, zeros = (data == 1).astype(np.float32), (data == 0).astype(np.float32)
    signs = 2 * filters.astype(np.float32)[None] - 1
    result = _convolve_padded(node, ones - zeros, signs)
    if data.size > np.count_nonzero(ones) + np.count_nonzero(zeros):
        # Other values, such as a pad_value of -1, equal neither.
        result -= _convolve_padded(node, 1 - ones - zeros, np.ones_like(signs))
    return result


@evaluates(ops.ConvolutionBackpropData)
def convolution_backprop_data(
    node: Node, data: np.ndarray, filters: np.ndarray, output_shape: np.ndarray | None = None
) -> np.ndarray:
    return _convolve_backward(node, data, filters[None], output_shape)


@evaluates(ops.GroupConvolutionBackpropData)
def group_convolution_backprop_data(
    node: Node, data: np.ndarray, filters: np.ndarray, output_shape: np.ndarray | None = None
) -> np.ndarray:
    return _convolve_backward(node, data, filters, output_shape)


def _convolve(node: Node, data: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Data ``[N, G·C, spatial…]`` with filters ``[G, O, C, kernel…]``."""
    begin, end = node.resolve_pads(data.shape[2:], filters.shape[3:])
    element_type, work = data.dtype, working_type(data, filters, math.prod(filters.shape[2:]))
    data, filters = data.astype(work, copy=False), filters.astype(work, copy=False)
    return in_element_type(_convolve_padded(node, _pad(data, begin, end), filters), element_type)


def _convolve_padded(node: Node, data: np.ndarray, filters: np.ndarray) -> np.ndarray:
    groups, outputs, channels, *kernel = filters.shape
    positions = [
        (length - (size - 1) * dilation - 1) // stride + 1
        for length, size, stride, dilation in zip(data.shape[2:], kernel, node.strides, node.dilations)
    ]
    if channels == outputs == 1 and groups > 1:
        return _convolve_depthwise(node, data, filters, positions)
    matrix = filters.reshape(groups, outputs, -1)
    result = np.empty((len(data), groups, outputs, math.prod(positions)), data.dtype)
    for image, target in zip(data, result):
        columns = _columns(node, image, kernel, positions).reshape(groups, matrix.shape[2], -1)
        np.matmul(matrix, columns, out=target)
    return result.reshape(len(data), groups * outputs, *positions)


def _columns(node: Node, image: np.ndarray, kernel: list[int], positions: list[int]) -> np.ndarray:
    """One image ``[C, spatial…]`` as ``[C, kernel…, positions…]``: a view for kernels of one element, else a copy."""
    if math.prod(kernel) == 1:
        strided = image[(slice(None), *(slice(None, None, stride) for stride in node.strides))]
        return strided[(slice(None), *(slice(count) for count in positions))]
    axes = tuple(range(1, image.ndim))
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, node.dilations)]
    windows = sliding_window_view(image, extents, axes)  # [C, positions…, extents…] before strides and dilations
    steps = (slice(None), *(slice(None, None, step) for step in (*node.strides, *node.dilations)))
    windows = windows[steps]
    count = len(kernel)
    return np.ascontiguousarray(windows.transpose(0, *range(1 + count, 1 + 2 * count), *range(1, 1 + count)))


def _convolve_depthwise(node: Node, data: np.ndarray, filters: np.ndarray, positions: list[int]) -> np.ndarray:
    """One filter for each channel: the sum over the kernel's offsets of shifted data times one weight a channel."""
    kernel = filters.shape[3:]
    weights = filters.reshape(len(filters), -1, *(1,) * len(kernel))
    result = np.zeros((*data.shape[:2], *positions), data.dtype)
    product = np.empty_like(result)
    for number, offset in enumerate(itertools.product(*map(range, kernel))):
        np.multiply(
            data[window_slices(offset, positions, node.strides, node.dilations)], weights[:, number], out=product
        )
        result += product
    return result


def _convolve_backward(
    node: Node, data: np.ndarray, filters: np.ndarray, output_shape: np.ndarray | None
) -> np.ndarray:
    """Data ``[N, G·C, spatial…]`` with filters ``[G, C, O, kernel…]``."""
    groups, channels, outputs, *kernel = filters.shape
    positions = data.shape[2:]
    begin, end = node.resolve_pads(positions, kernel, output_shape)
    lengths = [
        (count - 1) * stride + (size - 1) * dilation + 1
        for count, stride, size, dilation in zip(positions, node.strides, kernel, node.dilations)
    ]
    padded = [length + padding for length, padding in zip(lengths, node.output_padding)]
    element_type, work = data.dtype, working_type(data, filters, channels * math.prod(kernel))
    data, filters = data.astype(work, copy=False), filters.astype(work, copy=False)
    matrix = filters.reshape(groups, channels, -1).transpose(0, 2, 1)
    columns = np.matmul(matrix, data.reshape(len(data), groups, channels, -1))
    columns = columns.reshape(len(data), groups * outputs, math.prod(kernel), *positions)
    result = np.zeros((len(data), groups * outputs, *padded), data.dtype)
    for number, offset in enumerate(itertools.product(*map(range, kernel))):
        result[window_slices(offset, positions, node.strides, node.dilations)] += columns[:, :, number]
    return in_element_type(_pad(result, [-b for b in begin], [-e for e in end]), element_type)


def window_slices(offset, positions, strides, dilations) -> tuple[slice, ...]:
    """The index of what one element of the kernel meets at all positions, in data ``[N, C, spatial…]``."""
    return (
        slice(None),
        slice(None),
        *(
            slice(o * dilation, o * dilation + (count - 1) * stride + 1, stride)
            for o, count, stride, dilation in zip(offset, positions, strides, dilations)
        ),
    )


def _pad(data: np.ndarray, begin, end) -> np.ndarray:
    """Zeros added around the spatial axes, or elements cut off where a padding is negative."""
    cut = (slice(max(-b, 0), length - max(-e, 0)) for b, e, length in zip(begin, end, data.shape[2:]))
    data = data[(slice(None), slice(None), *cut)]
    if not any(pad > 0 for pad in (*begin, *end)):
        return data
    return np.pad(data, ((0, 0), (0, 0), *((max(b, 0), max(e, 0)) for b, e in zip(begin, end))))

"""Convolution, transposed and deformable convolution, causal convolution with a state, and pooling."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    axis_length,
    int64,
    known_length,
    per_channel,
    rank_of,
    scalar_like,
)
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


class WindowAttributes(NamedTuple):
    """The sliding-window attributes as the operations take them, with one number per spatial axis."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    auto_pad: str


def read_window_attributes(node: OnnxNodeContext, count: int) -> WindowAttributes:
    """Read the attributes that convolution and pooling share, for ``count`` spatial axes. Raises FrontendError."""
    ones, zeros = (1,) * count, (0,) * (2 * count)
    strides, dilations = node.get_attribute("strides", ones), node.get_attribute("dilations", ones)
    pads = node.get_attribute("pads", zeros)
    for name, values, default in (("strides", strides, ones), ("dilations", dilations, ones), ("pads", pads, zeros)):
        if len(values) != len(default):
            raise FrontendError(f"{name} has {len(values)} values instead of {len(default)}")
    auto_pad = node.get_attribute("auto_pad", "NOTSET").lower().replace("notset", "explicit")
    return WindowAttributes(strides, dilations, pads[:count], pads[count:], auto_pad)


@translator("Conv")
def convolution(node: OnnxNodeContext) -> Translation:
    return _with_bias(node, convolve(node, node.get_input(0), node.get_input(1)))


def convolve(node: OnnxNodeContext, data: Output, filters: Output) -> Output:
    """Return the convolution of data and filters with the attributes of the node, without bias."""
    windows = read_window_attributes(node, rank_of(filters) - 2)
    groups = node.get_attribute("group", 1)
    operation = ops.Convolution if groups == 1 else ops.GroupConvolution
    filters = filters if groups == 1 else split_groups(filters, groups)
    return operation(data, filters, **windows._asdict()).output(0)


@translator("ConvTranspose")
def transposed_convolution(node: OnnxNodeContext) -> Translation:
    data, filters = node.get_input(0), node.get_input(1)
    count = rank_of(filters) - 2
    windows = read_window_attributes(node, count)
    padding = node.get_attribute("output_padding", (0,) * count)
    begin, end, padding = _transposed_pads(node, windows, padding)
    windows = windows._replace(pads_begin=begin, pads_end=end, auto_pad="explicit")
    groups = node.get_attribute("group", 1)
    operation = ops.ConvolutionBackpropData if groups == 1 else ops.GroupConvolutionBackpropData
    filters = filters if groups == 1 else split_groups(filters, groups)
    return _with_bias(node, operation(data, filters, **windows._asdict(), output_padding=padding).output(0))


@translator("DeformConv", since=19)
def deformable_convolution(node: OnnxNodeContext) -> Translation:
    filters = node.get_input(1)
    windows = read_window_attributes(node, rank_of(filters) - 2)._replace(auto_pad="explicit")
    result = ops.DeformableConvolution(
        node.get_input(0),
        node.get_input(2),
        filters,
        **windows._asdict(),
        mask=node.get_optional_input(4),
        group=node.get_attribute("group", 1),
        deformable_group=node.get_attribute("offset_group", 1),
        bilinear_interpolation_pad=True,
    )
    return _with_bias(node, result.output(0), 3)


def _with_bias(node: OnnxNodeContext, result: Output, index: int = 2) -> Translation:
    if not node.has_input(index):
        return result
    return ops.Add(result, per_channel(node.get_input(index), rank_of(result)))


def _transposed_pads(
    node: OnnxNodeContext, windows: WindowAttributes, padding: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return pads_begin, pads_end and output padding, by the formulas of the ConvTranspose specification."""
    output_shape = node.get_attribute("output_shape", None)
    if not output_shape and windows.auto_pad == "explicit":
        return windows.pads_begin, windows.pads_end, padding
    if not output_shape and windows.auto_pad == "valid":
        return (0,) * len(padding), (0,) * len(padding), padding
    lengths = node.get_input(1).partial_shape[2:]
    if lengths.is_dynamic and not node.has_attribute("kernel_shape"):
        raise FrontendError("auto_pad and output_shape need filters of known shape")
    kernel = lengths.to_shape() if lengths.is_static else node.get_attribute("kernel_shape")
    total_pads = [(k - 1) * d + 1 - s + p for k, d, s, p in zip(kernel, windows.dilations, windows.strides, padding)]
    if output_shape:
        lengths = node.get_input(0).partial_shape[2:]
        if lengths.is_dynamic:
            raise FrontendError("output_shape needs an input of known shape")
        # output_shape may contain batch and channels before the spatial lengths.
        spatial = output_shape[-len(kernel) :]
        total_pads = [
            total + length * stride - out
            for total, length, stride, out in zip(total_pads, lengths.to_shape(), windows.strides, spatial)
        ]
    smaller = [max(total, 0) // 2 for total in total_pads]
    larger = [max(total, 0) - half for total, half in zip(total_pads, smaller)]
    begin, end = (smaller, larger) if windows.auto_pad == "same_upper" else (larger, smaller)
    output_padding = [p + max(-total, 0) for p, total in zip(padding, total_pads)]
    return tuple(begin), tuple(end), tuple(output_padding)


@translator("CausalConvWithState", since=27)
@translator("CausalConvWithState", domain="com.microsoft")
def causal_convolution(node: OnnxNodeContext) -> Translation:
    """Convolve ``[B, C, T]`` with one filter ``[C, 1, k]`` per channel; return the result and the new state.

    The state ``[B, C, (k - 1) · dilation]`` holds the elements before the input.
    """
    node.check_only_supported(state_window=0, channels_last=0, ndim=1)
    value, filters, dilation = node.get_input(0), node.get_input(1), node.get_attribute("dilation", 1)
    past = (known_length(filters, 2, "the size of the filters") - 1) * dilation
    padded = ops.Concat([node.get_input(3) if node.has_input(3) else _zeros(value, past), value], 2).output(0)
    grouped = ops.Unsqueeze(filters, int64([1]))
    result: Op = ops.GroupConvolution(padded, grouped, [1], [0], [0], [dilation])
    if node.has_input(2):
        result = ops.Add(result, ops.Unsqueeze(node.get_input(2), int64([1])))
    activation = node.get_attribute("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise FrontendError(f"activation must be none, silu or swish, but is {activation}")
    result = result if activation == "none" else ops.Swish(result)
    length = axis_length(padded, [2])
    state = ops.Slice(padded, ops.Subtract(length, int64(past)), length, int64([1]), int64([2]))
    return [result.output(0), state.output(0)]


def _zeros(value: Output, count: int) -> Output:
    """Return zeros ``[B, C, count]``."""
    return ops.Broadcast(scalar_like(value, 0), ops.Concat([axis_length(value, [0, 1]), int64([count])], 0)).output(0)


@translator("MaxPool")
def max_pool(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    result = max_pool_of(node, value)
    if not node.has_output(1) or not node.get_attribute("storage_order", 0):
        return result
    return result.output(0), _to_column_major(result.output(1), value, len(result.kernel_shape))


def max_pool_of(node: OnnxNodeContext, value: Output) -> ops.MaxPool:
    """Return the max pooling of a value with the attributes of the node."""
    kernel = node.get_attribute("kernel_shape")
    windows = read_window_attributes(node, len(kernel))
    rounding = _rounding(node, windows)
    return ops.MaxPool(
        value, **windows._asdict(), kernel_shape=kernel, rounding_type=rounding, index_element_type="i64", axis=0
    )


rows({"AveragePool": lambda node: average_pool_of(node, node.get_input(0))})


def average_pool_of(node: OnnxNodeContext, value: Output) -> Output:
    """Return the average pooling of a value with the attributes of the node."""
    windows = read_window_attributes(node, len(node.get_attribute("kernel_shape")))
    rounding, include = _rounding(node, windows), bool(node.get_attribute("count_include_pad", 0))
    if not include or rounding == "floor" or not any(windows.pads_begin + windows.pads_end):
        return _average(node, value, windows, rounding, not include)
    # With ceil_mode a window may extend beyond the padding, where elements do not count, unlike those of the padding.
    # An explicit Pad makes the elements beyond it the excluded padding of the pooling.
    padded = _pad(value, windows.pads_begin, windows.pads_end)
    return _drop_outer_windows(value, windows, _average(node, padded, _without_pads(windows), "ceil", True))


@translator("LpPool")
def lp_pool(node: OnnxNodeContext) -> Translation:
    """Return the p-th root of the sum of p-th powers: the average over the window, padding included, times its size."""
    kernel, power = node.get_attribute("kernel_shape"), node.get_attribute("p", 2)
    windows = read_window_attributes(node, len(kernel))
    value = node.get_input(0)
    powers = _power(ops.Abs(value).output(0), power)
    if _rounding(node, windows) == "floor":
        average = _average(node, powers, windows, "floor", False)
    else:
        ends = [end + stride - 1 for end, stride in zip(windows.pads_end, windows.strides)]
        padded = _pad(powers, windows.pads_begin, ends)
        average = _drop_outer_windows(value, windows, _average(node, padded, _without_pads(windows), "floor", False))
    return _power(ops.Multiply(average, scalar_like(value, math.prod(kernel))).output(0), 1 / power)


@translator("GlobalLpPool")
def global_lp_pool(node: OnnxNodeContext) -> Translation:
    value, power = node.get_input(0), node.get_attribute("p", 2)
    axes = int64(range(2, rank_of(value)))
    if power in (1, 2):
        return (ops.ReduceL1 if power == 1 else ops.ReduceL2)(value, axes, True)
    powers = _power(ops.Abs(value).output(0), power)
    return _power(ops.ReduceSum(powers, axes, True).output(0), 1 / power)


def _average(
    node: OnnxNodeContext, value: Output, windows: WindowAttributes, rounding: str, exclude_pad: bool
) -> Output:
    kernel = node.get_attribute("kernel_shape")
    return ops.AvgPool(
        value, **windows._asdict(), kernel_shape=kernel, exclude_pad=exclude_pad, rounding_type=rounding
    ).output(0)


def _rounding(node: OnnxNodeContext, windows: WindowAttributes) -> str:
    """Return the rounding type. With ceil_mode ONNX omits a last window that begins after the data, like PyTorch."""
    return "ceil_torch" if node.get_attribute("ceil_mode", 0) and windows.auto_pad == "explicit" else "floor"


def _without_pads(windows: WindowAttributes) -> WindowAttributes:
    zeros = (0,) * len(windows.strides)
    return windows._replace(pads_begin=zeros, pads_end=zeros)


def _pad(value: Output, begin: tuple[int, ...], end: tuple[int, ...] | list[int]) -> Output:
    """Pad the spatial axes with zeros."""
    return ops.Pad(value, int64((0, 0, *begin)), int64((0, 0, *end)), "constant", scalar_like(value, 0)).output(0)


def _drop_outer_windows(value: Output, windows: WindowAttributes, pooled: Output) -> Output:
    """Remove the results of the windows that begin after the end of the unpadded value."""
    axes, strides = range(2, 2 + len(windows.strides)), np.array(windows.strides)
    counts = ops.Divide(ops.Add(axis_length(value, axes), np.array(windows.pads_begin) + strides - 1), strides)
    ones = np.ones_like(strides)
    return ops.Slice(pooled, ones - 1, counts, ones, int64(axes)).output(0)


def _power(value: Output, power: float) -> Output:
    if power == 1:
        return value
    if power in (2, 0.5):
        return (ops.Multiply(value, value) if power == 2 else ops.Sqrt(value)).output(0)
    return ops.Power(value, scalar_like(value, power)).output(0)


def _to_column_major(indices: Output, data: Output, count: int) -> Output:
    """Convert flat indices into the data to column-major ones: the first of ``count`` spatial axes changes fastest."""
    axes = range(2, 2 + count)
    plane = ops.ReduceProd(axis_length(data, axes), int64([0]), False)
    inner = ops.FloorMod(indices, plane)
    result: Op = ops.Subtract(indices, inner)
    column_stride = int64(1).output(0)
    row_stride = plane.output(0)
    for axis in axes:
        length = axis_length(data, axis)
        row_stride = ops.Divide(row_stride, length).output(0)
        coordinate = ops.FloorMod(ops.Divide(inner, row_stride), length)
        result = ops.Add(result, ops.Multiply(coordinate, column_stride))
        column_stride = ops.Multiply(column_stride, length).output(0)
    return result.output(0)

"""Max, average and Lp pooling."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.convolution import WindowAttributes, read_window_attributes
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of, scalar_like
from hetero.graph import Op, Output


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


@translator("AveragePool")
def average_pool(node: OnnxNodeContext) -> Translation:
    return average_pool_of(node, node.get_input(0))


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

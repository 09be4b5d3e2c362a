"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.windows import batched, lengths
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, known_length, multiply_by, scalar_like
from hetero.system.errors import FrontendError


@translator(*(f"aten::max_pool{count}d{suffix}" for count in (1, 2, 3) for suffix in ("", "_with_indices")))
def max_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type().partition("pool")[2][0])
    kernel = lengths(node, "kernel_size", 1, count)
    strides = lengths(node, "stride", 0, count) if node.get_attribute("stride", []) else kernel
    pads, dilations = lengths(node, "padding", 0, count), lengths(node, "dilation", 1, count)
    rounding = "ceil_torch" if node.get_attribute("ceil_mode", False) else "floor"
    value, restored = batched(node.get_input("self"), count)
    pooled = ops.MaxPool(value, strides, dilations, pads, pads, kernel, rounding, "explicit", "i64", 2)
    return [restored(output) for output in pooled.outputs()[: node.get_output_size()]]


@translator("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def average_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type()[-2])
    kernel = lengths(node, "kernel_size", 1, count)
    strides = lengths(node, "stride", 0, count) if node.get_attribute("stride", []) else kernel
    pads: Sequence[int] = lengths(node, "padding", 0, count)
    pads_end = pads
    rounding = "ceil_torch" if node.get_attribute("ceil_mode", False) else "floor"
    divisor = node.get_attribute("divisor_override", None)
    excluded = not node.get_attribute("count_include_pad", True)
    value, restored = batched(node.get_input("self"), count)
    if divisor is None and not excluded and rounding == "ceil_torch":
        # The padding counts, but not what a window has beyond it.
        around = int64([0, 0, *pads])
        value = ops.Pad(value, around, around, "constant", scalar_like(value, 0)).output(0)
        pads, pads_end, excluded = [0] * count, [0] * count, True
    elif divisor is not None and rounding == "ceil_torch":
        # All windows have as many elements, zeros included.
        windows = [node.output_tensor().partial_shape[axis] for axis in range(-count, 0)]
        if any(number.is_dynamic for number in windows):
            raise FrontendError("the lengths of the result must be known")
        ends = [
            (number.get_length() - 1) * stride + size - pad - known_length(value, axis, "the length of the image")
            for axis, (number, stride, size, pad) in enumerate(zip(windows, strides, kernel, pads), 2)
        ]
        pads_end, rounding = [max(end, 0) for end in ends], "floor"
    pooled = ops.AvgPool(
        value, strides, pads_begin=pads, pads_end=pads_end, kernel_shape=kernel,
        exclude_pad=excluded and divisor is None, rounding_type=rounding,
    ).output(0)  # fmt: skip
    if divisor is not None:
        pooled = multiply_by(pooled, math.prod(kernel) / divisor)
    return restored(pooled)


@translator("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
            "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d")  # fmt: skip
def adaptive_average_pool(node: TorchNodeContext) -> Translation:
    value, size = node.get_input("self"), node.get_attribute("output_size")
    if all(length == 1 for length in size):
        return ops.ReduceMean(value, int64(range(-len(size), 0)), True)
    value, restored = batched(value, len(size))
    return restored(ops.AdaptiveAvgPool(value, int64(size)).output(0))


@translator("aten::adaptive_max_pool1d", "aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d")
def adaptive_max_pool(node: TorchNodeContext) -> Translation:
    """The largest element of each part of an image, and its place in the image."""
    size = node.get_attribute("output_size")
    value, restored = batched(node.get_input("self"), len(size))
    return [restored(output) for output in ops.AdaptiveMaxPool(value, int64(size), "i64").outputs()]

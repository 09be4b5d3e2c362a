"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext, rows, translator
from hetero.frontend.pytorch.translators.convolution import batched, lengths
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import int64, known_length, multiply_by, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


def _window(node: TorchNodeContext, count: int) -> tuple[Sequence[int], Sequence[int], Sequence[int], str]:
    """Return the lengths, strides and padding of windows, and the rounding of their number."""
    kernel = lengths(node, "kernel_size", 1, count)
    strides = lengths(node, "stride", 0, count) if node.get_attribute("stride", []) else kernel
    rounding = "ceil_torch" if node.get_attribute("ceil_mode", False) else "floor"
    return kernel, strides, lengths(node, "padding", 0, count), rounding


@translator(*(f"aten::max_pool{count}d{suffix}" for count in (1, 2, 3) for suffix in ("", "_with_indices")))
def max_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type().partition("pool")[2][0])
    kernel, strides, pads, rounding = _window(node, count)
    dilations = lengths(node, "dilation", 1, count)
    value, restored = batched(node.get_input("self"), count)
    pooled = ops.MaxPool(value, strides, dilations, pads, pads, kernel, rounding, "explicit", "i64", 2)
    return [restored(output) for output in pooled.outputs()[: node.get_output_size()]]


@translator("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def average_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type()[-2])
    kernel, strides, pads, rounding = _window(node, count)
    pads_end = pads
    divisor = node.get_attribute("divisor_override", None)
    excluded = not node.get_attribute("count_include_pad", True)
    value, restored = batched(node.get_input("self"), count)
    if divisor is None and not excluded and rounding == "ceil_torch":
        # The padding counts, but not what a window has beyond it.
        around = [0, 0, *pads]
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


def _adaptive_average(value: Output, size: list[int]) -> Output:
    if all(length == 1 for length in size):
        return ops.ReduceMean(value, int64(range(-len(size), 0)), True).output(0)
    value, restored = batched(value, len(size))
    return restored(ops.AdaptiveAvgPool(value, size).output(0))


def _adaptive_maximum(value: Output, size: list[int]) -> list[Output]:
    """Return the largest element of each part of an image, and its place in the image."""
    value, restored = batched(value, len(size))
    return [restored(output) for output in ops.AdaptiveMaxPool(value, size, "i64").outputs()]


rows({
    **{f"aten::{name}": Row(_adaptive_average, "self", size=Attr("output_size")) for name in (
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool3d",
        "_adaptive_avg_pool3d",
    )},
    **{
        f"aten::adaptive_max_pool{count}d": Row(_adaptive_maximum, "self", size=Attr("output_size"))
        for count in (1, 2, 3)
    },
})  # fmt: skip

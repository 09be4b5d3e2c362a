"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.windows import lengths
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, multiply_by, rank_of, scalar_like


@translator("aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d",
            "aten::max_pool2d_with_indices", "aten::max_pool3d_with_indices")  # fmt: skip
def max_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type().partition("pool")[2][0])
    kernel = lengths(node, "kernel_size", 1, count)
    strides = lengths(node, "stride", 0, count) if node.get_attribute("stride", []) else kernel
    pads, dilations = lengths(node, "padding", 0, count), lengths(node, "dilation", 1, count)
    rounding = "ceil_torch" if node.get_attribute("ceil_mode", False) else "floor"
    value = node.get_input("self")
    is_unbatched = rank_of(value) == count + 1
    if is_unbatched:
        value = ops.Unsqueeze(value, int64([0])).output(0)
    pooled = ops.MaxPool(value, strides, dilations, pads, pads, kernel, rounding, "explicit", "i64", 2)
    outputs = pooled.outputs()[: node.get_output_size()]
    return [ops.Squeeze(output, int64([0])) for output in outputs] if is_unbatched else outputs


@translator("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d")
def average_pool(node: TorchNodeContext) -> Translation:
    count = int(node.get_op_type()[-2])
    kernel = lengths(node, "kernel_size", 1, count)
    strides = lengths(node, "stride", 0, count) if node.get_attribute("stride", []) else kernel
    pads: Sequence[int] = lengths(node, "padding", 0, count)
    rounding = "ceil_torch" if node.get_attribute("ceil_mode", False) else "floor"
    divisor = node.get_attribute("divisor_override", None)
    excluded = not node.get_attribute("count_include_pad", True)
    value = node.get_input("self")
    is_unbatched = rank_of(value) == count + 1
    if is_unbatched:
        value = ops.Unsqueeze(value, int64([0])).output(0)
    if divisor is None and not excluded and rounding == "ceil_torch":
        # The padding counts, but not what a window has beyond it.
        around = int64([0, 0, *pads])
        value = ops.Pad(value, around, around, "constant", scalar_like(value, 0)).output(0)
        pads, excluded = [0] * count, True
    pooled = ops.AvgPool(
        value, strides, pads_begin=pads, pads_end=pads, kernel_shape=kernel,
        exclude_pad=excluded and divisor is None, rounding_type=rounding,
    ).output(0)  # fmt: skip
    if divisor is not None:
        pooled = multiply_by(pooled, math.prod(kernel) / divisor)
    return ops.Squeeze(pooled, int64([0])) if is_unbatched else pooled


@translator("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
            "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d")  # fmt: skip
def adaptive_average_pool(node: TorchNodeContext) -> Translation:
    value, size = node.get_input("self"), node.get_attribute("output_size")
    if all(length == 1 for length in size):
        return ops.ReduceMean(value, int64(range(-len(size), 0)), True)
    is_unbatched = rank_of(value) == len(size) + 1
    if is_unbatched:
        value = ops.Unsqueeze(value, int64([0])).output(0)
    pooled = ops.AdaptiveAvgPool(value, int64(size))
    return ops.Squeeze(pooled, int64([0])) if is_unbatched else pooled

"""Convolutions, and windows of images and of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups
from hetero.frontend.pytorch.node_context import TorchNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    int64,
    known_length,
    normalize_axis,
    per_channel,
    rank_of,
    scalar_like,
)
from hetero.graph import Output
from hetero.system.errors import FrontendError

# Paddings that torch names, as auto_pad.
_AUTO_PADS = {"same": "same_upper", "valid": "valid"}


def lengths(node: TorchNodeContext, name: str, default: int, count: int) -> Sequence[int]:
    """Return one number for each spatial axis; one number stands for all. Raises FrontendError if there are others."""
    numbers = node.get_attribute(name, default)
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    if len(numbers) not in (1, count):
        raise FrontendError(f"{name} has {len(numbers)} numbers for {count} axes")
    return numbers * count if len(numbers) == 1 else numbers


def batched(value: Output, count: int) -> tuple[Output, Callable[[Output], Output]]:
    """Return data of ``count`` spatial axes with a batch axis, and the function that removes it if it was added."""
    if rank_of(value) != count + 1:
        return value, lambda result: result
    return ops.Unsqueeze(value, [0]).output(0), lambda result: ops.Squeeze(result, [0]).output(0)


@translator("aten::convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d",
            "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d")  # fmt: skip
def convolution(node: TorchNodeContext) -> Translation:
    data, filters = node.get_input("input"), node.get_input("weight")
    count = rank_of(filters) - 2
    is_transposed = node.get_attribute("transposed", "transpose" in node.get_op_type())
    strides, dilations = (lengths(node, name, 1, count) for name in ("stride", "dilation"))
    groups = node.get_attribute("groups", 1)
    auto_pad = _AUTO_PADS.get(str(node.get_attribute("padding", 0)), "explicit")
    pads = lengths(node, "padding", 0, count) if auto_pad == "explicit" else [0] * count
    data, restored = batched(data, count)
    if groups > 1:
        filters = split_groups(filters, groups)
    if is_transposed:
        transposed = ops.ConvolutionBackpropData if groups == 1 else ops.GroupConvolutionBackpropData
        extra = lengths(node, "output_padding", 0, count)
        value = transposed(data, filters, strides, None, pads, pads, dilations, "explicit", extra).output(0)
    else:
        direct = ops.Convolution if groups == 1 else ops.GroupConvolution
        value = direct(data, filters, strides, pads, pads, dilations, auto_pad).output(0)
    if node.has_input("bias"):
        value = ops.Add(value, per_channel(node.get_input("bias"), count + 2)).output(0)
    return restored(value)


def _windows(value: Output, axis: int, size: int, step: int, dilation: int = 1) -> Output:
    """Return windows along an axis; their elements are the last axis."""
    if rank_of(value) == 0:
        return ops.Reshape(value, [size], False).output(0)
    axis = normalize_axis(axis, rank_of(value))
    length = known_length(value, axis, "the length of the axis of windows")
    starts = np.arange(0, length - dilation * (size - 1), step)
    windows = ops.Gather(value, int64(starts[:, None] + dilation * np.arange(size)), axis)
    order = [at for at in range(rank_of(value) + 1) if at != axis + 1]
    return ops.Transpose(windows, int64([*order, axis + 1])).output(0)


rows({
    name: Row(_windows, "self", axis=Attr("dimension"), size=Attr("size"), step=Attr("step"))
    for name in ("aten::unfold", "aten::unfold_copy")
})  # fmt: skip


@translator("aten::im2col")
def image_to_columns(node: TorchNodeContext) -> Translation:
    """Windows of an image [N, C, H, W] as [N, C · elements, windows]."""
    size = node.get_attribute("kernel_size")
    value, restored = batched(node.get_input("self"), 2)
    pads = int64([0, 0, *node.get_attribute("padding")])
    value = ops.Pad(value, pads, pads, "constant", scalar_like(value, 0)).output(0)
    for at, (step, dilation) in enumerate(zip(node.get_attribute("stride"), node.get_attribute("dilation"))):
        value = _windows(value, 2 + at, size[at], step, dilation)
    channels = known_length(value, 1, "the number of channels")
    elements = channels * size[0] * size[1]
    columns = ops.Reshape(ops.Transpose(value, [0, 1, 4, 5, 2, 3]), [0, elements, -1], True)
    return restored(columns.output(0))


@translator("aten::col2im")
def columns_to_image(node: TorchNodeContext) -> Translation:
    pads = node.get_attribute("padding")
    return ops.Col2Im(
        node.get_input("self"), node.integers("output_size"), node.integers("kernel_size"),
        node.get_attribute("stride"), node.get_attribute("dilation"), pads, pads,
    )  # fmt: skip

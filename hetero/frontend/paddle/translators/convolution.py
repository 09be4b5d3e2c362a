"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups
from hetero.frontend.paddle.node_context import PaddleNodeContext, translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import channels_last, channels_second, per_channel, rank_of, reshape
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError

_CHANNELS_LAST = ("NHWC", "NDHWC", "NLC")


def is_channels_last(node: PaddleNodeContext) -> bool:
    layout = node.get_attribute("data_format", node.get_attribute("data_layout", "NCHW"))
    return layout in _CHANNELS_LAST


def channels_moved(node: PaddleNodeContext, value: Output) -> tuple[Output, Callable[[Output], Output]]:
    """Return a value with its channels second, and the function that moves those of a result back if they were last."""
    return (channels_second(value), channels_last) if is_channels_last(node) else (value, lambda result: result)


def pads_of(node: PaddleNodeContext, count: int) -> tuple[list[int], list[int], str]:
    """Return the lengths of the padding before and after each axis, and OpenVINO's name of the algorithm."""
    algorithm = node.get_attribute("padding_algorithm", "EXPLICIT")
    if algorithm == "SAME":
        return [0] * count, [0] * count, "same_upper"
    if algorithm == "VALID":
        return [0] * count, [0] * count, "valid"
    pads = list(node.get_attribute("paddings", [0] * count))
    if len(pads) == count:
        return pads, pads, "explicit"
    if len(pads) == 1:
        return pads * count, pads * count, "explicit"
    if len(pads) == 2 * count + 4:
        pads = pads[2:-2] if is_channels_last(node) else pads[4:]
    return pads[::2], pads[1::2], "explicit"


@translator("conv2d", "depthwise_conv2d", "conv3d", "fused_conv2d", "conv2d_fusion")
def convolution(node: PaddleNodeContext) -> ConversionResult:
    data, filters = node.get_input("Input"), node.get_input("Filter")
    count, groups = rank_of(filters) - 2, node.get_attribute("groups", 1)
    begin, end, auto_pad = pads_of(node, count)
    # Padding to the same size ignores the dilations, as PaddlePaddle does.
    dilations = [1] * count if auto_pad == "same_upper" else node.get_attribute("dilations", [1] * count)
    strides = node.get_attribute("strides", [1] * count)
    data, restored = channels_moved(node, data)
    if groups > 1:
        value = ops.GroupConvolution(
            data, split_groups(filters, groups), strides, begin, end, dilations, auto_pad
        ).output(0)
    else:
        value = ops.Convolution(data, filters, strides, begin, end, dilations, auto_pad).output(0)
    if node.has_input("Bias"):
        value = ops.Add(value, per_channel(node.get_input("Bias"), count + 2)).output(0)
    if node.has_input("ResidualData"):
        value = ops.Add(value, node.get_input("ResidualData")).output(0)
    activation = node.get_attribute("activation", node.get_attribute("fuse_activation", ""))
    if activation not in ("", "identity", "relu"):
        raise FrontendError(f"activation {activation} of a convolution is not supported")
    return restored(ops.Relu(value).output(0) if activation == "relu" else value)


@translator("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def transposed_convolution(node: PaddleNodeContext) -> ConversionResult:
    data, filters = node.get_input("Input"), node.get_input("Filter")
    count, groups = rank_of(filters) - 2, node.get_attribute("groups", 1)
    begin, end, auto_pad = pads_of(node, count)
    strides = node.get_attribute("strides", [1] * count)
    dilations = [1] * count if auto_pad == "same_upper" else node.get_attribute("dilations", [1] * count)
    data, restored = channels_moved(node, data)
    if auto_pad == "same_upper":
        begin, end = same_pads(data, filters.partial_shape.to_shape()[2:], strides)
    extra = list(node.get_attribute("output_padding", [])) or [0] * count
    sizes = node.known_integers("output_size", default=[])
    if sizes:
        extra = _extra(data, filters, strides, begin, end, dilations, sizes)
    operation: type[Op] = ops.ConvolutionBackpropData
    if groups > 1:
        operation, filters = ops.GroupConvolutionBackpropData, split_groups(filters, groups)
    return restored(operation(data, filters, strides, None, begin, end, dilations, "explicit", extra).output(0))


def _lengths(data: Output, reason: str) -> list[int]:
    if any(length.is_dynamic for length in data.partial_shape[2:]):
        raise FrontendError(f"the size of the image must be known for {reason}")
    return [length.get_length() for length in data.partial_shape[2:]]


def same_pads(data: Output, kernel: Sequence[int], strides: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the padding with which windows over the image keep its size divided by the strides."""
    lengths = _lengths(data, "padding_algorithm SAME")
    totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(lengths, kernel, strides)]
    return [total // 2 for total in totals], [total - total // 2 for total in totals]


def _extra(
    data: Output, filters: Output, strides: Sequence[int], begin: Sequence[int], end: Sequence[int],
    dilations: Sequence[int], sizes: Sequence[int],
) -> list[int]:  # fmt: skip
    """Return how much longer the result must be to have ``output_size``."""
    kernel = filters.partial_shape.to_shape()[2:]
    lengths = _lengths(data, "output_size")
    plain = [
        (n - 1) * s - b - e + d * (k - 1) + 1
        for n, k, s, b, e, d in zip(lengths, kernel, strides, begin, end, dilations)
    ]
    extra = [size - length for size, length in zip(sizes, plain)]
    if any(not 0 <= added < max(s, d) for added, s, d in zip(extra, strides, dilations)):
        raise FrontendError(f"output_size {list(sizes)} is impossible for this convolution, which yields {plain}")
    return extra


@translator("deformable_conv", "deformable_conv_v1")
def deformable_convolution(node: PaddleNodeContext) -> ConversionResult:
    data, offset, filters = (node.get_input(name) for name in ("Input", "Offset", "Filter"))
    begin, end, auto_pad = pads_of(node, 2)
    mask = node.get_optional_input("Mask")
    strides, dilations = node.get_attribute("strides"), node.get_attribute("dilations")
    groups, deformable_groups = node.get_attribute("groups", 1), node.get_attribute("deformable_groups", 1)
    return ops.DeformableConvolution(
        data, offset, filters, strides, begin, end, dilations, mask, auto_pad, groups, deformable_groups, True
    )


@translator("affine_channel")
def affine_channel(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    rank = rank_of(value)
    scale, bias = (
        reshape(node.get_input(name), (1,) * (rank - 1) + (-1,)) if is_channels_last(node)
        else per_channel(node.get_input(name), rank)
        for name in ("Scale", "Bias")
    )  # fmt: skip
    return ops.Add(ops.Multiply(value, scale), bias)


@translator("temporal_shift")
def temporal_shift(node: PaddleNodeContext) -> ConversionResult:
    """Shift the first channels of each segment to the next moment, the ones after them to the one before."""
    (value, restored), count = channels_moved(node, node.get_input("X")), node.get_attribute("seg_num")
    channels, height, width = (length.get_length() for length in value.partial_shape[1:])
    first = int(channels * node.get_attribute("shift_ratio", 0.25))
    second = int(channels * 2 * node.get_attribute("shift_ratio", 0.25))
    frames = reshape(value, (-1, count, channels, height, width))
    axis = np.array([1])
    parts = ops.VariadicSplit(frames, np.array(2), np.array([first, second - first, channels - second])).outputs()
    zero = np.array(0, value.element_type.to_dtype())
    later = ops.Pad(parts[0], np.array([0, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 0]), "constant", zero).output(0)
    later = ops.Slice(later, np.array([0]), np.array([count]), np.array([1]), axis).output(0)
    sooner = ops.Pad(parts[1], np.array([0, 0, 0, 0, 0]), np.array([0, 1, 0, 0, 0]), "constant", zero).output(0)
    sooner = ops.Slice(sooner, np.array([1]), np.array([count + 1]), np.array([1]), axis).output(0)
    joined = ops.Concat([later, sooner, parts[2]], 2).output(0)
    return restored(reshape(joined, (-1, channels, height, width)))

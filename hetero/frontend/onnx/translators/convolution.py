"""Convolution, transposed convolution and deformable convolution."""

from __future__ import annotations

from typing import NamedTuple

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import per_channel, rank_of
from hetero.graph import Output
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

"""Convolutions, depthwise and transposed convolutions, max and average pooling."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.convolution import split_groups_of_channels
from hetero.frontend.tensorflow.layout import ImageLayout, Padding
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, reshape, transpose
from hetero.graph import Output
from hetero.system.errors import FrontendError

_TRANSPOSED = {"Conv2DBackpropInput": 2, "Conv3DBackpropInputV2": 3}


@translator("Conv2D", "Conv3D")
def convolution(node: TensorflowNodeContext) -> Translation:
    """Filters are ``[spatial…, I / groups, O]``; the number of groups follows from the channels of the data."""
    layout, count = ImageLayout.of(node), 3 if node.get_op_type() == "Conv3D" else 2
    data = layout.to_channels_second(node.get_input(0))
    filters = transpose(node.get_input(1), (count + 1, count, *range(count)))
    return _forward(node, layout, data, split_groups_of_channels(filters, data.partial_shape[1]), count)


@translator("DepthwiseConv2dNative")
def depthwise_convolution(node: TensorflowNodeContext) -> Translation:
    """Filters are ``[H, W, C, multiplier]``; the results of one channel are adjacent."""
    layout = ImageLayout.of(node)
    filters = transpose(node.get_input(1), (2, 3, 0, 1))
    if filters.partial_shape.is_dynamic:
        raise FrontendError("the shape of the filters must be known")
    channels, multiplier, *kernel = filters.shape
    filters = reshape(filters, (channels, multiplier, 1, *kernel))
    return _forward(node, layout, layout.to_channels_second(node.get_input(0)), filters, 2)


def _forward(
    node: TensorflowNodeContext, layout: ImageLayout, data: Output, filters: Output, count: int
) -> Translation:
    operation = ops.GroupConvolution if len(filters.partial_shape) > count + 2 else ops.Convolution
    strides, dilations, padding = _windows(node, layout, count)
    return layout.from_channels_second(
        operation(data, filters, strides, padding.begin, padding.end, dilations, auto_pad=padding.auto_pad)
    )


def _windows(node: TensorflowNodeContext, layout: ImageLayout, count: int) -> tuple[list[int], list[int], Padding]:
    """Return the strides and the dilations of the spatial axes, and the padding."""
    strides = layout.spatial(node.get_attribute("strides"))
    dilations = layout.spatial(node.get_attribute("dilations", [1] * (count + 2)))
    return strides, dilations, Padding.of(node, layout, count)


@translator(*_TRANSPOSED)
def transposed_convolution(node: TensorflowNodeContext) -> Translation:
    """Input 0 is the shape of the result, input 1 filters ``[spatial…, O, I]``, input 2 the data."""
    layout, count = ImageLayout.of(node), _TRANSPOSED[node.get_op_type()]
    data = layout.to_channels_second(node.get_input(2))
    filters = transpose(node.get_input(1), (count + 1, count, *range(count)))
    sizes = node.get_input(0)
    first = 1 if layout.is_channels_last else 2
    if sizes.partial_shape.rank == 1 and sizes.partial_shape[0] == count:
        first = 0  # The shape may have the spatial axes alone.
    lengths = ops.Slice(sizes, int64([first]), int64([first + count]), int64([1]))
    strides, dilations, padding = _windows(node, layout, count)
    # The pads are those of the forward convolution from result to data: of an odd number, the smaller half is in front.
    auto_pad = "same_lower" if padding.auto_pad == "same_upper" else padding.auto_pad
    total = ops.ConvolutionBackpropData(
        data, filters, strides, lengths, padding.begin, padding.end, dilations, auto_pad
    )
    return layout.from_channels_second(total)


@translator("MaxPool", "MaxPoolV2", "MaxPool3D")
def max_pool(node: TensorflowNodeContext) -> Translation:
    layout, strides, kernel, padding = _pooling_windows(node)
    data = layout.to_channels_second(node.get_input(0))
    dilations = [1] * len(kernel)
    pooled = ops.MaxPool(data, strides, dilations, padding.begin, padding.end, kernel, auto_pad=padding.auto_pad)
    return layout.from_channels_second(pooled.output(0))


@translator("MaxPoolWithArgmax")
def max_pool_with_indices(node: TensorflowNodeContext) -> Translation:
    """Indices count the elements of an image, or with ``include_batch_in_index`` those of all images."""
    layout, strides, kernel, padding = _pooling_windows(node)
    value, kind = node.get_input(0), node.get_attribute("Targmax", Type.i64)
    pooled = ops.MaxPool(
        layout.to_channels_second(value), strides, [1, 1], padding.begin, padding.end, kernel,
        auto_pad=padding.auto_pad, index_element_type=Type.i64, axis=2,
    )  # fmt: skip
    maxima, pixels = (layout.from_channels_second(output) for output in pooled.outputs())
    channels = axis_length(value, 3)
    indices = ops.Add(ops.Multiply(pixels, channels), arange(channels)).output(0)
    if node.get_attribute("include_batch_in_index", False):
        size = ops.ReduceProd(axis_length(value, (1, 2, 3)), int64([0]), False)
        images = ops.Multiply(arange(axis_length(value, 0)), size).output(0)
        indices = ops.Add(indices, ops.Unsqueeze(images, int64([1, 2, 3]))).output(0)
    return [maxima, convert_to(indices, kind)]


@translator("AvgPool", "AvgPool3D")
def average_pool(node: TensorflowNodeContext) -> Translation:
    """Means exclude the padding."""
    layout, strides, kernel, padding = _pooling_windows(node)
    data = layout.to_channels_second(node.get_input(0))
    pooled = ops.AvgPool(data, strides, padding.begin, padding.end, kernel, True, "floor", padding.auto_pad)
    return layout.from_channels_second(pooled)


def _pooling_windows(node: TensorflowNodeContext) -> tuple[ImageLayout, list[int], list[int], Padding]:
    layout = ImageLayout.of(node)
    if node.get_op_type() == "MaxPoolV2":
        kernel, strides = (layout.spatial(node.get_values_from_const_input(index)) for index in (1, 2))
    else:
        kernel, strides = (layout.spatial(node.get_attribute(name)) for name in ("ksize", "strides"))
    return layout, strides, kernel, Padding.of(node, layout, len(kernel))

"""Max and average pooling."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.layout import ImageLayout, Padding
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64


@translator("MaxPool", "MaxPoolV2", "MaxPool3D")
def max_pool(node: TensorflowNodeContext) -> Translation:
    layout, strides, kernel, padding = _windows(node)
    data = layout.to_channels_second(node.get_input(0))
    dilations = [1] * len(kernel)
    pooled = ops.MaxPool(data, strides, dilations, padding.begin, padding.end, kernel, auto_pad=padding.auto_pad)
    return layout.from_channels_second(pooled.output(0))


@translator("MaxPoolWithArgmax")
def max_pool_with_indices(node: TensorflowNodeContext) -> Translation:
    """Indices count the elements of an image, or with ``include_batch_in_index`` those of all images."""
    layout, strides, kernel, padding = _windows(node)
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
    layout, strides, kernel, padding = _windows(node)
    data = layout.to_channels_second(node.get_input(0))
    pooled = ops.AvgPool(data, strides, padding.begin, padding.end, kernel, True, "floor", padding.auto_pad)
    return layout.from_channels_second(pooled)


def _windows(node: TensorflowNodeContext) -> tuple[ImageLayout, list[int], list[int], Padding]:
    layout = ImageLayout.of(node)
    if node.get_op_type() == "MaxPoolV2":
        kernel, strides = (layout.spatial(node.get_values_from_const_input(index)) for index in (1, 2))
    else:
        kernel, strides = (layout.spatial(node.get_attribute(name)) for name in ("ksize", "strides"))
    return layout, strides, kernel, Padding.of(node, layout, len(kernel))

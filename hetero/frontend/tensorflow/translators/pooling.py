"""Max and average pooling."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.layout import ImageLayout, Padding
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation


@translator("MaxPool", "MaxPoolV2", "MaxPool3D")
def max_pool(node: TensorflowNodeContext) -> Translation:
    layout, strides, kernel, padding = _windows(node)
    data = layout.to_channels_second(node.get_input(0))
    dilations = [1] * len(kernel)
    pooled = ops.MaxPool(data, strides, dilations, padding.begin, padding.end, kernel, auto_pad=padding.auto_pad)
    return layout.from_channels_second(pooled.output(0))


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

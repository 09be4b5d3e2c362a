"""Convolutions over height and width, and over depth too."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.layouts import channels_last, channels_second
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import auto_pad
from hetero.frontend.tflite.translators.products import Products
from hetero.frontend.translation import Translation
from hetero.frontend.values import reshape, transpose
from hetero.graph import Output

_HEIGHT_AND_WIDTH = ("h", "w")


@translator("CONV_2D")
def convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I / groups]``."""
    channels, inner = node.get_input(0).partial_shape[-1], node.get_input(1).partial_shape[-1]
    groups = channels.get_length() // inner.get_length() if channels.is_static and inner.is_static else 1
    return _convolved(node, transpose(node.get_input(1), (0, 3, 1, 2)), groups, _HEIGHT_AND_WIDTH)


@translator("DEPTHWISE_CONV_2D")
def depthwise_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[1, H, W, C · multiplier]``: those of one channel lie beside each other."""
    channels = node.get_input(0).partial_shape[-1]
    if not channels.is_static:
        raise FrontendError("the number of channels must be known")
    return _convolved(node, transpose(node.get_input(1), (3, 0, 1, 2)), channels.get_length(), _HEIGHT_AND_WIDTH)


def _convolved(node: TfliteNodeContext, filters: Output, groups: int, axes: Sequence[str]) -> Output:
    """``filters``: ``[O, I / groups, spatial…]``; ``axes``: what attributes call the spatial ones."""
    products = Products(node)
    data, filters = products.data(channels_second(node.get_input(0))), products.weights(filters)
    operation = ops.Convolution
    if groups != 1:
        filters, operation = _by_group(filters, groups), ops.GroupConvolution
    strides = [node.get_attribute(f"stride_{axis}") for axis in axes]
    dilations = [node.get_attribute(f"dilation_{axis}_factor", 1) for axis in axes]
    none = [0] * len(axes)
    total = operation(data, filters, strides, none, none, dilations, auto_pad=auto_pad(node))
    return channels_last(products.finished(total.output(0), (-1, *[1] * len(axes))))


def _by_group(filters: Output, groups: int) -> Output:
    count, *others = filters.shape
    if groups < 1 or count % groups:
        raise FrontendError(f"{count} filters cannot be shared among {groups} groups")
    return reshape(filters, (groups, count // groups, *others))

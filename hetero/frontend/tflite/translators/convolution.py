"""Convolutions over height and width, and over depth too."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.layouts import channels_last, channels_second
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import auto_pad
from hetero.frontend.tflite.translators.linear import LinearOperator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, transpose
from hetero.graph import Output
from hetero.shape import Dimension

_HEIGHT_AND_WIDTH = ("h", "w")
_WITH_DEPTH = ("d", "h", "w")


@translator("CONV_2D")
def convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I / groups]``."""
    return _convolved(node, transpose(node.get_input(1), (0, 3, 1, 2)), _HEIGHT_AND_WIDTH)


@translator("CONV_3D")
def convolution_with_depth(node: TfliteNodeContext) -> Translation:
    """Filters are ``[D, H, W, I / groups, O]``."""
    return _convolved(node, transpose(node.get_input(1), (4, 3, 0, 1, 2)), _WITH_DEPTH)


@translator("DEPTHWISE_CONV_2D")
def depthwise_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[1, H, W, C · multiplier]``: those of one channel lie beside each other."""
    return _convolved(node, transpose(node.get_input(1), (3, 0, 1, 2)), _HEIGHT_AND_WIDTH)


def _convolved(node: TfliteNodeContext, filters: Output, axes: Sequence[str]) -> Output:
    """``filters``: ``[O, I / groups, spatial…]``; ``axes``: what attributes call the spatial ones."""
    products = LinearOperator(node)
    data, filters = products.data(channels_second(node.get_input(0))), products.weights(filters)
    filters = _by_group(filters, data.partial_shape[1])
    operation = ops.GroupConvolution if rank_of(filters) > rank_of(data) else ops.Convolution
    strides, dilations, none = _strides(node, axes), _dilations(node, axes), [0] * len(axes)
    total = operation(data, filters, strides, none, none, dilations, auto_pad=auto_pad(node))
    return _finished(products, total.output(0))


def _by_group(filters: Output, channels: Dimension) -> Output:
    """Filters ``[O, I, …]`` as ``[groups, O / groups, I, …]`` where one does not read all channels of the data."""
    inner = filters.partial_shape[1]
    if channels == inner:
        return filters
    if channels.is_dynamic or filters.partial_shape.is_dynamic:
        raise FrontendError("the numbers of channels of data and filters must be known")
    count, *others = filters.shape
    groups, rest = divmod(channels.get_length(), inner.get_length())
    if rest or not groups or count % groups:
        raise FrontendError(f"filters {filters.shape} fit no groups of {channels} channels")
    return reshape(filters, (groups, count // groups, *others))


@translator("TRANSPOSE_CONV")
def transposed_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I]``."""
    return _transposed(node, transpose(node.get_input(1), (3, 0, 1, 2)), _HEIGHT_AND_WIDTH)


@translator("CONV_3D_TRANSPOSE")
def transposed_convolution_with_depth(node: TfliteNodeContext) -> Translation:
    """Filters are ``[D, H, W, O, I]``."""
    return _transposed(node, transpose(node.get_input(1), (4, 3, 0, 1, 2)), _WITH_DEPTH)


def _transposed(node: TfliteNodeContext, filters: Output, axes: Sequence[str]) -> Output:
    """The shape of the result is input 0, the data input 2. ``filters``: ``[I, O, spatial…]``."""
    products = LinearOperator(node, data=2, bias=3)
    data, filters = products.data(channels_second(node.get_input(2))), products.weights(filters, 1)
    lengths = ops.Slice(node.get_input(0), int64([1]), int64([-1]), int64([1]))
    # What is cut off is the padding of the convolution that makes the data of the result: less of it in front.
    padding = "same_lower" if auto_pad(node) == "same_upper" else "valid"
    strides, dilations, none = _strides(node, axes), _dilations(node, axes), [0] * len(axes)
    total = ops.ConvolutionBackpropData(data, filters, strides, lengths, none, none, dilations, padding)
    return _finished(products, total.output(0))


def _finished(products: LinearOperator, total: Output) -> Output:
    """Sums ``[N, C, spatial…]`` made the result, channels last."""
    return channels_last(products.finished(total, (-1, *[1] * (rank_of(total) - 2))))


def _strides(node: TfliteNodeContext, axes: Sequence[str]) -> list[int]:
    return [node.get_attribute(f"stride_{axis}") for axis in axes]


def _dilations(node: TfliteNodeContext, axes: Sequence[str]) -> list[int]:
    return [node.get_attribute(f"dilation_{axis}_factor", 1) for axis in axes]

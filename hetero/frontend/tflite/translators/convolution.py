"""2-D and 3-D convolutions, depthwise and transposed convolutions."""

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

# The spatial axes as attribute names spell them: stride_h, dilation_d_factor.
_SPATIAL_2D = ("h", "w")
_SPATIAL_3D = ("d", "h", "w")


@translator("CONV_2D")
def convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I / groups]``."""
    return _convolve(node, transpose(node.get_input(1), (0, 3, 1, 2)), _SPATIAL_2D)


@translator("CONV_3D")
def convolution_3d(node: TfliteNodeContext) -> Translation:
    """Filters are ``[D, H, W, I / groups, O]``."""
    return _convolve(node, transpose(node.get_input(1), (4, 3, 0, 1, 2)), _SPATIAL_3D)


@translator("DEPTHWISE_CONV_2D")
def depthwise_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[1, H, W, C · multiplier]``; the filters of one channel are adjacent."""
    return _convolve(node, transpose(node.get_input(1), (3, 0, 1, 2)), _SPATIAL_2D)


def _convolve(node: TfliteNodeContext, filters: Output, axes: Sequence[str]) -> Output:
    """Build a convolution with filters ``[O, I / groups, spatial…]``; ``axes``: the spatial axes in attribute names."""
    linear = LinearOperator(node)
    data, filters = linear.data(channels_second(node.get_input(0))), linear.weights(filters)
    filters = _split_groups(filters, data.partial_shape[1])
    operation = ops.GroupConvolution if rank_of(filters) > rank_of(data) else ops.Convolution
    strides, dilations, pads = _strides(node, axes), _dilations(node, axes), [0] * len(axes)
    total = operation(data, filters, strides, pads, pads, dilations, auto_pad=auto_pad(node))
    return _finish(linear, total.output(0))


def _split_groups(filters: Output, channels: Dimension) -> Output:
    """Reshape filters ``[O, I, …]`` to ``[groups, O / groups, I, …]`` if I is not the number of data channels."""
    channels_per_group = filters.partial_shape[1]
    if channels == channels_per_group:
        return filters
    if channels.is_dynamic or filters.partial_shape.is_dynamic:
        raise FrontendError("the number of channels of the data and of the filters must be known")
    count, *others = filters.shape
    groups, remainder = divmod(channels.get_length(), channels_per_group.get_length())
    if remainder or not groups or count % groups:
        raise FrontendError(f"filters {filters.shape} do not divide {channels} channels into groups")
    return reshape(filters, (groups, count // groups, *others))


@translator("TRANSPOSE_CONV")
def transposed_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I]``."""
    return _transposed_convolve(node, transpose(node.get_input(1), (3, 0, 1, 2)), _SPATIAL_2D)


@translator("CONV_3D_TRANSPOSE")
def transposed_convolution_3d(node: TfliteNodeContext) -> Translation:
    """Filters are ``[D, H, W, O, I]``."""
    return _transposed_convolve(node, transpose(node.get_input(1), (4, 3, 0, 1, 2)), _SPATIAL_3D)


def _transposed_convolve(node: TfliteNodeContext, filters: Output, axes: Sequence[str]) -> Output:
    """Build a transposed convolution with filters ``[I, O, spatial…]``.

    Input 0 is the output shape, input 2 the data, input 3 the bias.
    """
    linear = LinearOperator(node, data=2, bias=3)
    data, filters = linear.data(channels_second(node.get_input(2))), linear.weights(filters, 1)
    lengths = ops.Slice(node.get_input(0), int64([1]), int64([-1]), int64([1]))
    # The result is cropped by the pads of the forward convolution from result to data, the smaller half in front.
    padding = "same_lower" if auto_pad(node) == "same_upper" else "valid"
    strides, dilations, pads = _strides(node, axes), _dilations(node, axes), [0] * len(axes)
    total = ops.ConvolutionBackpropData(data, filters, strides, lengths, pads, pads, dilations, padding)
    return _finish(linear, total.output(0))


def _finish(linear: LinearOperator, total: Output) -> Output:
    """Apply the epilogue to sums ``[N, C, spatial…]`` and return the result channels-last."""
    return channels_last(linear.epilogue(total, (-1, *[1] * (rank_of(total) - 2))))


def _strides(node: TfliteNodeContext, axes: Sequence[str]) -> list[int]:
    return [node.get_attribute(f"stride_{axis}") for axis in axes]


def _dilations(node: TfliteNodeContext, axes: Sequence[str]) -> list[int]:
    return [node.get_attribute(f"dilation_{axis}_factor", 1) for axis in axes]

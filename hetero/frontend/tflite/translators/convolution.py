"""2-D and 3-D convolutions, depthwise and transposed convolutions."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups_of_channels
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import auto_pad
from hetero.frontend.tflite.translators.linear import LinearOperator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import channels_last, channels_second, int64, rank_of, transpose
from hetero.graph import Output

# The axes of the filters in OpenVINO's order: [O, I / groups, spatial…].
_CONVOLUTIONS = {
    "CONV_2D": (0, 3, 1, 2),  # from [O, H, W, I / groups]
    "CONV_3D": (4, 3, 0, 1, 2),  # from [D, H, W, I / groups, O]
    "DEPTHWISE_CONV_2D": (3, 0, 1, 2),  # from [1, H, W, C · multiplier]; the filters of one channel are adjacent
}
# The same for [I, O, spatial…].
_TRANSPOSED_CONVOLUTIONS = {
    "TRANSPOSE_CONV": (3, 0, 1, 2),  # from [O, H, W, I]
    "CONV_3D_TRANSPOSE": (4, 3, 0, 1, 2),  # from [D, H, W, O, I]
}


@translator(*_CONVOLUTIONS)
def convolution(node: TfliteNodeContext) -> Translation:
    linear, order = LinearOperator(node), _CONVOLUTIONS[node.get_op_type()]
    data, filters = linear.data(channels_second(node.get_input(0))), linear.weights(transpose(node.get_input(1), order))
    filters = split_groups_of_channels(filters, data.partial_shape[1])
    operation = ops.GroupConvolution if rank_of(filters) > rank_of(data) else ops.Convolution
    strides, dilations, pads = _strides_dilations_pads(node, len(order) - 2)
    total = operation(data, filters, strides, pads, pads, dilations, auto_pad=auto_pad(node))
    return _finish(linear, total.output(0))


@translator(*_TRANSPOSED_CONVOLUTIONS)
def transposed_convolution(node: TfliteNodeContext) -> Translation:
    """Input 0 is the output shape, input 2 the data, input 3 the bias."""
    linear, order = LinearOperator(node, data=2, bias=3), _TRANSPOSED_CONVOLUTIONS[node.get_op_type()]
    data = linear.data(channels_second(node.get_input(2)))
    filters = linear.weights(transpose(node.get_input(1), order), 1)
    lengths = ops.Slice(node.get_input(0), int64([1]), int64([-1]), int64([1]))
    # The result is cropped by the pads of the forward convolution from result to data, the smaller half in front.
    padding = "same_lower" if auto_pad(node) == "same_upper" else "valid"
    strides, dilations, pads = _strides_dilations_pads(node, len(order) - 2)
    total = ops.ConvolutionBackpropData(data, filters, strides, lengths, pads, pads, dilations, padding)
    return _finish(linear, total.output(0))


def _finish(linear: LinearOperator, total: Output) -> Output:
    """Apply the epilogue to sums ``[N, C, spatial…]`` and return the result channels-last."""
    return channels_last(linear.epilogue(total, (-1, *[1] * (rank_of(total) - 2))))


def _strides_dilations_pads(node: TfliteNodeContext, count: int) -> tuple[list[int], list[int], list[int]]:
    """Return one number per spatial axis each. The pads are 0, because ``auto_pad`` determines the padding."""
    axes = ("d", "h", "w")[-count:]
    strides = [node.get_attribute(f"stride_{axis}") for axis in axes]
    return strides, [node.get_attribute(f"dilation_{axis}_factor", 1) for axis in axes], [0] * count

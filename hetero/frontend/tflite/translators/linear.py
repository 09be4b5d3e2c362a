"""Matrix products and convolutions, and LinearOperator, what they have in common; pooling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tflite

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.convolution import split_groups_of_channels
from hetero.frontend.numerics.quantization import quantize_scaled, subtract_zero_point
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.tflite.quantization import computes_in_float, dequantize, hybrid_weights
from hetero.frontend.tflite.translators.common import apply_activation, auto_pad, clamp_to_activation, quantized_range
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    channels_last,
    channels_second,
    convert_to,
    int64,
    rank_of,
    reshape,
    transpose,
)
from hetero.graph import Constant, Output, constant_array
from hetero.system.errors import FrontendError

_FORMATS = tflite.FullyConnectedOptionsWeightsFormat


class LinearOperator:
    """A linear operator. ``data``, ``weights``, ``bias``: which of its inputs these are.

    Quantized operators accumulate exactly, in integers. If only the weights are quantized (a hybrid operator), they are
    dequantized. LiteRT quantizes the data row by row instead, which costs more here than it saves and is less accurate.
    """

    def __init__(self, node: TfliteNodeContext, data: int = 0, weights: int = 1, bias: int = 2) -> None:
        self.node, self._data, self._weights, self._bias = node, data, weights, bias
        self._output = node.output_tensor(0)
        self.is_quantized = None not in (node.input_tensor(data).quantization, self._output.quantization)

    def data(self, value: Output) -> Output:
        """Return the data, in any layout, as an operand: floats, or integers minus their zero point."""
        return self._operand(value, self._data, 0)

    def weights(self, value: Output, axis: int = 0) -> Output:
        """Return the weights as an operand; ``axis``: the axis of their scales in the layout of ``value``."""
        return self._operand(value, self._weights, axis)

    def _operand(self, value: Output, index: int, axis: int) -> Output:
        tensor = self.node.input_tensor(index)
        if not self.is_quantized:
            params = tensor.quantization
            numbers = value if params is None else dequantize(*hybrid_weights(value, params._replace(axis=axis)))
            return convert_to(numbers, Type.f32)
        params = tensor.required_quantization._replace(axis=axis)
        return subtract_zero_point(value, params.broadcastable(params.zero_points, rank_of(value)), self._accumulator())

    def _accumulator(self) -> Type:
        """Return an accumulator type that cannot overflow. Only 16-bit data may need more than i32."""
        if self.node.input_tensor(self._data).element_type is not Type.i16:
            return Type.i32
        inputs = [self.node.get_input(index) for index in (self._weights, self._bias) if self.node.has_input(index)]
        constants = [value.node.data for value in inputs if isinstance(value.node, Constant)]
        channels = self._output.partial_shape[-1]
        if len(constants) < len(inputs) or channels.is_dynamic:
            return Type.i64
        weights, *bias = constants
        count = weights.size // max(channels.get_length(), 1)
        largest = (_magnitude(weights) * count << 15) + sum(map(_magnitude, bias))
        return Type.i32 if largest < 1 << 31 else Type.i64

    def epilogue(self, total: Output, shape: Sequence[int]) -> Output:
        """Add the bias to the accumulated sums, requantize integers, and apply the fused activation function.

        ``shape``: the shape in which a per-channel vector broadcasts to the sums.
        """
        if self.node.has_input(self._bias):
            bias = reshape(self.node.get_input(self._bias), shape)
            total = ops.Add(total, convert_to(bias, total.element_type)).output(0)
        return self._requantize(total, shape) if self.is_quantized else apply_activation(self.node, total)

    def _requantize(self, total: Output, shape: Sequence[int]) -> Output:
        data, weights = (self.node.input_tensor(index).required_quantization for index in (self._data, self._weights))
        params = self._output.required_quantization
        # A factor per tensor or per channel in f32, as in XNNPACK.
        factor = data.scales * weights.scales / params.scales
        factor = factor.reshape(shape if factor.size > 1 else ())
        scaled = ops.Multiply(ops.Convert(total, Type.f32), Constant(factor)).output(0)
        zero_point = params.broadcastable(params.zero_points, 0)
        return quantize_scaled(scaled, zero_point, self._output.element_type, limits=quantized_range(self.node))


def _magnitude(array: np.ndarray) -> int:
    """Return the largest absolute value, 0 for an empty array."""
    return int(np.abs(array.astype(np.int64)).max(initial=0))


@translator("FULLY_CONNECTED")
def fully_connected(node: TfliteNodeContext) -> Translation:
    """Weights are ``[O, I]``. Data of any rank is flattened to ``[rows, I]`` unless ``keep_num_dims`` is set."""
    linear, data, weights = LinearOperator(node), node.get_input(0), node.get_input(1)
    if not node.get_attribute("keep_num_dims", False) and rank_of(data) != 2:
        data = reshape(data, (-1, weights.partial_shape[-1].get_length()))
    is_shuffled = node.get_attribute("weights_format", _FORMATS.DEFAULT) == _FORMATS.SHUFFLED4x16INT8
    weights = linear.weights(_unshuffle(weights) if is_shuffled else weights)
    result = linear.epilogue(ops.MatMul(linear.data(data), weights, False, True).output(0), (-1,))
    # Output 1 is LiteRT's workspace.
    return [result, data] if is_shuffled else result


def _unshuffle(weights: Output) -> Output:
    """Convert SHUFFLED4x16INT8 weights to rows: they are stored in blocks of 4 rows and 16 columns, as i8 ^ 0x80."""
    data = constant_array(weights)
    if data is None:
        raise FrontendError("weights of the format SHUFFLED4x16INT8 must be constant")
    rows, columns = data.shape
    blocks = data.reshape(rows // 4, columns // 16, 4, 16)
    return Constant(blocks.transpose(0, 2, 1, 3).reshape(rows, columns) ^ np.uint8(0x80)).output(0)


@translator("BATCH_MATMUL")
def batch_matmul(node: TfliteNodeContext) -> Translation:
    linear = LinearOperator(node)
    operands = linear.data(node.get_input(0)), linear.weights(node.get_input(1))
    total = ops.MatMul(*operands, bool(node.get_attribute("adj_x", False)), bool(node.get_attribute("adj_y", False)))
    # An i32 result is the accumulator, without requantization.
    if node.output_tensor(0).element_type is Type.i32:
        return total
    return linear.epilogue(total.output(0), (-1,))


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


@translator("MAX_POOL_2D")
def max_pool(node: TfliteNodeContext) -> Translation:
    """Works on quantized integers directly: they have the order of the real values."""
    strides, kernel = _strides_and_kernel(node)
    data = channels_second(node.get_input(0))
    pooled = ops.MaxPool(data, strides, (1, 1), (0, 0), (0, 0), kernel, auto_pad=auto_pad(node))
    return _apply_activation(node, channels_last(pooled.output(0)))


@translator("AVERAGE_POOL_2D")
def average_pool(node: TfliteNodeContext) -> Translation:
    """Means exclude the padding. Means of integers are rounded, halves away from zero."""
    data = node.get_input(0)
    pooled = channels_last(_average(node, convert_to(channels_second(data), Type.f32)))
    if not data.element_type.is_real():
        pooled = convert_to(ops.Round(pooled, "half_away_from_zero").output(0), data.element_type)
    return _apply_activation(node, pooled)


@translator("L2_POOL_2D")
@computes_in_float
def l2_pool(node: TfliteNodeContext) -> Translation:
    """Root mean square."""
    data = channels_second(node.get_input(0))
    return apply_activation(node, channels_last(ops.Sqrt(_average(node, ops.Multiply(data, data).output(0)))))


def _average(node: TfliteNodeContext, value: Output) -> Output:
    strides, kernel = _strides_and_kernel(node)
    return ops.AvgPool(value, strides, (0, 0), (0, 0), kernel, True, "floor", auto_pad(node)).output(0)


def _strides_and_kernel(node: TfliteNodeContext) -> tuple[tuple[int, int], tuple[int, int]]:
    strides, kernel = ("stride_h", "stride_w"), ("filter_height", "filter_width")
    return tuple(map(node.get_attribute, strides)), tuple(map(node.get_attribute, kernel))


def _apply_activation(node: TfliteNodeContext, value: Output) -> Output:
    return clamp_to_activation(node, value) if node.is_quantized else apply_activation(node, value)

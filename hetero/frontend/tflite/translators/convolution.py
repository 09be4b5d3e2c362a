"""Convolutions and the matrix products of dense layers. Of quantized ones the sums of products are exact, in i32."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.layouts import channels_last, channels_second
from hetero.frontend.quantization import converted, less_zero_point, quantize_quotient
from hetero.frontend.tflite.decoded import DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import activated, activation_range, auto_pad
from hetero.frontend.translation import Translation
from hetero.frontend.values import rank_of, reshape, transpose
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("CONV_2D")
def convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[O, H, W, I / groups]``."""
    data, filters = operands(node)
    channels, inner = data.partial_shape[-1], filters.partial_shape[-1]
    groups = channels.get_length() // inner.get_length() if channels.is_static and inner.is_static else 1
    filters = transpose(filters, (0, 3, 1, 2))
    if groups > 1:
        count, *others = filters.shape
        filters = reshape(filters, (groups, count // groups, *others))
    return finished(node, channels_last(_convolve(node, data, filters, groups > 1)))


@translator("DEPTHWISE_CONV_2D")
def depthwise_convolution(node: TfliteNodeContext) -> Translation:
    """Filters are ``[1, H, W, C · multiplier]``: those of one channel lie beside each other."""
    data, filters = operands(node)
    channels, filters = data.partial_shape[-1], transpose(filters, (3, 0, 1, 2))
    if not channels.is_static:
        raise FrontendError("the number of channels must be known")
    groups, (count, *others) = channels.get_length(), filters.shape
    if count % groups:
        raise FrontendError(f"{count} filters cannot be those of {groups} channels")
    filters = reshape(filters, (groups, count // groups, *others))
    return finished(node, channels_last(_convolve(node, data, filters, True)))


def _convolve(node: TfliteNodeContext, data: Output, filters: Output, grouped: bool) -> Output:
    strides = (node.get_attribute("stride_h"), node.get_attribute("stride_w"))
    dilations = (node.get_attribute("dilation_h_factor", 1), node.get_attribute("dilation_w_factor", 1))
    operation = ops.GroupConvolution if grouped else ops.Convolution
    made = operation(channels_second(data), filters, strides, (0, 0), (0, 0), dilations, auto_pad=auto_pad(node))
    return made.output(0)


@translator("FULLY_CONNECTED")
def fully_connected(node: TfliteNodeContext) -> Translation:
    """Weights are ``[O, I]``; data of any rank is rows of I, which stay as they are where the operator says so."""
    data, weights = operands(node)
    if not node.get_attribute("keep_num_dims", False) and rank_of(data) != 2:
        data = reshape(data, (-1, weights.partial_shape[-1].get_length()))
    return finished(node, ops.MatMul(data, weights, False, True).output(0))


def operands(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Data and filters: as numbers, or where the node is quantized as integers less their zero points, i32."""
    data, filters = node.get_input(0), node.get_input(1)
    if node.is_quantized:
        return _integers(data, node.input_tensor(0)), _integers(filters, node.input_tensor(1))
    by = node.input_tensor(1).quantization
    # Weights may be kept as integers where data and results are numbers.
    return data, filters if by is None else dequantize(filters, by)


def _integers(value: Output, tensor: DecodedTensor) -> Output:
    by = tensor.quantization
    return less_zero_point(value, by.spread(by.zero_points.astype(np.int32), rank_of(value)), Type.i32)


def finished(node: TfliteNodeContext, total: Output) -> Output:
    """Sums of products, channels last, with the bias of input 2, the fused activation and, of integers, in the scale of
    the output."""
    if node.has_input(2):
        total = ops.Add(total, converted(node.get_input(2), total.element_type)).output(0)
    if not node.is_quantized:
        return activated(node, total)
    data, filters, output = node.input_tensor(0), node.input_tensor(1), node.output_tensor(0)
    by = output.quantization
    # One factor for all or for each channel, f32, as XNNPACK has it.
    factor = data.quantization.scales * filters.quantization.scales / by.scales
    factor = factor if factor.size > 1 else factor.reshape(())
    scaled = ops.Multiply(ops.Convert(total, Type.f32), Constant(factor)).output(0)
    low, high = activation_range(node)
    if (low, high) != (-np.inf, np.inf):
        scaled = ops.Clamp(scaled, low / by.scale, high / by.scale).output(0)
    return quantize_quotient(scaled, by.spread(by.zero_points.astype(np.int32), 0), output.element_type)

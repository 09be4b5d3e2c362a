"""Helpers of several translators: fused activation functions, padding and states of recurrent operators."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.frontend.tflite.decoded import TfliteTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import Translator, computes_in_float, dequantize, quantize
from hetero.frontend.translation.translators import as_outputs
from hetero.graph import Node, Output, as_output
from hetero.system.errors import FrontendError

_ACTIVATIONS = tflite.ActivationFunctionType
_INFINITY = float("inf")
# The output ranges of the fused activation functions that only clamp.
_RANGES = {
    _ACTIVATIONS.NONE: (-_INFINITY, _INFINITY),
    _ACTIVATIONS.RELU: (0.0, _INFINITY),
    _ACTIVATIONS.RELU6: (0.0, 6.0),
    _ACTIVATIONS.RELU_N1_TO_1: (-1.0, 1.0),
}


def activated(translate: Translator) -> Translator:
    """Decorator like ``computes_in_float`` that also applies the fused activation function."""
    return computes_in_float(lambda node: apply_activation(node, as_outputs(translate(node))[0]))


def apply_activation(node: TfliteNodeContext, value: Node | Output) -> Output:
    """Apply the operator's fused activation function. Raises FrontendError if it is not supported."""
    function, value = node.get_attribute("fused_activation_function", _ACTIVATIONS.NONE), as_output(value)
    if function == _ACTIVATIONS.NONE:
        return value
    if function == _ACTIVATIONS.RELU:
        return ops.Relu(value).output(0)
    if function == _ACTIVATIONS.TANH:
        return ops.Tanh(value).output(0)
    return ops.Clamp(value, *activation_range(node)).output(0)


def activation_range(node: TfliteNodeContext) -> tuple[float, float]:
    """Return the output range of a clamping fused activation function. Raises FrontendError for another function."""
    function = node.get_attribute("fused_activation_function", _ACTIVATIONS.NONE)
    if function not in _RANGES:
        raise FrontendError(f"the fused activation function {function} is not supported")
    return _RANGES[function]


def clamp_to_activation(node: TfliteNodeContext, value: Output) -> Output:
    """Apply a clamping fused activation function to integers quantized like output 0. Raises FrontendError."""
    if activation_range(node) == (-_INFINITY, _INFINITY):
        return value
    return ops.Clamp(value, *quantized_range(node)).output(0)


def quantized_range(node: TfliteNodeContext) -> tuple[int, int]:
    """Return the range of the fused activation function as quantized integers of output 0. Raises FrontendError."""
    tensor = node.output_tensor(0)
    params, limits = tensor.required_quantization, np.iinfo(tensor.element_type.to_dtype())
    quantized = (np.rint(number / params.scale) + params.zero_point for number in activation_range(node))
    least, most = (int(np.clip(number, limits.min, limits.max)) for number in quantized)
    return least, most


def auto_pad(node: TfliteNodeContext) -> str:
    """Return OpenVINO's ``auto_pad`` value for the padding of a convolution or pooling."""
    return "same_upper" if node.get_attribute("padding") == tflite.Padding.SAME else "valid"


def update_state(node: TfliteNodeContext, index: int, value: Output) -> None:
    """Store real values in a state, an input that persists between inferences, quantized as its tensor declares."""
    tensor = node.input_tensor(index)
    params = tensor.quantization
    node.set_variable_input(index, value if params is None else quantize(value, params, tensor.element_type))


def fake_quantize(value: Output, tensor: TfliteTensor) -> Output:
    """Round real values to those that a quantized tensor can represent."""
    params = tensor.quantization
    return value if params is None else dequantize(quantize(value, params, tensor.element_type), params)

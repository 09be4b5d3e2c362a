"""What translators of several families need."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.graph import Node, Output, as_output

_ACTIVATIONS = tflite.ActivationFunctionType
_INFINITY = float("inf")
# What those activation functions let through that only cut.
_RANGES = {
    _ACTIVATIONS.NONE: (-_INFINITY, _INFINITY),
    _ACTIVATIONS.RELU: (0.0, _INFINITY),
    _ACTIVATIONS.RELU6: (0.0, 6.0),
    _ACTIVATIONS.RELU_N1_TO_1: (-1.0, 1.0),
}


def apply_activation(node: TfliteNodeContext, value: Node | Output) -> Output:
    """The value after the activation function that is fused into the operator. Raises FrontendError."""
    function, value = node.get_attribute("fused_activation_function", _ACTIVATIONS.NONE), as_output(value)
    if function == _ACTIVATIONS.NONE:
        return value
    if function == _ACTIVATIONS.RELU:
        return ops.Relu(value).output(0)
    if function == _ACTIVATIONS.TANH:
        return ops.Tanh(value).output(0)
    return ops.Clamp(value, *activation_range(node)).output(0)


def activation_range(node: TfliteNodeContext) -> tuple[float, float]:
    """The least and the greatest number that the fused activation function lets through. Raises FrontendError."""
    function = node.get_attribute("fused_activation_function", _ACTIVATIONS.NONE)
    if function not in _RANGES:
        raise FrontendError(f"the fused activation function {function} is not supported")
    return _RANGES[function]


def clamp_to_activation(node: TfliteNodeContext, value: Output) -> Output:
    """Integers that stand for numbers as those of output 0, after the fused activation function, which only cuts.
    Raises FrontendError."""
    if activation_range(node) == (-_INFINITY, _INFINITY):
        return value
    return ops.Clamp(value, *quantized_range(node)).output(0)


def quantized_range(node: TfliteNodeContext) -> tuple[int, int]:
    """The least and the greatest integer that output 0 may hold after the fused activation function.
    Raises FrontendError."""
    tensor = node.output_tensor(0)
    params, limits = tensor.quantization, np.iinfo(tensor.element_type.to_dtype())
    cut = (np.rint(number / params.scale) + params.zero_point for number in activation_range(node))
    least, most = (int(np.clip(number, limits.min, limits.max)) for number in cut)
    return least, most


def auto_pad(node: TfliteNodeContext) -> str:
    """How convolutions and poolings pad, in OpenVINO's words."""
    return "same_upper" if node.get_attribute("padding") == tflite.Padding.SAME else "valid"

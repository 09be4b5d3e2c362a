"""States of recurrent operators: inputs that are variable tensors, which persist between inferences."""

from __future__ import annotations

from hetero.frontend.tflite.decoded import DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.graph import Output


def update_state(node: TfliteNodeContext, index: int, value: Output) -> None:
    """Store real values in a state input, quantized as the tensor declares."""
    tensor = node.input_tensor(index)
    params = tensor.quantization
    node.set_variable_input(index, value if params is None else quantize(value, params, tensor.element_type))


def fake_quantize(value: Output, tensor: DecodedTensor) -> Output:
    """Round real values to those that a quantized tensor can represent."""
    params = tensor.quantization
    return value if params is None else dequantize(quantize(value, params, tensor.element_type), params)

"""States: inputs that are variable tensors, which keep numbers from one inference to the next."""

from __future__ import annotations

from hetero.frontend.tflite.decoded import DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.graph import Output


def update_state(node: TfliteNodeContext, index: int, value: Output) -> None:
    """Let an input that is a state hold these numbers from now on."""
    tensor = node.input_tensor(index)
    params = tensor.quantization
    node.set_variable_input(index, value if params is None else quantize(value, params, tensor.element_type))


def fake_quantize(value: Output, tensor: DecodedTensor) -> Output:
    """Numbers as a tensor can hold them."""
    params = tensor.quantization
    return value if params is None else dequantize(quantize(value, params, tensor.element_type), params)

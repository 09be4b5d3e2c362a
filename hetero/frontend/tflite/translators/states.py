"""States: inputs that are variable tensors, which keep numbers from one inference to the next."""

from __future__ import annotations

from hetero.frontend.tflite.decoded import DecodedTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.graph import Output


def keep(node: TfliteNodeContext, index: int, value: Output) -> None:
    """Let an input that is a state hold these numbers from now on."""
    tensor = node.input_tensor(index)
    by = tensor.quantization
    node.set_variable_input(index, value if by is None else quantize(value, by, tensor.element_type))


def rounded(value: Output, tensor: DecodedTensor) -> Output:
    """Numbers as a tensor can hold them."""
    by = tensor.quantization
    return value if by is None else dequantize(quantize(value, by, tensor.element_type), by)

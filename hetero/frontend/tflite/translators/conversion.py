"""Conversions between element types."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, quantize
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64


@translator("CAST")
def cast(node: TfliteNodeContext) -> Translation:
    """Integers that stand for numbers are taken as they are, and of complex numbers the real parts."""
    value = node.get_input(0)
    if node.input_tensor(0).is_complex:
        value = ops.Gather(value, int64(0), int64(-1)).output(0)
    return converted(value, node.output_tensor(0).element_type)


@translator("DEQUANTIZE")
def from_integers(node: TfliteNodeContext) -> Translation:
    """Of halves, too."""
    by, value = node.input_tensor(0).quantization, node.get_input(0)
    return converted(value if by is None else dequantize(value, by), node.output_tensor(0).element_type)


@translator("QUANTIZE")
def to_integers(node: TfliteNodeContext) -> Translation:
    """Of integers of another scale, too."""
    value, source, target = node.get_input(0), node.input_tensor(0), node.output_tensor(0)
    if source.quantization is not None:
        if source.element_type is target.element_type and source.quantization.equals(target.quantization):
            return value
        value = dequantize(value, source.quantization)
    return quantize(value, target.quantization, target.element_type)


@translator("DENSIFY")
def densify(node: TfliteNodeContext) -> Translation:
    """Constants are dense once they are read."""
    return node.get_input(0)

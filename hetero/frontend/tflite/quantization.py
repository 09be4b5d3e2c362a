"""Quantized tensors: real value = (integer - zero point) · scale, per tensor or per channel of one axis.

The scheme is the TensorFlow Lite 8-bit quantization specification's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.core.types import Type
from hetero.frontend.numerics import quantization
from hetero.frontend.translation.translators import Translation, as_outputs
from hetero.frontend.translation.values import rank_of
from hetero.graph import Constant, Output, constant_array
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.tflite.node_context import TfliteNodeContext


class Quantization(NamedTuple):
    """Quantization parameters: scales, f32, and zero points, i32, both ``[1]`` or ``[length of the axis]``."""

    scales: np.ndarray
    zero_points: np.ndarray
    axis: int = 0

    @property
    def is_per_channel(self) -> bool:
        return self.scales.size > 1

    @property
    def scale(self) -> float:
        """The scale of per-tensor quantization."""
        return float(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The zero point of per-tensor quantization."""
        return int(self.zero_points[0])

    def equals(self, other: Quantization | None) -> bool:
        """Return whether equal integers have equal real values in both."""
        return (
            other is not None
            and np.array_equal(self.scales, other.scales)
            and np.array_equal(self.zero_points, other.zero_points)
            and (self.axis == other.axis or not self.is_per_channel)
        )

    def broadcastable(self, numbers: np.ndarray, rank: int) -> Output:
        """Return scales or zero points as a Constant of a shape that broadcasts to a tensor of this rank."""
        shape = (*[1] * self.axis, -1, *[1] * (rank - self.axis - 1)) if self.is_per_channel else ()
        return Constant(numbers.reshape(shape)).output(0)


def dequantize(value: Output, params: Quantization) -> Output:
    """Convert quantized integers to f32."""
    return quantization.dequantize(value, *_scale_and_zero_point(value, params), Type.f32)


def quantize(value: Output, params: Quantization, kind: Type) -> Output:
    """Quantize f32 values, rounding halves to even as XNNPACK does."""
    return quantization.quantize(value, *_scale_and_zero_point(value, params), kind)


def _scale_and_zero_point(value: Output, params: Quantization) -> tuple[Output, Output]:
    rank = rank_of(value) if params.is_per_channel else 0
    return params.broadcastable(params.scales, rank), params.broadcastable(params.zero_points, rank)


def hybrid_weights(value: Output, params: Quantization) -> tuple[Output, Quantization]:
    """Return the weights of a hybrid operator (float data, quantized weights) and their quantization.

    Weights stored as u8 really are i8 with a zero point of 0: that is how older converters stored them.
    """
    data = constant_array(value)
    if data is None or data.dtype != np.uint8:
        return value, params
    return Constant(data.view(np.int8)).output(0), params._replace(zero_points=np.zeros_like(params.zero_points))


Translator = Callable[["TfliteNodeContext"], Translation]


def computes_in_float(translate: Translator) -> Translator:
    """Decorator: dequantize the inputs for the translator and quantize its outputs as the file declares."""

    @functools.wraps(translate)
    def translate_quantized(node: TfliteNodeContext) -> Translation:
        if node.output_tensor(0).is_complex:
            raise FrontendError("it is not supported for complex numbers")
        inputs = [_dequantized_input(node, index) for index in range(node.get_input_size())]
        outputs = as_outputs(translate(node.with_inputs(inputs)))
        return [_quantized_output(node, index, output) for index, output in enumerate(outputs)]

    return translate_quantized


def preserves_quantization(translate: Translator) -> Translator:
    """Decorator for a translator that only moves or compares elements and so works on quantized integers directly.

    If the quantization differs between inputs and outputs, the translator gets dequantized inputs instead.
    """
    translate_in_float = computes_in_float(translate)

    @functools.wraps(translate)
    def translate_quantized(node: TfliteNodeContext) -> Translation:
        schemes = [node.output_tensor(index).quantization for index in range(node.get_output_size())]
        for index in range(node.get_input_size()):
            # Inputs of another type, such as i32 shapes and indices, do not count.
            if node.has_input(index) and node.input_tensor(index).element_type is node.output_tensor(0).element_type:
                schemes.append(node.input_tensor(index).quantization)
        first = schemes[0]
        same = all(other is None if first is None else first.equals(other) for other in schemes)
        return translate(node) if same else translate_in_float(node)

    return translate_quantized


def _dequantized_input(node: TfliteNodeContext, index: int) -> Output | None:
    value, params = node.get_optional_input(index), node.input_tensor(index).quantization
    if value is None or params is None:
        return value
    is_hybrid = node.get_input(0).element_type.is_real()
    return dequantize(*hybrid_weights(value, params)) if is_hybrid else dequantize(value, params)


def _quantized_output(node: TfliteNodeContext, index: int, output: Output) -> Output:
    tensor = node.output_tensor(index)
    if tensor.quantization is None or not output.element_type.is_real():
        return output
    return quantize(output, tensor.quantization, tensor.element_type)

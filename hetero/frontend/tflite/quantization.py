"""Quantized tensors: a number is (integer − zero point) · scale, with one scale for all or one for each slice.

The scheme is that of the TensorFlow Lite 8-bit quantization specification.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.errors import FrontendError
from hetero.frontend import quantization
from hetero.frontend.translation import Translation, as_outputs
from hetero.frontend.values import rank_of
from hetero.graph import Constant, Output, is_constant
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.frontend.tflite.node_context import TfliteNodeContext


class Quantization(NamedTuple):
    """Scales, f32, and zero points, i32, both ``[1]`` or ``[the length of the axis]``."""

    scales: np.ndarray
    zero_points: np.ndarray
    axis: int = 0

    @property
    def is_per_channel(self) -> bool:
        return self.scales.size > 1

    @property
    def scale(self) -> float:
        """The scale of a tensor that has one."""
        return float(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor that has one."""
        return int(self.zero_points[0])

    def equals(self, other: Quantization | None) -> bool:
        """Whether integers of one mean the same numbers in the other."""
        return (
            other is not None
            and np.array_equal(self.scales, other.scales)
            and np.array_equal(self.zero_points, other.zero_points)
            and (self.axis == other.axis or not self.is_per_channel)
        )

    def broadcastable(self, numbers: np.ndarray, rank: int) -> Output:
        """Scales or zero points in a shape that broadcasts to a tensor of this rank."""
        shape = (*[1] * self.axis, -1, *[1] * (rank - self.axis - 1)) if self.is_per_channel else ()
        return Constant(numbers.reshape(shape)).output(0)


def dequantize(value: Output, params: Quantization) -> Output:
    """The numbers, f32, that integers stand for."""
    return quantization.dequantize(value, *_scale_and_zero_point(value, params), Type.f32)


def quantize(value: Output, params: Quantization, kind: Type) -> Output:
    """The nearest integers to numbers, f32; of two equally near ones the even one, as XNNPACK has it."""
    return quantization.quantize(value, *_scale_and_zero_point(value, params), kind)


def _scale_and_zero_point(value: Output, params: Quantization) -> tuple[Output, Output]:
    rank = rank_of(value) if params.is_per_channel else 0
    return params.broadcastable(params.scales, rank), params.broadcastable(params.zero_points, rank)


def hybrid_weights(value: Output, params: Quantization) -> tuple[Output, Quantization]:
    """Weights beside data of floats, and what they are quantized by. Bytes without a sign are those of i8: so weights
    were kept before there were tensors of i8."""
    if not is_constant(value) or value.element_type is not Type.u8:
        return value, params
    return Constant(value.node.data.view(np.int8)).output(0), params._replace(
        zero_points=np.zeros_like(params.zero_points)
    )


Translator = Callable[["TfliteNodeContext"], Translation]


def computes_in_float(translate: Translator) -> Translator:
    """Decorator: the function is given the numbers that quantized inputs stand for, and what it makes of them is
    quantized as the node's outputs are."""

    @functools.wraps(translate)
    def translate_quantized(node: TfliteNodeContext) -> Translation:
        if node.output_tensor(0).is_complex:
            raise FrontendError("it is not supported for complex numbers")
        inputs = [_numbers(node, index) for index in range(node.get_input_size())]
        outputs = as_outputs(translate(node.with_inputs(inputs)))
        return [_as_declared(node, index, output) for index, output in enumerate(outputs)]

    return translate_quantized


def preserves_quantization(translate: Translator) -> Translator:
    """Decorator: the function moves elements and computes nothing, so it takes integers as they are where they mean the
    same numbers in all inputs and outputs that are quantized; else it is given the numbers."""
    on_others = computes_in_float(translate)

    @functools.wraps(translate)
    def translate_quantized(node: TfliteNodeContext) -> Translation:
        schemes = [node.output_tensor(index).quantization for index in range(node.get_output_size())]
        for index in range(node.get_input_size()):
            # Constants of i32 beside quantized data are shapes and places.
            if node.has_input(index) and node.input_tensor(index).element_type is node.output_tensor(0).element_type:
                schemes.append(node.input_tensor(index).quantization)
        first = schemes[0]
        same = all(other is None if first is None else first.equals(other) for other in schemes)
        return translate(node) if same else on_others(node)

    return translate_quantized


def _numbers(node: TfliteNodeContext, index: int) -> Output | None:
    value, params = node.get_optional_input(index), node.input_tensor(index).quantization
    if value is None or params is None:
        return value
    of_floats = node.get_input(0).element_type.is_real()
    return dequantize(*hybrid_weights(value, params)) if of_floats else dequantize(value, params)


def _as_declared(node: TfliteNodeContext, index: int, output: Output) -> Output:
    tensor = node.output_tensor(index)
    if tensor.quantization is None or not output.element_type.is_real():
        return output
    return quantize(output, tensor.quantization, tensor.element_type)

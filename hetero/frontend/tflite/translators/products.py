"""Sums of products of data and weights: what convolutions and products of matrices share.

Of quantized ones the sums are exact, in integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.frontend.quantization import converted, quantize_scaled, subtract_zero_point
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import dequantize, weights_of_floats
from hetero.frontend.tflite.translators.common import activated, integer_range
from hetero.frontend.values import rank_of, reshape
from hetero.graph import Constant, Output, is_constant
from hetero.types import Type


class Products:
    """A node that adds up products: which of its inputs are the data, the weights and the bias.

    Weights may be integers where data and results are numbers (dynamic-range quantization). They are dequantized then:
    LiteRT quantizes the data too, row by row, which takes longer here than it saves, and is less accurate.
    """

    def __init__(self, node: TfliteNodeContext, data: int = 0, weights: int = 1, bias: int = 2) -> None:
        self.node, self._data, self._weights, self._bias = node, data, weights, bias
        self._output = node.output_tensor(0)
        self.is_quantized = None not in (node.input_tensor(data).quantization, self._output.quantization)

    def data(self, value: Output) -> Output:
        """Numbers, or integers less their zero point, for the data in any layout."""
        return self._factor(value, self._data, 0)

    def weights(self, value: Output, axis: int = 0) -> Output:
        """The same for the weights, in a layout with the axis of their scales at ``axis``."""
        return self._factor(value, self._weights, axis)

    def _factor(self, value: Output, index: int, axis: int) -> Output:
        by = self.node.input_tensor(index).quantization
        if not self.is_quantized:
            numbers = value if by is None else dequantize(*weights_of_floats(value, by._replace(axis=axis)))
            return converted(numbers, Type.f32)
        by = by._replace(axis=axis)
        return subtract_zero_point(value, by.spread(by.zero_points, rank_of(value)), self._sums_in())

    def _sums_in(self) -> Type:
        """The integers that hold all sums. Only those of data of 16 bits may be too large for i32."""
        if self.node.input_tensor(self._data).element_type is not Type.i16:
            return Type.i32
        factors = [self.node.get_input(index) for index in (self._weights, self._bias) if self.node.has_input(index)]
        channels = self._output.partial_shape[-1]
        if not all(map(is_constant, factors)) or channels.is_dynamic:
            return Type.i64
        weights, *bias = (value.node.data for value in factors)
        count = weights.size // max(channels.get_length(), 1)
        largest = (_magnitude(weights) * count << 15) + sum(map(_magnitude, bias))
        return Type.i32 if largest < 1 << 31 else Type.i64

    def finished(self, total: Output, shape: Sequence[int]) -> Output:
        """The sums with the bias, the fused activation function and, of integers, in the scale of the output.

        ``shape``: in which a vector with an element for each channel broadcasts to the sums.
        """
        if self.node.has_input(self._bias):
            bias = reshape(self.node.get_input(self._bias), shape)
            total = ops.Add(total, converted(bias, total.element_type)).output(0)
        return self._scaled(total, shape) if self.is_quantized else activated(self.node, total)

    def _scaled(self, total: Output, shape: Sequence[int]) -> Output:
        data, weights = (self.node.input_tensor(index).quantization for index in (self._data, self._weights))
        by = self._output.quantization
        # One factor for all or for each channel, f32, as XNNPACK has it.
        factor = data.scales * weights.scales / by.scales
        factor = factor.reshape(shape if factor.size > 1 else ())
        scaled = ops.Multiply(ops.Convert(total, Type.f32), Constant(factor)).output(0)
        zero_point = by.spread(by.zero_points, 0)
        return quantize_scaled(scaled, zero_point, self._output.element_type, limits=integer_range(self.node))


def _magnitude(array: np.ndarray) -> int:
    return int(np.abs(array.astype(np.int64)).max(initial=0))

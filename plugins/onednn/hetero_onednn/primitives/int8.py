"""Products of 8-bit integers, for convolutions and matrix products of quantized values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hetero.graph import Output, constant_array
from hetero_onednn.library.api import Argument, DataType
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import plain
from hetero_onednn.lowering import Lowering
from hetero_onednn.program import Value
from hetero_onednn.quantization import Quantized, quantized, quantized_weights


@dataclass(frozen=True)
class Int8Operands:
    """Integers with the scale and the zero point of the data, and the scales of the weights."""

    data: Quantized
    weights: np.ndarray
    scales: np.ndarray

    def describe(self, attributes: Attributes, weights_mask: int) -> None:
        """Set the attributes; ``weights_mask`` has the axes of the weights along which their scales are."""
        attributes.set_quantization(weights_mask, bool(self.data.zero_point))

    def arguments(self, lowering: Lowering) -> Mapping[int, Value]:
        """Return the arguments with scales and zero points."""
        values: dict[int, Value] = {
            Argument.scales | Argument.src: lowering.constant(np.array([self.data.scale], np.float32)),
            Argument.scales | Argument.weights: lowering.constant(self.scales),
        }
        if self.data.zero_point:
            number = np.array([self.data.zero_point], np.int32)
            values[Argument.zero_points | Argument.src] = lowering.constant(number, plain([1], DataType.s32))
        return values


def int8_operands(
    lowering: Lowering, data: Output, weights: Output, quantize: Callable[[np.ndarray], tuple | None]
) -> Int8Operands | None:
    """Return the integers behind two operands, None if they are no products of integers with scales.

    ``quantize`` returns the integers and the scales of constant weights, as ``quantized_weights``.
    """
    source, array = quantized(data), constant_array(weights)
    if source is None or array is None:
        return None
    quantization = lowering.constants.derived(array, quantize)
    return None if quantization is None else Int8Operands(source, *quantization)


def quantized_group_filters(filters: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return integers and scales for filters ``[groups, channels, …]``."""
    quantization = quantized_weights(filters.reshape(-1, *filters.shape[2:]))
    return None if quantization is None else (quantization[0].reshape(filters.shape), quantization[1])


def quantized_columns(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return integers and scales for a matrix ``[sums, columns]``."""
    quantization = quantized_weights(matrix.T)
    return None if quantization is None else (np.ascontiguousarray(quantization[0].T), quantization[1])

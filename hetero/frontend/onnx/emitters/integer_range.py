"""Ranges of integers, which decide whether a convolution of integers can be computed in f32."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_writer import NotInOnnx
from hetero.graph import Output, constant_array
from hetero.ops.convolution import ForwardConvolution

# f32 has all integers up to this magnitude.
_LARGEST_EXACT = 2**24


def exact_filters(node: ForwardConvolution) -> list[tuple[int, np.ndarray | None]]:
    """Return filters with factors, whose convolutions f32 represents and add up to that of the node.

    None stands for the filters as they are. Quantized data and weights are 8-bit numbers from which a zero point may
    be subtracted. Raises NotInOnnx if the sums of products are too large even for a division of the filters into their
    lower 4 bits and the others.
    """
    data, filters = node.input_values()
    weights, largest = _known(filters), _magnitude(data)
    axes = tuple(range(node.filter_axes - 1, len(filters.partial_shape))) if filters.partial_shape.has_rank else ()

    def is_exact(array: np.ndarray) -> bool:
        return float(np.abs(array).sum(axes).max(initial=0)) * largest <= _LARGEST_EXACT

    if weights is None and filters.partial_shape.is_static:
        if is_exact(np.broadcast_to(_magnitude(filters), filters.shape)):
            return [(1, None)]
    elif weights is not None:
        if is_exact(weights):
            return [(1, None)]
        upper, lower = np.divmod(weights, 16)
        if np.abs(weights).max() < 2**11 and is_exact(upper) and is_exact(lower):
            return [(16, upper.astype(np.int8)), (1, lower.astype(np.int8))]
    raise NotInOnnx(f"element type {data.element_type} and sums that f32 does not represent")


def _known(value: Output) -> np.ndarray | None:
    """Return the numbers of a Constant, also after Convert and Subtract."""
    array = constant_array(value)
    if array is not None:
        return array.astype(np.float64)
    if isinstance(value.node, ops.Convert):
        return _known(value.node.input_value(0))
    if isinstance(value.node, ops.Subtract):
        numbers, zero_point = map(_known, value.node.input_values())
        return None if numbers is None or zero_point is None else numbers - zero_point
    return None


def _range(value: Output) -> tuple[float, float]:
    """Return the smallest and the largest number that a value can have, which may be infinite."""
    known, node, kind = _known(value), value.node, value.element_type
    if known is not None and known.size:
        return float(known.min()), float(known.max())
    if kind.is_integer() and kind.bitwidth <= 16:
        limits = ml_dtypes.iinfo(kind.to_dtype())
        return float(limits.min), float(limits.max)
    if isinstance(node, ops.Subtract):
        (low, high), (first, last) = map(_range, node.input_values())
        return low - last, high - first
    if isinstance(node, ops.Clamp):
        return node.min_value, node.max_value
    if isinstance(node, (ops.Convert, ops.Transpose, ops.Reshape)):
        return _range(node.input_value(0))
    return -np.inf, np.inf


def _magnitude(value: Output) -> float:
    return max(map(abs, _range(value)))

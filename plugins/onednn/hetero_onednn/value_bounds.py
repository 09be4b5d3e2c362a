"""Bounds of values: which of them are finite if the inputs of the model are ordinary numbers.

The bound of a value that may be NaN for some numbers, such as a quotient, is infinity. A bound above LARGEST is that of
a value that may be too large for f32, as the sums of deep networks by the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, constant_array
from hetero_onednn.program import Constants

#: The largest bound of values that are finite for certain, also while primitives add them up.
LARGEST = 1e36
# Bounds stay below this number unless they are infinite, so that their products are finite.
_CAP = 1e150
_INTEGERS = {Type.i8: 128.0, Type.u8: 255.0, Type.boolean: 1.0, Type.i32: 2.0**31}
# Operations whose results are some of their elements.
_MOVEMENTS = (
    ops.Reshape, ops.Transpose, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, ops.Split, ops.VariadicSplit,
    ops.Slice, ops.StridedSlice, ops.Gather, ops.Broadcast, ops.Tile, ops.DepthToSpace, ops.SpaceToDepth, ops.Abs,
    ops.Negative, ops.Relu, ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1, ops.AvgPool, ops.AvgPoolV14, ops.AvgPoolV1,
    ops.ReduceMax, ops.ReduceMin, ops.ReduceMean, ops.HSwish, ops.Swish, ops.Mish, ops.Gelu, ops.GeluV2, ops.Convert,
)  # fmt: skip
_UP_TO_1 = (ops.Sigmoid, ops.Tanh, ops.HSigmoid, ops.HardSigmoid, ops.Softmax)


def value_bounds(model: Model, largest_input: float, constants: Constants) -> dict[Output, float]:
    """Return a bound of the magnitude of each value, for inputs of real numbers up to ``largest_input``.

    Requires: all shapes are static.
    """
    bounds: dict[Output, float] = {}
    for node in model.get_ordered_ops():
        bound = _bound(node, [bounds[value] for value in node.input_values()], largest_input, constants)
        bounds.update(dict.fromkeys(node.outputs(), bound if bound == math.inf else min(bound, _CAP)))
    return bounds


def _bound(node: Node, inputs: Sequence[float], largest_input: float, constants: Constants) -> float:
    if isinstance(node, Parameter):
        return _INTEGERS.get(node.get_element_type(), largest_input)
    if isinstance(node, Constant):
        return constants.derived(node.data, _magnitude)
    if not inputs or inputs[0] == math.inf:
        return math.inf
    if type(node) in _MOVEMENTS:
        return inputs[0]
    if type(node) in _UP_TO_1:
        return 1.0
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node, inputs)
    if type(node) in _SUMS_OF_FILTERS or type(node) is ops.MatMul:
        return inputs[0] * _gain(node, inputs[1], constants)
    return math.inf


def _magnitude(array: np.ndarray) -> float:
    """Return the largest magnitude of a constant, infinity if one is no number."""
    if array.dtype.kind not in "fiub" or not array.size:
        return math.inf if array.size else 0.0
    return float(np.nan_to_num(np.abs(array.astype(np.float32, copy=False)), nan=math.inf).max())


def _gain(node: Any, largest: float, constants: Constants) -> float:
    """Return how often the largest value of the data the results of a product are at most."""
    weights = constant_array(node.input_value(1))
    shape = node.input_value(1).shape
    if weights is None:
        return math.prod(shape) * largest
    if type(node) is ops.MatMul:
        return constants.derived(weights, _sums_of_rows if node.transpose_b else _sums_of_columns)
    return constants.derived(weights, _SUMS_OF_FILTERS[type(node)])


def _sums_of_filters(filters: np.ndarray) -> float:
    """Return the largest sum of magnitudes of the weights of a result."""
    return _magnitude(np.abs(filters.reshape(len(filters), -1)).sum(1))


def _sums_of_group_filters(filters: np.ndarray) -> float:
    return _sums_of_filters(filters.reshape(-1, *filters.shape[2:]))


def _sums_of_turned_filters(filters: np.ndarray) -> float:
    return _sums_of_filters(filters.swapaxes(0, 1))


def _sums_of_turned_group_filters(filters: np.ndarray) -> float:
    return _sums_of_group_filters(filters.swapaxes(1, 2))


_SUMS_OF_FILTERS = {
    ops.Convolution: _sums_of_filters,
    ops.GroupConvolution: _sums_of_group_filters,
    ops.ConvolutionBackpropData: _sums_of_turned_filters,
    ops.GroupConvolutionBackpropData: _sums_of_turned_group_filters,
}


def _sums_of_rows(matrix: np.ndarray) -> float:
    return _magnitude(np.abs(matrix).sum(-1))


def _sums_of_columns(matrix: np.ndarray) -> float:
    return _magnitude(np.abs(matrix).sum(-2 if matrix.ndim > 1 else -1))


def _clamped(node: Any, inputs: Sequence[float]) -> float:
    return min(inputs[0], max(abs(node.min_value), abs(node.max_value)))


def _padded(node: Any, inputs: Sequence[float]) -> float:
    return max(inputs[0], inputs[3] if len(inputs) > 3 else 0.0)


def _quotient(node: Any, inputs: Sequence[float]) -> float:
    divisor = constant_array(node.input_value(1))
    least = 0.0 if divisor is None or not divisor.size else float(np.abs(divisor).min())
    return inputs[0] / least if least > 0 and divisor is not None else math.inf


def _sum_of_elements(node: Any, inputs: Sequence[float]) -> float:
    return inputs[0] * math.prod(node.input_value(0).shape)


def _power(node: Any, inputs: Sequence[float]) -> float:
    exponent = constant_array(node.input_value(1))
    return inputs[0] ** 2 if exponent is not None and (exponent == 2).all() else math.inf


def _normalized(node: Any, inputs: Sequence[float]) -> float:
    """A difference to a mean divided by a standard deviation is at most the root of the number of elements."""
    count = math.prod(node.input_value(0).shape)
    return math.sqrt(count) if count * inputs[0] * inputs[0] < LARGEST and getattr(node, "eps", 1) > 0 else math.inf


_RULES: dict[type[Node], Callable[[Any, Sequence[float]], float]] = {
    ops.Add: lambda node, inputs: sum(inputs),
    ops.Subtract: lambda node, inputs: sum(inputs),
    ops.Multiply: lambda node, inputs: inputs[0] * inputs[1],
    ops.SquaredDifference: lambda node, inputs: sum(inputs) ** 2 if math.inf not in inputs else math.inf,
    ops.Maximum: lambda node, inputs: max(inputs),
    ops.Minimum: lambda node, inputs: max(inputs),
    ops.Concat: lambda node, inputs: max(inputs),
    ops.PRelu: lambda node, inputs: inputs[0] * max(1.0, inputs[1]),
    ops.Elu: lambda node, inputs: max(inputs[0], abs(node.alpha)),
    ops.Exp: lambda node, inputs: math.exp(min(inputs[0], 100.0)),
    ops.Clamp: _clamped,
    ops.Round: lambda node, inputs: inputs[0] + 1,
    ops.Pad: _padded,
    ops.Divide: _quotient,
    ops.ReduceSum: _sum_of_elements,
    ops.ReduceL1: _sum_of_elements,
    ops.Power: _power,
    ops.MVN: _normalized,
    ops.Interpolate: lambda node, inputs: 4 * inputs[0],
    ops.LRN: lambda node, inputs: inputs[0] if node.bias >= 1 and node.alpha >= 0 and node.beta >= 0 else math.inf,
}

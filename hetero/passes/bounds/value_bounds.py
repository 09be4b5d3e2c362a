"""Bounds of real values: which of them are finite if the inputs of the model are ordinary numbers.

The bound of a value that may be NaN for some numbers, such as a quotient, is infinity. A bound above LARGEST is that of
a value that may be too large for f32, as the sums of deep networks by the worst case; so is that of what is computed
from it, as it may be infinite or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.dimension import Dimension
from hetero.core.lengths.length import most
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, constant_array
from hetero.ops.control_flow.bodies import MergedInputDescription, MultiSubGraphOp
from hetero.ops.control_flow.control_flow import If
from hetero.ops.reduction import Reduction
from hetero.passes.bounds.intervals import interval_of_type, is_integral

#: The largest bound of values that are finite for certain, also while primitives add them up.
LARGEST = 1e36
# Bounds stay below this number unless they are infinite, so that their products are finite.
_CAP = 1e150
# The gain that layers of trained networks have by the worst case.
_USUAL_GAIN = 1e4
# No axis is longer.
_LONGEST = 2**31
# f16 ends below the largest inputs.
_WIDE_TYPES = (Type.f32, Type.bf16, Type.f64)
# Operations whose results are some of their elements.
_MOVEMENTS = (
    ops.Reshape, ops.Transpose, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, ops.Split, ops.VariadicSplit,
    ops.Slice, ops.StridedSlice, ops.Broadcast, ops.Tile, ops.DepthToSpace, ops.SpaceToDepth, ops.ShuffleChannels,
    ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1, ops.ReduceMax, ops.ReduceMin,
)  # fmt: skip
# Further operations whose results are at most as large as their elements.
_SHRINKING = (
    ops.Abs, ops.Negative, ops.Relu, ops.AvgPool, ops.AvgPoolV14, ops.AvgPoolV1, ops.ReduceMean, ops.HSwish, ops.Swish,
    ops.Mish, ops.Gelu, ops.GeluV2, ops.Convert, ops.GatherV1, ops.GatherV7, ops.Gather, ops.GatherElements,
)  # fmt: skip
_PRODUCTS = (
    ops.Convolution, ops.GroupConvolution, ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, ops.MatMul,
)  # fmt: skip
_FROM_0_TO_1 = (ops.Sigmoid, ops.HSigmoid, ops.HardSigmoid, ops.Softmax, ops.SoftmaxV1)
_UP_TO_1 = (*_FROM_0_TO_1, ops.Tanh, ops.Erf, ops.Sin, ops.Cos, ops.Sign)
_NOT_NEGATIVE = (*_FROM_0_TO_1, ops.Abs, ops.Relu, ops.Exp, ops.SquaredDifference, ops.ReduceL1)
_SUMS = (ops.ReduceMean, ops.ReduceSum, ops.AvgPool, ops.AvgPoolV14, ops.AvgPoolV1)

# The least divisor whose reciprocal is finite for certain.
_LEAST_DIVISOR = 1e-36

# Returns what a function computes from a constant's array, which it may have kept.
Derive = Callable[[np.ndarray, Callable[[np.ndarray], Any]], Any]


def _apply(array: np.ndarray, function: Callable[[np.ndarray], Any]) -> Any:
    """Return what a function computes from a constant's array, without keeping it."""
    return function(array)


def value_bounds(
    model: Model,
    largest_input: float,
    derive: Derive = _apply,
    *,
    limit: float = math.inf,
    is_trained: bool = False,
) -> dict[Output, float]:
    """Return a bound of the magnitude of each value, also in bodies, for real inputs up to ``largest_input``.

    A larger bound than ``limit`` is infinite, as is that of what depends on the value, which may be infinite or NaN.
    With ``is_trained`` layers let values grow only by what exceeds a usual gain, as the values of trained networks stay
    far below the worst case.
    """
    bounds = ValueBounds(largest_input, derive, limit=limit, is_trained=is_trained)
    bounds.add(model)
    return bounds.largest


@np.errstate(over="ignore", invalid="ignore")
def is_ordinary(array: np.ndarray, largest_norm: float) -> bool:
    """Return whether all numbers are finite and their norm is at most ``largest_norm``; integers always are."""
    if array.dtype.kind in "iub":
        return True
    flat = array.astype(np.float32, copy=False).reshape(-1)
    # Fast, and not so for NaN.
    return bool(flat.dot(flat) <= largest_norm * largest_norm)


class ValueBounds:
    """The bounds of values so far, as ``value_bounds`` returns them."""

    def __init__(
        self, largest_input: float, derive: Derive = _apply, *, limit: float = math.inf, is_trained: bool = False
    ) -> None:
        self._largest_input, self.derive, self._limit, self._is_trained = largest_input, derive, limit, is_trained
        self.largest: dict[Output, float] = {}
        #: Numbers that no element is below.
        self.least: dict[Output, float] = {}

    def add(self, graph: Model, *, is_body: bool = False) -> None:
        for node in graph.get_ordered_ops():
            if not (is_body and isinstance(node, Parameter)):
                self.add_node(node)

    def add_node(self, node: Node) -> None:
        """Add the bounds of a node's outputs from those of its inputs."""
        if isinstance(node, MultiSubGraphOp):
            self._add_bodies(node)
        else:
            largest = self._largest(node)
            for value in node.outputs():
                self.set(value, largest)

    def grown(self, bound: float, gain: float) -> float:
        """Return the bound of the results of a layer from that of its data."""
        return bound * (max(1.0, gain / _USUAL_GAIN) if self._is_trained else gain)

    def set(self, value: Output, largest: float) -> None:
        """Set the bound of a value that is a number, as far as its type allows that."""
        if isinstance(value.node, Constant):
            self.largest[value], self.least[value] = largest, self.derive(value.node.data, _minimum)
        elif is_integral(value):  # never NaN, but sums wrap around
            assert isinstance(value.element_type, Type)
            interval = interval_of_type(value.element_type)
            self.largest[value], self.least[value] = interval.magnitude(), interval.low
        else:
            is_finite = largest < math.inf and largest <= self._limit and value.element_type in _WIDE_TYPES
            self.largest[value] = min(largest, _CAP) if is_finite else math.inf
            self.least[value] = self._least(value.node) if is_finite else -math.inf

    def _add_bodies(self, node: MultiSubGraphOp) -> None:
        for body, read in zip(node.bodies, node.input_descriptions):
            sources = {
                entry.body_parameter_index: self.largest[node.input_value(entry.input_index)]
                for entry in read
                if not isinstance(entry, MergedInputDescription)
            }
            for index, parameter in enumerate(body.parameters):
                self.set(parameter.output(0), sources.get(index, math.inf))
            self.add(body, is_body=True)
        # A loop without iterations returns what it begins with.
        initial = [] if isinstance(node, If) else [self.largest[value] for value in node.input_values()]
        for value in node.outputs():
            results = [
                self.largest[body.results[entry.body_value_index].input_value(0)]
                for body, written in zip(node.bodies, node.output_descriptions)
                for entry in written
                if entry.output_index == value.index
            ]
            self.set(value, max([*results, *initial]))

    def _largest(self, node: Node) -> float:
        """Return a bound of the results of a node."""
        if isinstance(node, Parameter):
            return self._largest_input
        if isinstance(node, Constant):
            return float(self.derive(node.data, _magnitude))
        inputs = [self.largest[source] for source in node.input_values()]
        if not inputs or math.inf in inputs:
            return math.inf
        largest = self._by_rule(node, inputs)
        return max(largest, *inputs) if max(inputs) > LARGEST else largest

    def _by_rule(self, node: Node, inputs: Sequence[float]) -> float:
        if type(node) in _MOVEMENTS or type(node) in _SHRINKING:
            return inputs[0]
        if type(node) in _UP_TO_1:
            return 1.0
        rule = _RULES.get(type(node))
        return math.inf if rule is None else rule(node, inputs, self)

    def _least(self, node: Node) -> float:
        kind, least = type(node), [self.least[source] for source in node.input_values()]
        if kind in _NOT_NEGATIVE or (kind in _SUMS and least[0] >= 0) or (kind is ops.Power and _is_square(node)):
            return 0.0
        if kind is ops.Multiply and (node.input_value(0) == node.input_value(1) or min(least) >= 0):
            return 0.0
        if kind in _MOVEMENTS or kind is ops.Convert:
            return least[0]
        rule = _LEAST.get(kind)
        return rule(node, least) if rule is not None else -math.inf


def _numbers(array: np.ndarray) -> np.ndarray:
    """Return the elements of a constant in f32, NaN if they are no numbers."""
    if array.dtype.kind not in "fiubV":
        return np.full(1, np.nan, np.float32)
    with np.errstate(over="ignore"):
        return array.astype(np.float32, copy=False)


def _magnitude(array: np.ndarray) -> float:
    """Return the largest magnitude of a constant, infinity if an element is no number."""
    numbers = _numbers(array)
    largest = max(float(numbers.max()), -float(numbers.min())) if numbers.size else 0.0
    return math.inf if math.isnan(largest) else largest


def _minimum(array: np.ndarray) -> float:
    """Return the least element of a constant, -infinity if an element is no number."""
    numbers = _numbers(array)
    least = float(numbers.min()) if numbers.size else math.nan
    return -math.inf if math.isnan(least) else least


def _least_magnitude(array: np.ndarray) -> float:
    return float(np.nan_to_num(np.abs(_numbers(array)), nan=0).min()) if array.size else 0.0


def _product(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    """Return the bound of the data times the largest sum of the magnitudes of weights of a result."""
    weights = constant_array(node.input_value(1))
    if weights is not None:
        sums = _SUMS_OF_FILTERS.get(type(node)) or (_sums_of_rows if node.transpose_b else _sums_of_columns)
        return bounds.grown(inputs[0], float(bounds.derive(weights, sums)))
    shape = node.get_input_partial_shape(1)
    if not shape.has_rank or len(shape) < 2:
        return math.inf
    if type(node) is ops.MatMul:
        return bounds.grown(inputs[0] * inputs[1], _length(shape[-1 if node.transpose_b else -2]))
    return bounds.grown(inputs[0], inputs[1] * math.prod(map(_length, shape)))


def _sums_of_filters(filters: np.ndarray) -> float:
    """Return the largest sum of magnitudes of the weights of a result."""
    return _magnitude(np.abs(_numbers(filters).reshape(len(filters), -1)).sum(1))


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
    return _magnitude(np.abs(_numbers(matrix)).sum(-1))


def _sums_of_columns(matrix: np.ndarray) -> float:
    return _magnitude(np.abs(_numbers(matrix)).sum(-2 if matrix.ndim > 1 else -1))


def _length(dimension: Dimension) -> float:
    """Return the largest length of a dimension."""
    return _LONGEST if dimension.max_length == -1 else min(_LONGEST, most(dimension.max_length))


def _count(node: Any) -> float:
    """Return the largest number of elements that a reduction combines, infinity if the rank is unknown."""
    shape = node.get_input_partial_shape(0)
    if not shape.has_rank:
        return math.inf
    axes = node.axes(len(shape)) if isinstance(node, Reduction) else None
    return math.prod(_length(shape[axis]) for axis in (range(len(shape)) if axes is None else axes))


def _sum(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return sum(inputs)


def _maximum(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return max(inputs)


def _clamped(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return min(inputs[0], float(max(abs(node.min_value), abs(node.max_value))))


def _padded(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return max(inputs[0], inputs[3] if len(inputs) > 3 else 0.0)


def _quotient(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    divisor = node.input_value(1)
    array = constant_array(divisor)
    least = bounds.least[divisor] if array is None else float(bounds.derive(array, _least_magnitude))
    return bounds.grown(inputs[0], 1 / least) if least >= _LEAST_DIVISOR else math.inf


def _root(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return math.sqrt(inputs[0]) if bounds.least[node.input_value(0)] >= 0 else math.inf


def _logarithm(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    least = bounds.least[node.input_value(0)]
    return math.inf if least < _LEAST_DIVISOR else max(abs(math.log(least)), abs(math.log(inputs[0])))


def _sum_of_elements(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return inputs[0] * _count(node)


def _is_square(node: Any) -> bool:
    exponent = constant_array(node.input_value(1))
    return exponent is not None and bool((exponent == 2).all())


def _power(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    return inputs[0] ** 2 if _is_square(node) else math.inf


def _normalized(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    """A difference to a mean divided by a standard deviation is at most the root of the number of elements."""
    count = _count(node)
    if not getattr(node, "normalize_variance", True):
        return 2 * inputs[0]
    return math.sqrt(count) if count * inputs[0] * inputs[0] < LARGEST and getattr(node, "eps", 1) > 0 else math.inf


def _batch_normalized(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    data, gamma, beta, mean, _ = inputs
    variance = bounds.least[node.input_value(4)]
    if variance < 0 or variance + node.epsilon < _LEAST_DIVISOR:
        return math.inf
    return bounds.grown(data + mean, gamma / math.sqrt(variance + node.epsilon)) + beta


def _recurrent(node: Any, inputs: Sequence[float], bounds: ValueBounds) -> float:
    """In each step an LSTM adds to its cells 1 at most; its hidden states are 1 at most."""
    data, hidden, cells, _, weights, recurrent, bias = inputs
    shape = node.get_input_partial_shape(0)
    if node.activations != node.default_activations or not shape.has_rank:
        return math.inf
    _, steps, size = map(_length, shape)
    sums = data * weights * size + max(hidden, 1) * recurrent * node.hidden_size + bias
    return max(hidden, cells + steps) if sums <= LARGEST else math.inf


_RULES: dict[type[Node], Callable[[Any, Sequence[float], ValueBounds], float]] = {
    **dict.fromkeys(_PRODUCTS, _product),
    ops.Add: _sum,
    ops.Subtract: _sum,
    ops.Multiply: lambda node, inputs, bounds: inputs[0] * inputs[1],
    ops.SquaredDifference: lambda node, inputs, bounds: sum(inputs) ** 2,
    ops.Maximum: _maximum,
    ops.Minimum: _maximum,
    ops.Concat: _maximum,
    ops.Select: lambda node, inputs, bounds: max(inputs[1:]),
    ops.FakeQuantize: lambda node, inputs, bounds: max(inputs[3:]),
    ops.PRelu: lambda node, inputs, bounds: bounds.grown(inputs[0], max(1.0, inputs[1])),
    ops.Elu: lambda node, inputs, bounds: max(inputs[0], abs(node.alpha)),
    ops.Exp: lambda node, inputs, bounds: math.exp(min(inputs[0], 100.0)),
    ops.Clamp: _clamped,
    ops.Round: lambda node, inputs, bounds: inputs[0] + 1,
    ops.Pad: _padded,
    ops.Divide: _quotient,
    ops.Sqrt: _root,
    ops.Log: _logarithm,
    ops.LSTMSequence: _recurrent,
    ops.ReduceSum: _sum_of_elements,
    ops.ReduceL1: _sum_of_elements,
    ops.Power: _power,
    ops.BatchNormInference: _batch_normalized,
    ops.MVN: _normalized,
    ops.Interpolate: lambda node, inputs, bounds: 4 * inputs[0],
    ops.LRN: lambda node, inputs, bounds: (
        inputs[0] if node.bias >= 1 and node.alpha >= 0 and node.beta >= 0 else math.inf
    ),
}
# Lower bounds of results for those of the inputs.
_LEAST: dict[type[Node], Callable[[Any, Sequence[float]], float]] = {
    ops.Add: lambda node, least: sum(least),
    ops.Maximum: lambda node, least: max(least),
    ops.Clamp: lambda node, least: max(least[0], node.min_value),
    ops.Sqrt: lambda node, least: math.sqrt(max(least[0], 0)),
}

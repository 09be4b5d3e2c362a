"""Intervals of integers: the least and the largest number of a value, for engines that compute in fewer bits.

Interval arithmetic as in R. E. Moore, "Interval Analysis", 1966, on the operations that compute shapes, indices and
masks; any other operation has the interval of its element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hetero import ops
from hetero.core.dimension import Dimension
from hetero.core.packing import is_packed
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output, Parameter
from hetero.ops.detection.nms import BoxSuppression
from hetero.ops.movement.slicing import Sliced
from hetero.ops.reduction import Reduction, TopKV1

# No axis is longer, and no loop repeats more often.
_LONGEST = 2**30


class Interval(NamedTuple):
    """All numbers from ``low`` to ``high``, which may be infinite."""

    low: float
    high: float

    def contains(self, other: Interval) -> bool:
        return self.low <= other.low and other.high <= self.high

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))


# The interval of an output of a node, from those of the node's inputs; None if it is not known.
Rule = Callable[[Node, Output, list[Interval]], "Interval | None"]

EVERYTHING = Interval(-math.inf, math.inf)
# Without the lowest number, so that negation and division stay within it.
I32 = Interval(1 - 2**31, 2**31 - 1)
# Of the number of an iteration of a loop.
ITERATIONS = Interval(0, _LONGEST)


def is_integral(value: Output) -> bool:
    """Return whether a value consists of integers or booleans."""
    return isinstance(value.element_type, Type) and value.element_type.is_integral()


def interval_of_type(kind: Type) -> Interval:
    """Return all numbers of an element type."""
    if kind is Type.boolean:
        return Interval(0, 1)
    if not kind.is_integral_number():
        return EVERYTHING
    bits = kind.bitwidth
    return Interval(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.is_signed() else Interval(0, 2**bits - 1)


class Intervals:
    """The intervals of values of integers, each found once."""

    def __init__(self) -> None:
        self._found: dict[Output, Interval] = {}

    def set(self, value: Output, interval: Interval) -> None:
        """State the interval of a value, such as of a Parameter."""
        self._found[value] = interval

    def of(self, value: Output) -> Interval:
        """Return the interval of a value."""
        waiting = [value]  # not recursive, as chains may be long
        while waiting:
            last = waiting[-1]
            sources = last.node.input_values() if _rule_of(last) and _known_elements(last) is None else []
            missing = [source for source in sources if source not in self._found]
            if missing and last not in self._found:
                waiting += missing
                continue
            waiting.pop()
            if last not in self._found:
                self._found[last] = self._interval(last)
        return self._found[value]

    def _interval(self, value: Output) -> Interval:
        whole, node = interval_of_type(value.element_type) if is_integral(value) else EVERYTHING, value.node
        found = _known_elements(value)
        if found is None and isinstance(node, Parameter) and node.known_interval is not None:
            found = Interval(*node.known_interval)
        is_wide = is_integral(value) and not is_packed(value.element_type)  # others would be decoded for little
        if found is None and isinstance(node, Constant) and is_wide:
            found = Interval(int(node.data.min()), int(node.data.max())) if node.data.size else Interval(0, 0)
        rule = _rule_of(value)
        if found is None and rule is not None:
            found = rule(node, value, [self._found[source] for source in node.input_values()])
        # What leaves the type wraps around.
        return found if found is not None and whole.contains(found) else whole


def _rule_of(value: Output) -> Rule | None:
    """Return the rule for a value of integers; None if its node has none."""
    if not is_integral(value):
        return None
    return next((rule for kinds, rule in _RULES if isinstance(value.node, kinds)), None)


def _known_elements(value: Output) -> Interval | None:
    """Return the interval of a value of which each element is a known number or a dimension."""
    if value.value is None or not value.value.size or not is_integral(value):
        return None
    bounds = [_of_dimension(e) if isinstance(e, Dimension) else Interval(int(e), int(e)) for e in value.value.flat]
    return hull(bounds)


def _of_dimension(dimension: Dimension) -> Interval:
    longest = _LONGEST if dimension.max_length == -1 else dimension.max_length
    return Interval(dimension.min_length, longest)


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the interval of all numbers of some intervals and those between."""
    lows, highs = zip(*intervals)
    return Interval(min(lows), max(highs))


def _same(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    return inputs[0]


def _same_or_zero(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    """Return the interval of data that an index out of range replaces by zero."""
    return inputs[0].union(Interval(0, 0))


def _combined(*indices: int) -> Rule:
    return lambda node, value, inputs: hull(inputs[i] for i in indices if i < len(inputs))


def _all_combined(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    return hull(inputs)


def _product(a: Interval, b: Interval) -> Interval:
    products = [x * y if x and y else 0 for x in a for y in b]
    return Interval(min(products), max(products))


def _divide(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    """Return the interval of quotients, of which the one by 0 is not defined."""
    data, divisor = inputs
    largest = data.magnitude()
    if divisor.low > 0 and math.isfinite(largest):
        largest = -(-largest // divisor.low)
    return Interval(0 if data.low >= 0 and divisor.low >= 0 else -largest, largest)


def _remainder(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    bound = inputs[1].magnitude() - 1
    return Interval(-bound, bound)


def _absolute(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    low, high = inputs[0]
    return Interval(0 if low <= 0 <= high else min(abs(low), abs(high)), inputs[0].magnitude())


def _bits(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    """Return all numbers with as many bits as those of the inputs."""
    largest = max(max(-1 - low, high) for low, high in inputs)
    if not math.isfinite(largest):
        return None
    limit = 2 ** int(largest).bit_length()
    return Interval(0 if all(interval.low >= 0 for interval in inputs) else -limit, limit - 1)


def _clamped(node: Node, value: Output, inputs: list[Interval]) -> Interval:
    assert isinstance(node, ops.Clamp)
    low, high = math.ceil(node.min_value) if math.isfinite(node.min_value) else node.min_value, node.max_value
    return Interval(min(max(inputs[0].low, low), high), max(min(inputs[0].high, high), low))


def _converted(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    return inputs[0] if is_integral(node.input_value(0)) else None


def _summed(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    """Return the interval of sums over axes of known lengths."""
    assert isinstance(node, (Reduction, ops.CumSum))
    shape = node.get_input_partial_shape(0)
    count = shape.element_count().max_length if shape.has_rank else -1
    if count == -1:
        return None
    return _product(inputs[0].union(Interval(0, 0)), Interval(0, count))


def _multiplied(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    """Return the interval of products of matrices with a known common length."""
    assert isinstance(node, ops.MatMul)
    shape = node.get_input_partial_shape(0)
    if not shape.has_rank or not len(shape):
        return None
    common = shape[-2 if node.transpose_a and len(shape) > 1 else -1].max_length
    return None if common == -1 else _product(_product(*inputs), Interval(0, common))


def _positions(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    return inputs[0] if value.index == 0 else Interval(0, _LONGEST)


def _powered(node: Node, value: Output, inputs: list[Interval]) -> Interval | None:
    base, exponent = inputs
    if exponent.low < 0 or exponent.high > 64 or not math.isfinite(base.magnitude()):
        return None
    largest = max(base.magnitude(), 1) ** exponent.high
    return Interval(0 if base.low >= 0 else -largest, largest)


_RULES: tuple[tuple[tuple[type[Node], ...], Rule], ...] = (
    (
        (
            ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Transpose, Sliced, ops.StridedSlice,
            ops.Broadcast, ops.BroadcastV1, ops.Tile, ops.Reverse, ops.ReverseSequence, ops.Roll, ops.Identity,
            ops.Split, ops.VariadicSplit, ops.ShuffleChannels, ops.DepthToSpace, ops.SpaceToDepth, ops.ReduceMax,
            ops.ReduceMin, ops.ReduceMean,
        ),
        _same,
    ),
    ((ops.GatherV1, ops.GatherElements, ops.GatherNDV5), _same_or_zero),
    ((ops.Concat, ops.Maximum, ops.Minimum), _all_combined),
    ((ops.Select,), _combined(1, 2)),
    ((ops.ScatterUpdate,), _combined(0, 2)),
    ((ops.PadV1,), _combined(0, 3)),
    ((ops.OneHotV1,), _combined(2, 3)),
    ((ops.Add,), lambda node, value, i: Interval(i[0].low + i[1].low, i[0].high + i[1].high)),
    ((ops.Subtract,), lambda node, value, i: Interval(i[0].low - i[1].high, i[0].high - i[1].low)),
    ((ops.Multiply,), lambda node, value, i: _product(*i)),
    ((ops.Negative,), lambda node, value, i: Interval(-i[0].high, -i[0].low)),
    ((ops.Abs,), _absolute),
    ((ops.BitwiseAnd, ops.BitwiseOr, ops.BitwiseXor), _bits),
    ((ops.Relu,), lambda node, value, i: Interval(max(0, i[0].low), max(0, i[0].high))),
    ((ops.Sign,), lambda node, value, i: Interval(-1, 1)),
    ((ops.Clamp,), _clamped),
    ((ops.Divide,), _divide),
    ((ops.Mod, ops.FloorMod), _remainder),
    ((ops.Convert, ops.ConvertLike), _converted),
    ((ops.ReduceSum, ops.CumSum), _summed),
    ((ops.MatMul,), _multiplied),
    ((TopKV1, ops.MaxPoolV8, ops.AdaptiveMaxPool, ops.Unique), _positions),
    ((ops.ShapeOf, ops.ShapeOfV1, ops.NonZero), lambda node, value, i: ITERATIONS),
    # -1 stands for nothing.
    ((BoxSuppression, ops.Bucketize, ops.SearchSorted, ops.Multinomial), lambda node, value, i: Interval(-1, _LONGEST)),
    ((ops.Range, ops.RangeV1), _combined(0, 1)),
    ((ops.Power,), _powered),
)  # fmt: skip

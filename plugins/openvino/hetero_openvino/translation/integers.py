"""Exact operations on integers, where OpenVINO computes them in f32, which has 24 bits, and i64 in 32 bits.

Numbers within 24 bits stay with OpenVINO's own operations. Others are composed of those that OpenVINO computes in i32:
addition, multiplication, bits and selection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import openvino

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero.passes.bounds.intervals import I32, Interval, Intervals
from hetero_openvino.memory import constant
from hetero_openvino.translation.bounds import LONGEST_SUM
from hetero_openvino.translation.corrections import factory, make, scalar

WIDE_TYPES = (Type.i64, Type.u64, Type.u32)
F32 = Interval(-(2**24), 2**24)
# Products of matrices are computed in parts of at least this length.
_SHORTEST = 32
# What OpenVINO computes in f32 and is not composed here.
_INEXACT = ("MatMul", "MaxPool", "Power", "ReduceL2", "ReduceMean")
Values = list[openvino.Output]


class Limitation(NamedTuple):
    """Why OpenVINO would compute integers wrongly, and the interval of results for which it does not."""

    reason: str
    interval: Interval | None = None


def limitation(node: Node, intervals: Intervals) -> Limitation | None:
    """Return the limitation of an operation on integers, None if OpenVINO computes it right for all values."""
    # Constants of bounds and shapes stay 64 bits wide.
    bounds = {index for index in getattr(node, "shape_inputs", ()) if index < node.get_input_size()}
    inputs = [
        value
        for index, value in enumerate(node.input_values())
        if index not in bounds or not isinstance(value.node, Constant)
    ]
    wide = [
        value
        for value in (*inputs, *node.outputs())
        if value.element_type in WIDE_TYPES and not I32.contains(intervals.of(value))
    ]
    name, is_exact = node.type_info.name, not is_integral(node) or _fits(node, intervals)
    if isinstance(node, ops.MatMul) and _exact_length(node, intervals) >= _SHORTEST:
        is_exact = True
    is_sum = name in ("ReduceSum", "ReduceL1") and not _is_short(node)
    reason = f"OpenVINO computes {wide[0].element_type} in 32 bits, and its values may need more" if wide else ""
    if wide and wide[0].node is not node:
        return Limitation(reason)
    if not is_exact and (name in _INEXACT or is_sum):
        reason = reason or "OpenVINO computes it in f32, in which integers beyond 2^24 are not exact"
        return Limitation(reason, I32 if is_sum else F32)
    return Limitation(reason, I32) if wide else None


def exact(node: Node, made: openvino.Node, intervals: Intervals) -> list[openvino.Output]:
    """Return the outputs of OpenVINO's equivalent of an operation on integers."""
    if isinstance(node, ops.MatMul) and not _fits(node, intervals):
        return [_product(node, made.input_values(), _exact_length(node, intervals))]
    compose = _COMPOSED.get(node.type_info.name)
    if compose is None or not is_integral(node):
        return made.outputs()
    if _fits(node, intervals) and (not isinstance(node, ops.Divide) or _truncates(node, intervals)):
        return made.outputs()
    return [compose(node, made.input_values())]


def is_integral(node: Node) -> bool:
    """Return whether the data of a node are integers: its first input, or what a Select selects."""
    data = 1 if isinstance(node, ops.Select) else 0
    return node.get_input_size() > data and node.get_input_element_type(data).is_integral_number()


def _fits(node: Node, intervals: Intervals) -> bool:
    """Return whether all inputs and results are exact in f32."""
    return all(
        F32.contains(intervals.of(value)) for value in (*node.input_values()[:2], *node.outputs()) if _counts(value)
    )


def _truncates(node: ops.Divide, intervals: Intervals) -> bool:
    """Return whether a quotient that is rounded toward zero is right."""
    return not node.m_pythondiv or all(intervals.of(value).low >= 0 for value in node.input_values())


def _counts(value: Output) -> bool:
    return value.element_type.is_integral()


def _is_short(node: Node) -> bool:
    shape = node.get_input_partial_shape(0)
    count = shape.element_count().max_length if shape.has_rank else -1
    return 0 <= count <= LONGEST_SUM


def _exact_length(node: ops.MatMul, intervals: Intervals) -> int:
    """Return how many products of two elements have a sum that is exact in f32, at most the length of the matrices."""
    shape = node.get_input_partial_shape(0)
    if not shape.has_rank or len(shape) < 2 or not node.get_input_partial_shape(1).has_rank:
        return 0
    if len(node.get_input_partial_shape(1)) < 2 or shape[_common_axis(node, 0)].is_dynamic:
        return 0
    largest = math.prod(intervals.of(value).magnitude() for value in node.input_values())
    return int(min(shape[_common_axis(node, 0)].get_length(), F32.high // max(largest, 1)))


def _common_axis(node: ops.MatMul, index: int) -> int:
    return -2 if (node.transpose_a, not node.transpose_b)[index] else -1


def _product(node: ops.MatMul, inputs: Values, length: int) -> openvino.Output:
    """Return the product of matrices as the sum of the products of their parts, each exact in f32."""
    total = node.get_input_partial_shape(0)[_common_axis(node, 0)].get_length()
    sum_of_parts = None
    for begin in range(0, total, length):
        parts = [_part(value, _common_axis(node, index), begin, begin + length) for index, value in enumerate(inputs)]
        part = make("MatMul", *parts, transpose_a=node.transpose_a, transpose_b=node.transpose_b)
        # Without the conversion OpenVINO would add in f32.
        part = make("Convert", part, destination_type=_type_name(inputs[0]))
        sum_of_parts = part if sum_of_parts is None else make("Add", sum_of_parts, part)
    assert sum_of_parts is not None
    return sum_of_parts


def _part(value: openvino.Output, axis: int, begin: int, end: int) -> openvino.Output:
    bounds = [constant(np.array([number]), Type.i64).output(0) for number in (begin, end, 1, axis)]
    return factory("opset8").create("Slice", [value, *bounds], {}).output(0)


def _quotient(node: Node, inputs: Values) -> openvino.Output:
    """Return the quotient, rounded down or toward zero."""
    assert isinstance(node, ops.Divide)
    quotient, remainder = _divided(*inputs)
    return quotient if node.m_pythondiv else make("Add", quotient, _rounds_up(inputs, remainder))


def _floor_remainder(node: Node, inputs: Values) -> openvino.Output:
    return _divided(*inputs)[1]


def _remainder(node: Node, inputs: Values) -> openvino.Output:
    remainder = _divided(*inputs)[1]
    return make("Subtract", remainder, make("Multiply", _rounds_up(inputs, remainder), inputs[1]))


def _divided(dividend: openvino.Output, divisor: openvino.Output) -> tuple[openvino.Output, openvino.Output]:
    """Return the quotient rounded down, and its remainder, which has the sign of the divisor.

    Two divisions in f32, of the dividend and of what remains of it, leave an error of at most 1.
    """
    quotient = _approximate(dividend, divisor)
    quotient = make("Add", quotient, _approximate(_rest(dividend, divisor, quotient), divisor))
    rest = _rest(dividend, divisor, quotient)
    zero = scalar(0, rest)
    is_positive = _less(zero, divisor)
    too_large = make("Select", is_positive, _less(rest, zero), _less(zero, rest))
    too_small = make(
        "Select", is_positive, make("LogicalNot", _less(rest, divisor)), make("LogicalNot", _less(divisor, rest))
    )
    quotient = make("Subtract", make("Add", quotient, _number(too_small, rest)), _number(too_large, rest))
    return quotient, _rest(dividend, divisor, quotient)


def _approximate(dividend: openvino.Output, divisor: openvino.Output) -> openvino.Output:
    quotient = make("Divide", *(make("Convert", value, destination_type="f32") for value in (dividend, divisor)))
    return make("Convert", quotient, destination_type=_type_name(dividend))


def _rest(dividend: openvino.Output, divisor: openvino.Output, quotient: openvino.Output) -> openvino.Output:
    return make("Subtract", dividend, make("Multiply", quotient, divisor))


def _rounds_up(inputs: Values, remainder: openvino.Output) -> openvino.Output:
    """Return 1 where rounding a quotient down differs from rounding it toward zero."""
    zero = scalar(0, remainder)
    signs_differ = make("LogicalXor", *(_less(value, zero) for value in inputs))
    return _number(make("LogicalAnd", signs_differ, make("NotEqual", remainder, zero)), remainder)


def _number(condition: openvino.Output, like: openvino.Output) -> openvino.Output:
    return make("Select", condition, scalar(1, like), scalar(0, like))


def _type_name(value: openvino.Output) -> str:
    return str(value.get_element_type().get_type_name())


def _parts(value: openvino.Output) -> Values:
    """Return the upper and the lower 16 bits as numbers; the upper ones have the sign."""
    return [_bits("BitwiseRightShift", value, 16), _bits("BitwiseAnd", value, 0xFFFF)]


def _bits(name: str, value: openvino.Output, number: int) -> openvino.Output:
    return factory("opset15").create(name, [value, scalar(number, value)], {}).output(0)


def _less(a: openvino.Output, b: openvino.Output) -> openvino.Output:
    (high_a, low_a), (high_b, low_b) = _parts(a), _parts(b)
    same = make("LogicalAnd", make("Equal", high_a, high_b), make("Less", low_a, low_b))
    return make("LogicalOr", make("Less", high_a, high_b), same)


def _not_equal(node: Node, inputs: Values) -> openvino.Output:
    difference = make("Subtract", *inputs)
    return make("NotEqual", difference, scalar(0, difference))


def _sum(node: Node, inputs: Values) -> openvino.Output:
    """Return the sum of integers, modulo 2^32, as the sums of their digits of 8 bits."""
    assert isinstance(node, (ops.ReduceSum, ops.ReduceL1))
    data, axes = inputs
    if isinstance(node, ops.ReduceL1):
        data = make("Abs", data)
    total = None
    for position in (0, 8, 16, 24):
        digit = _bits("BitwiseAnd", _bits("BitwiseRightShift", data, position), 255)
        # Shifted, as OpenVINO multiplies wrongly while it reduces.
        part = _bits("BitwiseLeftShift", make("ReduceSum", digit, axes, keep_dims=node.keep_dims), position)
        total = part if total is None else make("Add", total, part)
    assert total is not None
    return total


def _extremum(node: Node, inputs: Values) -> openvino.Output:
    """Return the extremum of the upper bits, and of the lower bits of the elements that have it."""
    assert isinstance(node, (ops.ReduceMax, ops.ReduceMin))
    data, axes = inputs
    name = node.type_info.name
    high, low = _parts(data)
    best = make(name, high, axes, keep_dims=True)
    worst = scalar(-1 if isinstance(node, ops.ReduceMax) else 0x10000, data)
    lower = make(name, make("Select", make("Equal", high, best), low, worst), axes, keep_dims=node.keep_dims)
    if not node.keep_dims:
        best = make("Squeeze", best, axes)
    return make("Add", _bits("BitwiseLeftShift", best, 16), lower)


def _selected(node: Node, inputs: Values) -> openvino.Output:
    """Return a sum, as OpenVINO fuses a Select with the operation that makes its condition, in f32."""
    condition, value, other = inputs
    return make("Add", other, make("Multiply", make("Subtract", value, other), _number(condition, value)))


def _rectified(node: Node, inputs: Values) -> openvino.Output:
    return make("Maximum", inputs[0], scalar(0, inputs[0]))


def _converted(node: Node, inputs: Values) -> openvino.Output:
    if node.get_output_element_type(0) is Type.boolean:
        return make("NotEqual", inputs[0], scalar(0, inputs[0]))
    return make("Convert", inputs[0], destination_type=node.get_output_element_type(0).to_string())


_COMPOSED: Mapping[str, Callable[[Node, Values], openvino.Output]] = {
    "Convert": _converted,
    "Divide": _quotient,
    "Equal": lambda node, inputs: make("LogicalNot", _not_equal(node, inputs)),
    "FloorMod": _floor_remainder,
    "Greater": lambda node, inputs: _less(inputs[1], inputs[0]),
    "GreaterEqual": lambda node, inputs: make("LogicalNot", _less(*inputs)),
    "Less": lambda node, inputs: _less(*inputs),
    "LessEqual": lambda node, inputs: make("LogicalNot", _less(inputs[1], inputs[0])),
    "Mod": _remainder,
    "NotEqual": _not_equal,
    "ReduceL1": _sum,
    "ReduceMax": _extremum,
    "ReduceMin": _extremum,
    "ReduceSum": _sum,
    "Relu": _rectified,
    "Select": _selected,
}

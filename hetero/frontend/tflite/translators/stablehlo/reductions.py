"""StableHLO's REDUCE and REDUCE_WINDOW, and TensorFlow Lite's own REDUCE_WINDOW."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from tflite import ReduceWindowFunction as Function

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import is_zero
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.bodies import Combination, combined_with_first
from hetero.frontend.tflite.translators.stablehlo.movement import padded
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_input, int64, rank_of, reshape
from hetero.graph import Op, Output
from hetero.shape import Dimension

_REDUCTIONS: dict[type[Op] | None, type[Op]] = {
    ops.Add: ops.ReduceSum, ops.Multiply: ops.ReduceProd, ops.Maximum: ops.ReduceMax, ops.Minimum: ops.ReduceMin,
    ops.LogicalAnd: ops.ReduceLogicalAnd, ops.LogicalOr: ops.ReduceLogicalOr,
}  # fmt: skip
_FUNCTIONS: dict[int, type[Op]] = {
    Function.ADD: ops.Add, Function.MUL: ops.Multiply, Function.MINIMUM: ops.Minimum, Function.MAXIMUM: ops.Maximum,
    Function.ALL: ops.LogicalAnd, Function.ANY: ops.LogicalOr,
}  # fmt: skip
# What makes one tensor of each two: of those on the left and those on the right.
Combine = Callable[[Sequence[Output], Sequence[Output]], list[Output]]


@translator("STABLEHLO_REDUCE")
def stablehlo_reduce(node: TfliteNodeContext) -> Translation:
    """Of any number of tensors, which are reduced together, as arg-max is of values and their places."""
    values, first, body = _operands(node)
    axes = node.get_attribute("dimensions")
    if body.operation in _REDUCTIONS:
        reduced = [_REDUCTIONS[body.operation](values[0], int64(axes), False).output(0)]
    else:
        reduced = _in_pairs(values, axes, body.combine)
    return body.with_first(first, reduced)


def _operands(node: TfliteNodeContext) -> tuple[list[Output], list[Output], Combination]:
    """The tensors, the scalar that each begins with, and what combines them."""
    inputs, count = node.get_inputs(), node.get_output_size()
    if len(inputs) != 2 * count:
        raise FrontendError(f"its {len(inputs)} inputs should be {count} tensors and a first value of each")
    first = [reshape(value, ()) for value in inputs[count:]]
    return inputs[:count], first, Combination(node, [value.element_type for value in inputs[:count]])


def _in_pairs(values: Sequence[Output], axes: Sequence[int], combine: Combine) -> list[Output]:
    """Tensors reduced over axes: neighbours are combined, then neighbours of what that makes, until one is left."""
    shape = values[0].partial_shape
    for axis in sorted(axes, reverse=True):
        count = known_length(shape[axis], axis)
        while count > 1:
            even = count - count % 2
            made = combine(*([_part(value, axis, first, even, 2) for value in values] for first in (0, 1)))
            if count > even:
                last = [_part(value, axis, even, count) for value in values]
                made = [ops.Concat(list(pair), axis).output(0) for pair in zip(made, last)]
            values, count = made, count - even // 2
        values = [ops.Squeeze(value, int64([axis])).output(0) for value in values]
    return list(values)


def known_length(length: Dimension, axis: int) -> int:
    """The length of an axis. Raises FrontendError where it is not known, or 0."""
    if length.is_dynamic or length == 0:
        raise FrontendError(f"axis {axis} must have a known length of 1 or more for its graph, but has {length}")
    return length.get_length()


def _part(value: Output, axis: int, start: int, stop: int, step: int = 1) -> Output:
    return ops.Slice(value, int64([start]), int64([stop]), int64([step]), int64([axis])).output(0)


@translator("STABLEHLO_REDUCE_WINDOW")
def stablehlo_reduce_window(node: TfliteNodeContext) -> Translation:
    values, first, body = _operands(node)
    rank = rank_of(values[0])
    sizes = _for_each_axis(node, "window_dimensions", rank)
    steps, spread, dilations = (
        _for_each_axis(node, name, rank, 1) for name in ("window_strides", "base_dilations", "window_dilations")
    )
    padding = node.get_attribute("padding") or [0] * (2 * rank)
    windows = Windows(sizes, steps, dilations)
    if body.operation is ops.Add and is_zero(first[0]) and max(spread, default=1) == 1:
        summed = _summed_up(values[0], windows, padding)
        if summed is not None:
            return summed
    between = [dilation - 1 for dilation in spread]
    values = [padded(*pair, padding[::2], padding[1::2], between) for pair in zip(values, first)]
    return body.with_first(first, _in_windows(values, windows, body.combine))


def _summed_up(value: Output, windows: Windows, padding: Sequence[int]) -> Output | None:
    """The sums of all elements up to each one or from each one on, where windows are these; else None."""
    wide = [axis for axis, size in enumerate(windows.sizes) if size > 1]
    if len(wide) != 1 or max(*windows.steps, *windows.dilations) > 1:
        return None
    axis, size = wide[0], windows.sizes[wide[0]]
    added, others = padding[2 * axis : 2 * axis + 2], (*padding[: 2 * axis], *padding[2 * axis + 2 :])
    if value.partial_shape[axis] != size or any(others) or sorted(added) != [0, size - 1]:
        return None
    return ops.CumSum(value, int64(axis), False, added[0] == 0).output(0)


def _for_each_axis(node: TfliteNodeContext, name: str, rank: int, default: int | None = None) -> Sequence[int]:
    """A positive number for each axis. Raises FrontendError where it is none; the default stands for none at all."""
    numbers = node.get_attribute(name) or ([default] * rank if default else [])
    if len(numbers) != rank or min(numbers, default=1) < 1:
        raise FrontendError(f"{name} {list(numbers)} must be positive numbers for {rank} dimensions")
    return numbers


@translator("REDUCE_WINDOW")
def reduce_window(node: TfliteNodeContext) -> Translation:
    function = node.get_attribute("reduce_function")
    if function not in _FUNCTIONS:
        raise FrontendError(f"the reduction {function} is not known")
    operation, value = _FUNCTIONS[function], node.get_input(0)
    names = ("window_shape", "window_strides", "window_dilations")
    windows = Windows(*(constant_input(node, 2 + place, name).reshape(-1).tolist() for place, name in enumerate(names)))
    for name, numbers in zip(names, windows):
        if len(numbers) != rank_of(value) or min(numbers, default=1) < 1:
            raise FrontendError(f"{name} {numbers} must be positive numbers for {rank_of(value)} dimensions")

    def combine(lefts: Sequence[Output], rights: Sequence[Output]) -> list[Output]:
        return [operation(lefts[0], rights[0]).output(0)]

    return combined_with_first(operation, node.get_input(1), _in_windows([value], windows, combine)[0])


class Windows(NamedTuple):
    """How long windows are on each axis, how far apart they begin, and how far apart the elements are in them."""

    sizes: Sequence[int]
    steps: Sequence[int]
    dilations: Sequence[int]


def _in_windows(values: Sequence[Output], windows: Windows, combine: Combine) -> list[Output]:
    """Tensors with the elements of each window combined, axis by axis, the last first."""
    values = list(values)
    for axis, (size, step, dilation) in reversed(list(enumerate(zip(*windows)))):
        length = values[0].partial_shape[axis]
        if length.is_static and length.get_length() <= (size - 1) * dilation:
            raise FrontendError(f"a window of {size} elements, {dilation} apart, does not fit on axis {axis}: {length}")
        if size > 1:
            values = _in_windows_of_axis(values, axis, size, dilation, combine)
        if step > 1:
            values = [_part(value, axis, 0, _END, step) for value in values]
    return values


_END = np.iinfo(np.int64).max


def _in_windows_of_axis(
    values: list[Output], axis: int, size: int, dilation: int, combine: Combine
) -> list[Output]:  # fmt: skip
    """Windows that begin at each element, from windows of 1, 2, 4 … elements: of those that make up the size, one
    behind the other."""
    made, covered, powers, power = [], 0, values, 1
    while True:
        if size & power:
            more = power * dilation
            made = _shifted(made, powers, axis, covered * dilation, more, combine) if covered else powers
            covered += power
        if 2 * power > size:
            return made
        powers = _shifted(powers, powers, axis, power * dilation, power * dilation, combine)
        power *= 2


def _shifted(
    lefts: list[Output], rights: list[Output], axis: int, shift: int, less: int, combine: Combine
) -> list[Output]:  # fmt: skip
    """Each element on the left, without the last ``less``, with the one so many places further on the right."""
    return combine(
        [_part(value, axis, 0, -less) for value in lefts], [_part(value, axis, shift, _END) for value in rights]
    )

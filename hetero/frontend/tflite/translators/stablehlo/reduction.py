"""StableHLO REDUCE, REDUCE_WINDOW and SORT, and TensorFlow Lite's REDUCE_WINDOW."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from tflite import ReduceWindowFunction as Function

from hetero import ops
from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import is_zero
from hetero.frontend.numerics.xla import pad_with_interior
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.tflite.translators.stablehlo.bodies import (
    ReductionBody,
    ScalarBody,
    combine_with_initial,
    same_function,
)
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    axis_length,
    constant_input,
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
)
from hetero.graph import Node, Op, Output
from hetero.system.errors import FrontendError

_REDUCTIONS: dict[type[Op] | None, type[Op]] = {
    ops.Add: ops.ReduceSum, ops.Multiply: ops.ReduceProd, ops.Maximum: ops.ReduceMax, ops.Minimum: ops.ReduceMin,
    ops.LogicalAnd: ops.ReduceLogicalAnd, ops.LogicalOr: ops.ReduceLogicalOr,
}  # fmt: skip
_FUNCTIONS: dict[int, type[Op]] = {
    Function.ADD: ops.Add, Function.MUL: ops.Multiply, Function.MINIMUM: ops.Minimum, Function.MAXIMUM: ops.Maximum,
    Function.ALL: ops.LogicalAnd, Function.ANY: ops.LogicalOr,
}  # fmt: skip
# Combines each tensor on the left with the one on the right, element by element.
Combine = Callable[[Sequence[Output], Sequence[Output]], list[Output]]


@translator("STABLEHLO_REDUCE")
def stablehlo_reduce(node: TfliteNodeContext) -> Translation:
    """Reduce one or more tensors together; arg-max, for example, reduces values and their indices."""
    values, initial, body = _operands(node)
    axes = node.get_attribute("dimensions")
    if body.operation in _REDUCTIONS:
        reduced = [_REDUCTIONS[body.operation](values[0], int64(axes), False).output(0)]
    else:
        reduced = _reduce_pairwise(values, axes, body.combine)
    return body.with_initial(initial, reduced)


def _operands(node: TfliteNodeContext) -> tuple[list[Output], list[Output], ReductionBody]:
    """Return the tensors, the scalar initial value of each, and the reduction body."""
    inputs, count = node.get_inputs(), node.get_output_size()
    if len(inputs) != 2 * count:
        raise FrontendError(f"it has {len(inputs)} inputs, but {count} tensors and {count} initial values are needed")
    initial = [reshape(value, ()) for value in inputs[count:]]
    return inputs[:count], initial, ReductionBody(node, [value.element_type for value in inputs[:count]])


def _reduce_pairwise(values: Sequence[Output], axes: Sequence[int], combine: Combine) -> list[Output]:
    """Reduce tensors over axes by combining adjacent pairs until one element is left: log2(length) steps per axis."""
    shape = values[0].partial_shape
    for axis in sorted(axes, reverse=True):
        count = known_length(shape[axis], axis)
        while count > 1:
            even = count - count % 2
            combined = combine(*([_slice(value, axis, start, even, 2) for value in values] for start in (0, 1)))
            if count > even:
                last = [_slice(value, axis, even, count) for value in values]
                combined = [ops.Concat(list(pair), axis).output(0) for pair in zip(combined, last)]
            values, count = combined, count - even // 2
        values = [ops.Squeeze(value, int64([axis])).output(0) for value in values]
    return list(values)


def known_length(length: Dimension, axis: int) -> int:
    """Return the length of an axis. Raises FrontendError if it is unknown or 0."""
    if length.is_dynamic or length == 0:
        raise FrontendError(f"axis {axis} must have a known length of 1 or more for its graph, but has {length}")
    return length.get_length()


def _slice(value: Output, axis: int, start: int, stop: int, step: int = 1) -> Output:
    return ops.Slice(value, int64([start]), int64([stop]), int64([step]), int64([axis])).output(0)


@translator("STABLEHLO_REDUCE_WINDOW")
def stablehlo_reduce_window(node: TfliteNodeContext) -> Translation:
    values, initial, body = _operands(node)
    rank = rank_of(values[0])
    sizes = _per_axis(node, "window_dimensions", rank)
    strides, base_dilations, dilations = (
        _per_axis(node, name, rank, 1) for name in ("window_strides", "base_dilations", "window_dilations")
    )
    padding = node.get_attribute("padding") or [0] * (2 * rank)
    windows = Windows(sizes, strides, dilations)
    if body.operation is ops.Add and is_zero(initial[0]) and max(base_dilations, default=1) == 1:
        cumulative = _cumulative_sum(values[0], windows, padding)
        if cumulative is not None:
            return cumulative
    interior = [dilation - 1 for dilation in base_dilations]
    values = [pad_with_interior(*pair, padding[::2], padding[1::2], interior) for pair in zip(values, initial)]
    return body.with_initial(initial, _reduce_windows(values, windows, body.combine))


def _cumulative_sum(value: Output, windows: Windows, padding: Sequence[int]) -> Output | None:
    """Return a CumSum if windows of sums cover all elements up to, or from, each one; else None."""
    wide = [axis for axis, size in enumerate(windows.sizes) if size > 1]
    if len(wide) != 1 or max(*windows.strides, *windows.dilations) > 1:
        return None
    axis, size = wide[0], windows.sizes[wide[0]]
    pads, others = padding[2 * axis : 2 * axis + 2], (*padding[: 2 * axis], *padding[2 * axis + 2 :])
    if value.partial_shape[axis] != size or any(others) or sorted(pads) != [0, size - 1]:
        return None
    return ops.CumSum(value, int64(axis), False, pads[0] == 0).output(0)


def _per_axis(node: TfliteNodeContext, name: str, rank: int, default: int | None = None) -> Sequence[int]:
    """Return an attribute of one positive number per axis; the default replaces an empty one. Raises FrontendError."""
    numbers = node.get_attribute(name) or ([default] * rank if default else [])
    if len(numbers) != rank or min(numbers, default=1) < 1:
        raise FrontendError(f"{name} {list(numbers)} must be positive numbers for {rank} dimensions")
    return numbers


@translator("REDUCE_WINDOW")
def reduce_window(node: TfliteNodeContext) -> Translation:
    function = node.get_attribute("reduce_function")
    if function not in _FUNCTIONS:
        raise FrontendError(f"reduce_function {function} is not supported")
    operation, value = _FUNCTIONS[function], node.get_input(0)
    names = ("window_shape", "window_strides", "window_dilations")
    windows = Windows(*(constant_input(node, 2 + index, name).reshape(-1).tolist() for index, name in enumerate(names)))
    for name, numbers in zip(names, windows):
        if len(numbers) != rank_of(value) or min(numbers, default=1) < 1:
            raise FrontendError(f"{name} {numbers} must be positive numbers for {rank_of(value)} dimensions")

    def combine(lefts: Sequence[Output], rights: Sequence[Output]) -> list[Output]:
        return [operation(lefts[0], rights[0]).output(0)]

    return combine_with_initial(operation, node.get_input(1), _reduce_windows([value], windows, combine)[0])


class Windows(NamedTuple):
    """The sizes, strides and dilations of windows on each axis."""

    sizes: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]


def _reduce_windows(values: Sequence[Output], windows: Windows, combine: Combine) -> list[Output]:
    """Combine the elements of each window, axis by axis from the last to the first."""
    values = list(values)
    for axis, (size, stride, dilation) in reversed(list(enumerate(zip(*windows)))):
        length = values[0].partial_shape[axis]
        if length.is_static and length.get_length() <= (size - 1) * dilation:
            raise FrontendError(f"a window of {size} elements, {dilation} apart, does not fit on axis {axis}: {length}")
        if size > 1:
            values = _reduce_windows_of_axis(values, axis, size, dilation, combine)
        if stride > 1:
            values = [_slice(value, axis, 0, _END, stride) for value in values]
    return values


_END = np.iinfo(np.int64).max


def _reduce_windows_of_axis(
    values: list[Output], axis: int, size: int, dilation: int, combine: Combine
) -> list[Output]:  # fmt: skip
    """Combine windows of stride 1 along one axis in about log2(size) steps.

    Windows of 1, 2, 4 … elements are built by doubling; those that make up the size are combined side by side.
    """
    result: list[Output] = []
    covered, powers, power = 0, values, 1
    while True:
        if size & power:
            width = power * dilation
            result = _combine_shifted(result, powers, axis, covered * dilation, width, combine) if covered else powers
            covered += power
        if 2 * power > size:
            return result
        powers = _combine_shifted(powers, powers, axis, power * dilation, power * dilation, combine)
        power *= 2


def _combine_shifted(
    lefts: list[Output], rights: list[Output], axis: int, shift: int, drop: int, combine: Combine
) -> list[Output]:  # fmt: skip
    """Combine ``left[i]`` with ``right[i + shift]`` along an axis; the last ``drop`` elements of left are left out."""
    return combine(
        [_slice(value, axis, 0, -drop) for value in lefts], [_slice(value, axis, shift, _END) for value in rights]
    )


# Maximum length of an axis that is sorted by comparing all pairs of elements.
_MAX_PAIRWISE_LENGTH = 4096
_ORDERS: dict[type[Node], str] = {ops.Less: "min", ops.LessEqual: "min", ops.Greater: "max", ops.GreaterEqual: "max"}


@translator("STABLEHLO_SORT")
def sort(node: TfliteNodeContext) -> Translation:
    """Sort tensors together along an axis. The comparator graph returns whether the first element precedes the second.

    Its inputs are two elements of each tensor.
    """
    values = node.get_inputs()
    axis = normalize_axis(node.get_attribute("dimension"), rank_of(values[0]))
    precedes = ScalarBody(node, [value.element_type for value in values for _ in range(2)], 1)
    indices = _sort_by_key(values, axis, precedes) or _sort_pairwise(values, axis, precedes)
    return [ops.GatherElements(value, indices, axis).output(0) for value in values]


def _sort_by_key(values: Sequence[Output], axis: int, precedes: ScalarBody) -> Output | None:
    """Return the sorting indices if the comparator compares one key function of both elements; else None."""
    comparison = precedes.results[0].node
    if type(comparison) not in _ORDERS:
        return None
    first, second = precedes.inputs[::2], precedes.inputs[1::2]
    mode, (left, right) = _ORDERS[type(comparison)], comparison.input_values()
    if same_function(left, right, dict(zip(second, first))):
        # The operands are swapped: key(second) < key(first).
        mode = "max" if mode == "min" else "min"
    elif not same_function(left, right, dict(zip(first, second))):
        return None
    # With the same tensors as both elements, either operand of the comparison is the key.
    key = precedes([value for value in values for _ in range(2)])[0].node.input_value(0)
    if key.partial_shape != values[0].partial_shape:
        return None
    if key.element_type is Type.boolean:
        key = convert_to(key, Type.u8)
    length = axis_length(values[0], axis)
    return ops.TopK(key, length, axis, mode, "value", Type.i64, True).output(1)


def _sort_pairwise(values: Sequence[Output], axis: int, precedes: ScalarBody) -> Output:
    """Return the sorting indices for any comparator by comparing all pairs of elements.

    The rank of an element is the number of elements that precede it; equal elements keep their order.
    """
    length = values[0].partial_shape[axis]
    if length.is_dynamic or length.get_length() > _MAX_PAIRWISE_LENGTH:
        raise FrontendError(
            f"an axis of {length} elements cannot be sorted by its graph: a graph that does not compare one key of "
            f"both elements is supported up to {_MAX_PAIRWISE_LENGTH} elements"
        )
    # Two axes take the place of the sorted one: that of the other elements, then that of the elements themselves.
    others = [ops.Unsqueeze(value, int64(axis + 1)).output(0) for value in values]
    elements = [ops.Unsqueeze(value, int64(axis)).output(0) for value in values]
    (other_first,) = precedes([value for pair in zip(others, elements) for value in pair])
    (element_first,) = precedes([value for pair in zip(elements, others) for value in pair])
    index = ops.Range(int64(0), int64(length.get_length()), int64(1), Type.i64)
    ones = [1] * (rank_of(values[0]) - axis - 1)
    smaller_index = ops.Less(
        ops.Reshape(index, int64([-1, 1, *ones]), False), ops.Reshape(index, int64([-1, *ones]), False)
    )
    stable_order = ops.LogicalOr(other_first, ops.LogicalAnd(ops.LogicalNot(element_first), smaller_index))
    count = ops.ReduceSum(ops.Convert(stable_order, Type.i64), int64([-len(ones) - 2]), False)
    rank = ops.Broadcast(count, ops.ShapeOf(values[0]))
    return ops.TopK(rank, int64(length.get_length()), axis, "min", "value", Type.i64, True).output(1)

"""Slices, paddings and shapes whose numbers may be computed at run time."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    convert_to,
    dimension_count,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output, constant_array, is_constant
from hetero.ops.movement.slicing import TO_THE_END


def stack(values: Iterable[Output | Node], axis: int) -> Op:
    """Join values along a new axis."""
    return ops.Concat([ops.Unsqueeze(value, int64([axis])) for value in values], axis)


def flatten_range(value: Output, first: int, last: int) -> Output | Op:
    """Merge the axes from first to last into one; a scalar becomes a vector."""
    rank = rank_of(value)
    if not rank:
        return reshape(value, (1,))
    first, last = normalize_axis(first, rank), normalize_axis(last, rank)
    shape = value.partial_shape
    before, merged, after = shape[:first], shape[first : last + 1], shape[last + 1 :]
    if after.is_static and 0 not in (*before, *after):
        return ops.Reshape(value, int64([*[0] * first, -1, *after.to_shape()]), True)
    # -1 is ambiguous if another length is 0.
    count = math.prod(merged.to_shape()) if merged.is_static else -1
    parts = [axis_length(value, range(first)), int64([count]), axis_length(value, range(last + 1, rank))]
    return ops.Reshape(value, ops.Concat(parts, 0), False)


def gather_elements(value: Output, indices: Output, axis: int) -> Op:
    """Gather along an axis. Along the other axes there may be fewer indices than elements."""
    if not value.partial_shape.has_rank:
        return ops.GatherElements(value, indices, axis)
    axis = normalize_axis(axis, rank_of(value))
    others = [other for other in range(rank_of(value)) if other != axis and _may_differ(value, indices, other)]
    if others:
        # GatherElements needs equal lengths.
        zeros, ones = int64([0] * len(others)), int64([1] * len(others))
        value = ops.Slice(value, zeros, axis_length(indices, others), ones, int64(others)).output(0)
    return ops.GatherElements(value, indices, axis)


def _may_differ(value: Output, indices: Output, axis: int) -> bool:
    """Return whether the lengths of an axis differ or are unknown."""
    length, counts = value.partial_shape[axis], indices.partial_shape
    return length.is_dynamic or not counts.has_rank or counts[axis] != length


def end_of_slice(begin: Output, size: Output) -> Output:
    """Return begin + size for each axis, ``TO_THE_END`` if the size is -1. Sizes that are known stay known."""
    is_rest: Op = ops.Less(size, scalar_like(size, 0))
    if size.value is not None:
        # Elements of a known value that are not ints are dimensions, which are never negative.
        is_negative = np.array([isinstance(number, int) and number < 0 for number in size.value.tolist()], bool)
        if not is_negative.any():
            return ops.Add(begin, size).output(0)
        # Replace -1 by 0, because the sum stays known only without negative numbers.
        is_rest, size = Constant(is_negative), ops.Select(Constant(is_negative), scalar_like(size, 0), size).output(0)
    return ops.Select(is_rest, scalar_like(size, TO_THE_END), ops.Add(begin, size)).output(0)


def slice_by_size(data: Output, begin: Output, size: Output, count: int, has_parts: bool) -> Op | Output:
    """Slice the first ``count`` axes; a size of -1 means up to the end.

    ``has_parts``: the data has an additional last axis of real and imaginary parts.
    """
    if not count:
        return data
    ones = Constant(np.ones(count, begin.element_type.to_dtype()))
    part = ops.Slice(data, begin, end_of_slice(begin, size), ones, int64(range(count)))
    sizes = constant_array(size)
    if sizes is not None and np.all(sizes >= 0) and not is_constant(begin):
        # Only the begin depends on data: tell shape inference the known sizes.
        return ops.Reshape(part, int64([*sizes, 2] if has_parts else sizes), False)
    return part


_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def bounds_and_masks(
    node: NodeContext, bounds: Iterable[Output], count: int, has_parts: bool
) -> tuple[list[Output], list[list[int]]]:
    """Return begin, end and strides of a slice of TensorFlow, and its masks, which have a bit for each of ``count``.

    ``has_parts``: the data has an additional last axis of real and imaginary parts, which is taken whole.
    """
    bounds = list(bounds)
    masks = [[node.get_attribute(name, 0) >> bit & 1 for bit in range(count)] for name in _MASKS]
    if has_parts:
        # Explicitly: an ellipsis counts axes from the end.
        bounds = [ops.Concat([numbers, np.ones(1, numbers.element_type.to_dtype())], 0).output(0) for numbers in bounds]
        masks = [[*mask, int(name in ("begin_mask", "end_mask"))] for name, mask in zip(_MASKS, masks)]
        if not any(masks[4]):
            masks[4][-1] = 1
    return bounds, masks


def broadcast_shapes(*shapes: Output) -> Op:
    """Return the shape that two shapes broadcast to."""
    counts = [dimension_count(shape) for shape in shapes]
    rank = max(counts)
    first, second = (_prepend_ones(shape, rank - count) for shape, count in zip(shapes, counts))
    known = constant_array(shapes[1])
    if known is None:
        first, second, known = second, first, constant_array(shapes[0])
    if known is not None:
        known = np.concatenate([np.ones(rank - known.size), known])
        # Constant indices, so that dimensions of the other shape that are known stay known.
        indices = np.arange(rank) + np.where(known == 1, 0, rank)
        return ops.Gather(ops.Concat([first, second], 0), int64(indices), int64(0))
    return ops.Select(ops.Equal(first, scalar_like(first, 1)), second, first)


def _prepend_ones(shape: Output, count: int) -> Output:
    ones = Constant(np.ones(count, shape.element_type.to_dtype()))
    return ops.Concat([ones, shape], 0).output(0) if count else shape


def pads_of_axes(pads: Output) -> list[Output]:
    """Return the columns of a matrix of pads or crops as i64: those before and those after each axis."""
    known = constant_array(pads)
    if known is not None:
        return [int64(column).output(0) for column in np.reshape(known, (-1, 2)).T]
    return [ops.Gather(convert_to(pads, Type.i64), int64(column), int64(1)).output(0) for column in (0, 1)]


def blocks_and_pads(data: Output, blocks: Output, pads: Output) -> list[Output]:
    """Return a block shape, and pads (or crops) before and after, for all axes of ``[N, spatial…, others…]``.

    ``blocks``, ``pads``: those of the spatial axes only.
    """
    blocks = convert_to(blocks, Type.i64)
    axes_after = rank_of(data) - 1 - dimension_count(blocks)
    neutral = ((blocks, 1), *((column, 0) for column in pads_of_axes(pads)))
    return [
        ops.Concat([int64([number]), numbers, int64([number] * axes_after)], 0).output(0) for numbers, number in neutral
    ]


def pad_to(column: Output, length: Output, count: Output) -> Output:
    """Pad a vector of ``count`` elements by zeros to a length."""
    missing = ops.Unsqueeze(ops.Subtract(length, count), int64([0]))
    padded = ops.Pad(column, Constant(np.zeros(1, np.int32)), missing, "constant", scalar_like(column, 0)).output(0)
    known_length = constant_array(length)
    return padded if known_length is None else reshape(padded, (int(known_length.reshape(-1)[0]),))


def pad_wrap(value: Output, begin: Output, end: Output) -> Output:
    """Pad each axis with the elements from its opposite end, as if the value were repeated; negative pads crop.

    ``begin``, ``end``: i64 vectors, the number of elements before and after each axis.
    """
    for axis in range(rank_of(value)):
        if all(pads.value is not None and pads.value[axis] == 0 for pads in (begin, end)):
            continue
        before, after = (ops.Gather(pads, int64(axis), int64(0)) for pads in (begin, end))
        length = axis_length(value, axis)
        indices = ops.Subtract(arange(ops.Add(ops.Add(length, before), after)), before)
        value = ops.Gather(value, ops.FloorMod(indices, length), int64(axis)).output(0)
    return value

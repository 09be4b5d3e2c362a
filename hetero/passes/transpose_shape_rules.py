"""How resizing, slicing and reshaping work on data whose axes are in another order."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.ops.interpolation import InterpolateV1
from hetero.ops.values import exact_value
from hetero.passes.axis_orders import Order, of_some_axes, unchanged
from hetero.passes.transpose_rules import (
    Movement,
    moves,
    nothing,
    pick,
    rank_of,
    same_axes,
    set_axes_of_input,
    set_constant,
    with_vectors,
    without,
)
from hetero.shape import PartialShape


@moves(ops.Interpolate, ops.InterpolateV4)
def _interpolate(node: Any) -> Movement | None:
    axes = exact_value(node.input_value(node.input_index("axes"))) if node.has_input("axes") else None
    return None if axes is None else _towards_images(same_axes(node, _set_image), axes.reshape(-1).tolist())


@moves(InterpolateV1, ops.Resize)
def _interpolate_along(node: Any) -> Movement | None:
    return _towards_images(same_axes(node, _set_image), node.axes)


def _towards_images(movement: Movement | None, axes: Sequence[int]) -> Movement | None:
    """Only orders in which batch and channels come first, as devices resize these best."""
    if movement is None:
        return None
    resized = {axis % movement.rank for axis in axes}
    return movement._replace(allows=lambda order: resized.isdisjoint(order[:2]))


def _set_image(node: Any, order: Order) -> None:
    for name in ("pads_begin", "pads_end"):
        if pads := getattr(node, name, ()):
            padded = [*pads, *[0] * (len(order) - len(pads))]
            setattr(node, name, [padded[axis] for axis in order])
    if isinstance(node, (InterpolateV1, ops.Resize)):
        node.axes = [order.index(axis % len(order)) for axis in node.axes]
    else:
        set_axes_of_input(node, order, node.input_index("axes"))


@moves(ops.Slice)
def _slice(node: ops.Slice) -> Movement | None:
    if not node.has_input("axes"):
        return with_vectors(node, (1, 2, 3))
    if exact_value(node.input_value(4)) is None:
        return None
    return same_axes(node, functools.partial(set_axes_of_input, index=4))


@moves(ops.StridedSlice)
def _strided_slice(node: ops.StridedSlice) -> Movement | None:
    rank, bounds = rank_of(node.input_value(0)), node.get_input_partial_shape(1)
    if rank < 2 or not bounds.is_static or len(bounds) != 1 or any(node.new_axis_mask):
        return None
    if any(node.get_input_partial_shape(index) != bounds for index in (2, 3)):
        return None
    places = _place_of_each_axis(node, rank, bounds.to_shape()[0])
    kept = tuple(axis for axis, place in enumerate(places) if not _is_set(node.shrink_axis_mask, place))
    return Movement(rank, {0: unchanged(rank)}, (kept,), functools.partial(_set_slices, places=places))


def _place_of_each_axis(node: ops.StridedSlice, rank: int, count: int) -> list[int | None]:
    """Where the bounds of each axis stand; None for an axis that is taken whole."""
    ellipsis = next((place for place in range(count) if _is_set(node.ellipsis_mask, place)), None)
    if ellipsis is None:
        return [*range(count), *[None] * (rank - count)]
    return [*range(ellipsis), *[None] * (rank - count + 1), *range(ellipsis + 1, count)]


def _is_set(mask: Sequence[int], place: int | None) -> bool:
    return place is not None and place < len(mask) and mask[place] == 1


def _set_slices(node: ops.StridedSlice, order: Order, places: Sequence[int | None]) -> None:
    moved = [places[axis] for axis in order]
    for index, default in ((1, 0), (2, 0), (3, 1)):
        pick(node, index, moved, default)
    node.begin_mask = [place is None or _is_set(node.begin_mask, place) for place in moved]
    node.end_mask = [place is None or _is_set(node.end_mask, place) for place in moved]
    node.shrink_axis_mask = [_is_set(node.shrink_axis_mask, place) for place in moved]
    node.ellipsis_mask = ()


@moves(ops.Squeeze, ops.SqueezeV1)
def _squeeze(node: Any) -> Movement | None:
    data = node.get_input_partial_shape(0)
    if not data.has_rank or len(data) < 2:
        return None
    if not node.has_input("axes"):
        gone = [axis for axis, length in enumerate(data) if length == 1] if data.is_static else None
        rewrite = nothing
    else:
        axes, rewrite = exact_value(node.input_value(1)), set_axes_of_input
        gone = None if axes is None or not axes.size else [axis % len(data) for axis in axes.reshape(-1).tolist()]
    if gone is None or any(data[axis] != 1 for axis in gone):
        return None
    return Movement(len(data), {0: unchanged(len(data))}, (without(len(data), gone),), rewrite)


@moves(ops.Unsqueeze)
def _unsqueeze(node: ops.Unsqueeze) -> Movement | None:
    own, axes = node.get_input_partial_shape(0), exact_value(node.input_value(1))
    if not own.has_rank or axes is None or not len(own) or not axes.size:
        return None
    rank = rank_of(node.output(0))
    new = node.axes_of(axes, len(own))
    return Movement(rank, {0: without(rank, new)}, (unchanged(rank),), functools.partial(_set_new_axes, new=new))


def _set_new_axes(node: ops.Unsqueeze, order: Order, new: Sequence[int]) -> None:
    set_constant(node, 1, np.array(sorted(order.index(axis) for axis in new), np.int64), "axes")


@moves(ops.Reshape)
def _reshape(node: ops.Reshape) -> Movement | None:
    """A Reshape that only takes away, or only adds, dimensions of length 1."""
    data, made = node.get_input_partial_shape(0), node.get_output_partial_shape(0)
    pairs = _paired(data, made)
    if pairs is None:
        return None
    mine, other = (tuple(axes) for axes in zip(*pairs)) if pairs else ((), ())
    if len(other) == len(made):
        inputs, outputs, rank = unchanged(len(data)), mine, len(data)
    elif len(mine) == len(data):
        inputs, outputs, rank = other, unchanged(len(made)), len(made)
    else:
        return None
    rewrite = functools.partial(_set_shape, made=made, axes=outputs)
    return Movement(rank, {0: inputs}, (outputs,), rewrite) if rank > 1 else None


def _paired(data: PartialShape, made: PartialShape) -> list[tuple[int, int]] | None:
    """Which dimensions of the data are which of the result; None where more than lengths of 1 comes or goes."""
    if not data.has_rank or not made.has_rank or any(length == 0 for length in (*data, *made)):
        return None
    pairs, mine, other, unknown = [], 0, 0, 0
    while mine < len(data) or other < len(made):
        here = data[mine] if mine < len(data) else None
        there = made[other] if other < len(made) else None
        if here is not None and there is not None and here.compatible(there):
            pairs.append((mine, other))
            unknown += here.is_dynamic or there.is_dynamic
            mine, other = mine + 1, other + 1
        elif here is not None and here == 1:
            mine += 1
        elif there is not None and there == 1:
            other += 1
        else:
            return None
    return pairs if unknown <= 1 else None  # the counts of elements tell that the lengths of one pair are the same


def _set_shape(node: ops.Reshape, order: Order, made: PartialShape, axes: Order) -> None:
    lengths = [-1 if length.is_dynamic else length.get_length() for length in made]  # not more than one -1
    shape = [lengths[place] for place in of_some_axes(order, axes)]
    set_constant(node, 1, np.array(shape, np.int64), "output_shape")
    node.special_zero = False

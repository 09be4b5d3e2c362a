"""Slice and StridedSlice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import Argument, NodeWriter
from hetero.ops.movement.slicing import TO_THE_END

_LIMITS = np.iinfo(np.int64)


@emitter(ops.Slice)
def slice_(node: NodeWriter) -> str:
    start, stop, step = (node.vector(index) for index in (1, 2, 3))
    axes = node.vector(4) if node.op.has_input("axes") else None
    return node.add("Slice", node.input(0), start, _unlimited(stop), axes, step)


def _unlimited(stop: Argument) -> Argument:
    """Replace bounds that mean "to the end" in 32 bits."""
    if not isinstance(stop, np.ndarray):
        return stop
    return np.where(stop >= TO_THE_END, _LIMITS.max, np.where(stop <= -TO_THE_END, _LIMITS.min, stop))


@emitter(ops.StridedSlice)
def strided_slice(node: NodeWriter) -> str:
    """A Slice of all indexed axes; those with an integer index are then removed, and new ones inserted."""
    op, strides, rank = node.op, node.numbers(3), node.rank(0)
    kinds = [op.kind(position) for position in range(len(strides))]
    axes: list[int] = []
    positions: list[int] = []
    removed: list[int] = []
    inserted: list[int] = []
    axis = 0
    for position, kind in enumerate(kinds):
        if kind == "ellipsis":
            axis += rank - sum(each in ("part", "shrink") for each in kinds)
        elif kind == "new":
            inserted.append(axis - len(removed) + len(inserted))
        else:
            axes.append(axis)
            positions.append(position)
            removed += [axis] if kind == "shrink" else []
            axis += 1
    value, steps = node.input(0), [1 if kinds[position] == "shrink" else strides[position] for position in positions]
    if axes:
        first = [
            (0 if step > 0 else _LIMITS.max) if _is_set(op.begin_mask, p) else None for p, step in zip(positions, steps)
        ]
        start = _bounds(node, 1, positions, first)
        last = [
            (_LIMITS.max if step > 0 else _LIMITS.min) if _is_set(op.end_mask, p) else None
            for p, step in zip(positions, steps)
        ]
        stop = _unlimited(_bounds(node, 2, positions, last))
        if removed:
            is_index = np.array([kinds[position] == "shrink" for position in positions])
            stop = _where(node, is_index, _next(node, start), stop)
        value = node.add("Slice", value, start, stop, axes, steps)
    if removed:
        value = node.add("Squeeze", value, removed)
    return node.add("Unsqueeze", value, inserted) if inserted else value


def _bounds(node: NodeWriter, index: int, positions: Sequence[int], defaults: Sequence[int | None]) -> Argument:
    """Return the bounds at some positions of an input, with defaults for those that are ignored."""
    given = node.vector(index)
    taken = given[list(positions)] if isinstance(given, np.ndarray) else node.add("Gather", given, list(positions))
    replaced = np.array([default is not None for default in defaults])
    return _where(node, replaced, np.array([default or 0 for default in defaults]), taken)


def _next(node: NodeWriter, start: Argument) -> Argument:
    """Return the end of a slice of one element; after the last element, which is -1, the end is the largest number."""
    if isinstance(start, np.ndarray):
        return np.where(start == -1, _LIMITS.max, start + 1)
    return node.add("Where", node.add("Equal", start, [-1]), [_LIMITS.max], node.add("Add", start, [1]))


def _where(node: NodeWriter, condition: np.ndarray, first: Argument, second: Argument) -> Argument:
    if not condition.any():
        return second
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.where(condition, first, second)
    return node.add("Where", condition, first, second)


def _is_set(mask: Sequence[int], position: int) -> bool:
    return position < len(mask) and mask[position] == 1


@emitter(ops.SliceScatter)
def slice_scatter(node: NodeWriter) -> str:
    """Scatter the updates to the positions of the slice in the flat data."""
    shape = node.static_shape(0)
    bounds = [node.known(index) for index in range(2, node.op.get_input_size())]
    positions = np.arange(np.prod(shape)).reshape(shape)[node.op.index(shape, bounds)]
    data, updates = (node.add("Reshape", node.input(index), [-1]) for index in (0, 1))
    return node.add("Reshape", node.add("ScatterElements", data, positions.reshape(-1), updates), shape)

"""Slice, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, emit, emitter, write_row
from hetero.ops.movement.slicing import TO_THE_END, is_set

_REDUCTIONS = {"none": "none", "sum": "add", "sub": "add", "prod": "mul", "max": "max", "min": "min"}


@emitter(ops.Gather)
def gather(node: NodeWriter) -> str:
    (axis,), indices = node.numbers(2), _indices(node, 1)
    if not node.op.batch_dims:
        return node.add("Gather", node.input(0), indices, axis=axis)
    rank, count = node.rank(0), node.rank(1)
    batch, axis = node.op.batch_dims % count if node.op.batch_dims < 0 else node.op.batch_dims, axis % rank
    # GatherND takes the axis after the batch axes, and returns the indices' axes before the others of the data.
    others = [other for other in range(batch, rank) if other != axis]
    data = node.input(0) if axis == batch else node.transpose(node.input(0), [*range(batch), axis, *others])
    result = node.add("GatherND", data, node.add("Unsqueeze", indices, [-1]), batch_dims=batch)
    if axis == batch:
        return result
    gathered = list(range(batch, count))
    moved = list(range(count, count + axis - batch))
    return node.transpose(
        result, [*range(batch), *moved, *gathered, *range(count + axis - batch, count + rank - batch - 1)]
    )


def _indices(node: NodeWriter, index: int) -> str:
    """Return indices as i32 or i64."""
    kind = node.kind(index)
    return node.input(index) if kind in (Type.i32, Type.i64) else node.cast(node.input(index), Type.i64)


emit(
    {
        ops.GatherElements: lambda node: node.add(
            "GatherElements", node.input(0), _indices(node, 1), axis=node.op.axis
        ),
        ops.GatherND: lambda node: write_row(node, node.input(0), node.converted(1, Type.i64)),
    }
)


@emitter(ops.GatherNDV5)
def gather_nd_5(node: NodeWriter) -> str:
    """The batch axes of the result are joined to one."""
    result = node.add("GatherND", node.input(0), node.converted(1, Type.i64), batch_dims=node.op.batch_dims)
    shape = node.op.get_output_partial_shape(0)
    if node.op.batch_dims < 2:
        return result
    if not shape.has_rank or any(length.is_dynamic for length in shape[1:]):
        raise NotInOnnx("batch_dims and a result of dynamic shape")
    return node.add("Reshape", result, [-1, *(length.get_length() for length in shape[1:])])


@emitter(ops.ScatterElementsUpdate, ops.ScatterElementsUpdateV3)
def scatter_elements(node: NodeWriter) -> str:
    (axis,), reduction = node.numbers(3), getattr(node.op, "reduction", "none")
    if reduction == "mean" or (reduction != "none" and not node.op.use_init_val):
        raise NotInOnnx(f"reduction {reduction} and use_init_val {node.op.use_init_val}".lower())
    return node.add(
        "ScatterElements", node.input(0), _indices(node, 1), node.input(2), axis=axis, reduction=_REDUCTIONS[reduction]
    )


@emitter(ops.ScatterNDUpdate)
def scatter_nd(node: NodeWriter) -> str:
    reduction, updates = node.op.reduction, node.input(2)
    if reduction == "sub":
        updates = node.add("Neg", updates)
    indices = node.converted(1, Type.i64)
    return node.add("ScatterND", node.input(0), indices, updates, reduction=_REDUCTIONS[reduction])


@emitter(ops.ScatterUpdate)
def scatter_update(node: NodeWriter) -> str:
    """ScatterND along the first axis; another axis is moved to the front."""
    rank, count = node.rank(0), node.rank(1)
    (axis,) = node.axes(3, rank)
    data, updates = node.input(0), node.input(2)
    order = [axis, *(other for other in range(rank) if other != axis)]
    if axis:
        data = node.transpose(data, order)
        updates = node.transpose(
            updates, [*range(axis, axis + count), *range(axis), *range(axis + count, rank + count - 1)]
        )
    indices = node.converted(1, Type.i64)
    result = node.add("ScatterND", data, node.add("Unsqueeze", indices, [-1]), updates)
    return node.transpose(result, np.argsort(order).tolist()) if axis else result


@emitter(ops.EmbeddingBagPacked, ops.EmbeddingBagPackedSum)
def embedding_bag(node: NodeWriter) -> str:
    rows = node.add("Gather", node.input(0), _indices(node, 1))
    weights = node.optional("per_sample_weights")
    if weights:
        rows = node.add("Mul", rows, node.add("Unsqueeze", weights, list(range(2, node.rank(0) + 1))))
    name = "ReduceMean" if getattr(node.op, "reduction", "sum") == "mean" else "ReduceSum"
    return node.add(name, rows, [1], keepdims=0)


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
            (0 if step > 0 else _LIMITS.max) if is_set(op.begin_mask, p) else None for p, step in zip(positions, steps)
        ]
        start = _bounds(node, 1, positions, first)
        last = [
            (_LIMITS.max if step > 0 else _LIMITS.min) if is_set(op.end_mask, p) else None
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
    bounds = node.vector(index)
    taken = bounds[list(positions)] if isinstance(bounds, np.ndarray) else node.add("Gather", bounds, list(positions))
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


@emitter(ops.SliceScatter)
def slice_scatter(node: NodeWriter) -> str:
    """Scatter the updates to the positions of the slice in the flat data."""
    shape = node.static_shape(0)
    bounds = [node.known(index) for index in range(2, node.op.get_input_size())]
    positions = np.arange(np.prod(shape)).reshape(shape)[node.op.index(shape, bounds)]
    data, updates = (node.add("Reshape", node.input(index), [-1]) for index in (0, 1))
    return node.add("Reshape", node.add("ScatterElements", data, positions.reshape(-1), updates), shape)

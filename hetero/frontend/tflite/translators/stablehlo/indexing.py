"""StableHLO GATHER and SCATTER: index vectors become flat indices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.xla import permute
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.translators.stablehlo.bodies import ScalarBody
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import convert_to, int64, normalize_axis, rank_of, reshape, scalar_like
from hetero.graph import Op, Output, as_output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


def index_columns(indices: Output, vector_axis: int, count: int) -> list[Output]:
    """Split index vectors into their ``count`` elements, each i64 of the shape of the batch of vectors.

    ``vector_axis``: the axis of the vectors in ``indices``; the rank of ``indices`` if the vectors are scalars.
    """
    rank = rank_of(indices)
    if not count:
        raise FrontendError("its index vectors must have at least one element")
    indices = convert_to(indices, Type.i64)
    if vector_axis == rank:
        columns = 1
        elements = [indices]
    else:
        axis = normalize_axis(vector_axis, rank)
        length = indices.partial_shape[axis]
        columns = length.get_length() if length.is_static else count
        elements = [ops.Gather(indices, int64(index), int64(axis)).output(0) for index in range(min(columns, count))]
    if columns != count:
        raise FrontendError(f"its index vectors have {columns} elements for {count} axes")
    return elements


def window_indices(starts: Sequence[Output | None], windows: Sequence[int], rank: int) -> list[Output]:
    """Return the indices that windows cover on each axis.

    ``starts``: the window starts on each axis, of this ``rank``; None for 0. ``windows``: the window sizes. The results
    broadcast to ``[dimensions of the starts…, window sizes other than 1…]``.
    """
    wide = [axis for axis, size in enumerate(windows) if size != 1]
    indices = []
    for axis, (start, size) in enumerate(zip(starts, windows)):
        if start is None:
            index = int64(0).output(0)
        else:
            index = ops.Unsqueeze(start, int64(range(rank, rank + len(wide)))).output(0) if wide else start
        if size != 1:
            offsets = ops.Range(int64(0), int64(size), int64(1), Type.i64)
            ones = [1] * (len(wide) - wide.index(axis) - 1)
            index = ops.Add(index, ops.Reshape(offsets, int64([-1, *ones]), False)).output(0)
        indices.append(index)
    return indices


def flat_indices(indices: Sequence[Output], lengths: Sequence[int]) -> Output:
    """Convert indices on axes of these lengths to indices on the flattened axis."""
    strides = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    rows = [index if stride == 1 else ops.Multiply(index, int64(stride)) for index, stride in zip(indices, strides)]
    total = as_output(rows[0])
    for row in rows[1:]:
        total = ops.Add(total, row).output(0)
    return total


@translator("STABLEHLO_GATHER")
@preserves_quantization
def stablehlo_gather(node: TfliteNodeContext) -> Translation:
    """Gather slices of ``slice_sizes`` at the starts in the index vectors, clamped so that they lie within the operand.

    Translated to a Gather along one axis. If several axes are indexed, they are flattened into one.
    """
    value, indices = node.get_input(0), node.get_input(1)
    sizes, start_axes = node.get_attribute("slice_sizes"), list(node.get_attribute("start_index_map"))
    collapsed = node.get_attribute("collapsed_slice_dims")
    shape = value.partial_shape
    _check(node, value)
    starts = index_columns(indices, node.get_attribute("index_vector_dim"), len(start_axes))
    batch_rank = rank_of(starts[0])
    # The start on an axis that a slice covers is always 0, so the axis needs no index. At least one indexed axis
    # remains, because the index vectors determine the number of slices.
    indexed = [axis for axis in start_axes if shape[axis] != sizes[axis]] or start_axes[:1]
    lengths = [_length(value, axis) for axis in indexed]
    starts = [
        ops.Minimum(ops.Maximum(starts[start_axes.index(axis)], int64(0)), int64(length - sizes[axis])).output(0)
        for axis, length in zip(indexed, lengths)
    ]
    windows = [sizes[axis] for axis in indexed]
    rows = flat_indices(window_indices(starts, windows, batch_rank), lengths)
    gathered, (axes_before, axes_after) = _gather_rows(_slice_unindexed(value, sizes, indexed), indexed, lengths, rows)
    # The operand axis of each dimension of the result; batch dimensions are negative numbers.
    batch_axes = list(range(-batch_rank, 0))
    axes = [*axes_before, *batch_axes, *(axis for axis in indexed if sizes[axis] != 1), *axes_after]
    return _arrange(gathered, axes, node, batch_rank, [axis for axis in range(len(sizes)) if axis not in collapsed])


def _check(node: TfliteNodeContext, value: Output) -> None:
    """Raise FrontendError if ``start_index_map`` or ``slice_sizes`` does not match the operand."""
    sizes, start_axes, rank = node.get_attribute("slice_sizes"), node.get_attribute("start_index_map"), rank_of(value)
    if len(set(start_axes)) != len(start_axes) or any(not 0 <= axis < rank for axis in start_axes):
        raise FrontendError(f"start_index_map {list(start_axes)} must be different axes of {value.partial_shape}")
    # max_length is negative if unbounded.
    limits = [length.max_length for length in value.partial_shape]
    if len(sizes) != rank or any(size < 0 or size > limit >= 0 for size, limit in zip(sizes, limits)):
        raise FrontendError(f"slice_sizes {list(sizes)} do not fit {value.partial_shape}")


def _length(value: Output, axis: int) -> int:
    length = value.partial_shape[axis]
    if length.is_dynamic:
        raise FrontendError(f"axis {axis} is indexed, so its length must be known")
    return length.get_length()


def _slice_unindexed(value: Output, sizes: tuple[int, ...], indexed: list[int]) -> Output:
    """Slice the axes that are not indexed to their slice sizes: their slices start at 0."""
    axes = [axis for axis, length in enumerate(value.partial_shape) if axis not in indexed and length != sizes[axis]]
    if not axes:
        return value
    zeros, ones = int64([0] * len(axes)), int64([1] * len(axes))
    return ops.Slice(value, zeros, int64([sizes[axis] for axis in axes]), ones, int64(axes)).output(0)


def _gather_rows(
    value: Output, indexed: list[int], lengths: list[int], rows: Output
) -> tuple[Output, tuple[list[int], list[int]]]:  # fmt: skip
    """Gather by flat indices. Also returns the axes of the value before and after the gathered dimensions."""
    rest = [axis for axis in range(rank_of(value)) if axis not in indexed]
    if len(indexed) == 1:
        (axis,) = indexed
        return ops.Gather(value, rows, int64(axis)).output(0), (rest[:axis], rest[axis:])
    value = permute(value, [*indexed, *rest])
    if not value.partial_shape.is_static:
        raise FrontendError(f"several axes are indexed, so the shape {value.partial_shape} must be static")
    value = reshape(value, [math.prod(lengths), *value.shape[len(indexed) :]])
    return ops.Gather(value, rows, int64(0)).output(0), ([], rest)


def _arrange(gathered: Output, axes: list[int], node: TfliteNodeContext, batch_rank: int, kept: list[int]) -> Output:
    """Order the dimensions of the result by ``offset_dims``.

    ``axes``: the operand axis of each dimension of ``gathered``, negative for batch dimensions. ``kept``: the slice
    axes that are not collapsed. ``offset_dims`` has their positions; batch dimensions fill the others in order.
    """
    positions, rank = node.get_attribute("offset_dims"), batch_rank + len(kept)
    if len(positions) != len(kept) or any(not 0 <= position < rank for position in positions):
        raise FrontendError(f"offset_dims {list(positions)} must be positions of {len(kept)} slice dimensions")
    batch_axes = iter(range(-batch_rank, 0))
    result_axes = [kept[positions.index(d)] if d in positions else next(batch_axes) for d in range(rank)]
    collapsed = [position for position, axis in enumerate(axes) if axis not in result_axes]
    if collapsed:
        gathered = ops.Squeeze(gathered, int64(collapsed)).output(0)
        axes = [axis for axis in axes if axis in result_axes]
    gathered = permute(gathered, [axes.index(axis) for axis in result_axes if axis in axes])
    missing = [position for position, axis in enumerate(result_axes) if axis not in axes]
    return ops.Unsqueeze(gathered, int64(missing)).output(0) if missing else gathered


_REDUCTIONS: dict[type[Op] | None, str] = {
    ops.Add: "sum", ops.Subtract: "sub", ops.Multiply: "prod", ops.Maximum: "max", ops.Minimum: "min",
    ops.LogicalOr: "sum", ops.LogicalAnd: "prod",
}  # fmt: skip


@translator("STABLEHLO_SCATTER")
@preserves_quantization
def stablehlo_scatter(node: TfliteNodeContext) -> Translation:
    """Scatter windows of updates to the starts in the index vectors; elements outside of the operand are dropped.

    Translated to a ScatterNDUpdate of rows: axes that are indexed, or that a window does not cover, are flattened.
    """
    value, indices, updates = node.get_inputs()
    reduction = _reduction(node, value)
    if reduction is None:
        return value
    if not value.partial_shape.is_static:
        raise FrontendError(f"its operand of shape {value.partial_shape} must have a static shape")
    shape, start_axes = value.shape, list(node.get_attribute("scatter_dims_to_operand_dims"))
    windows = _windows(node, shape, updates)
    columns = index_columns(indices, node.get_attribute("index_vector_dim"), len(start_axes))
    batch_rank = len(columns[0].partial_shape)
    partial = [axis for axis, size in enumerate(windows) if axis not in start_axes and size != shape[axis]]
    indexed = [*start_axes, *partial]
    rest = [axis for axis in range(len(shape)) if axis not in indexed]
    lengths = [shape[axis] for axis in indexed]
    starts = [columns[start_axes.index(axis)] if axis in start_axes else None for axis in indexed]
    element_indices = window_indices(starts, [windows[axis] for axis in indexed], batch_rank)
    count, row_shape = math.prod(lengths), [shape[axis] for axis in rest]
    rows, all_within = _rows_within(element_indices, lengths)
    data = reshape(permute(value, [*indexed, *rest]), [count, *row_shape])
    if not all_within:
        # Updates outside of the operand go to an additional row, which is then sliced off.
        row = ops.Broadcast(scalar_like(value, 0), int64([1, *row_shape]))
        data = ops.Concat([data, row], 0).output(0)
    row_updates = ops.Reshape(
        permute(updates, _order(node, updates, windows, [*indexed, *rest])), int64([-1, *row_shape]), False
    )
    row_indices = ops.Reshape(rows, int64([-1, 1]), False)
    result = ops.ScatterNDUpdate(data, row_indices, row_updates, reduction).output(0)
    if not all_within:
        result = ops.Slice(result, int64([0]), int64([count]), int64([1]), int64([0])).output(0)
    result = reshape(result, [*lengths, *row_shape])
    return permute(result, np.argsort([*indexed, *rest]).tolist())


def _reduction(node: TfliteNodeContext, value: Output) -> str | None:
    """Return the reduction of ScatterNDUpdate for the operator's graph; None if the graph ignores the updates."""
    body = ScalarBody(node, [value.element_type] * 2, 1)
    result = body.results[0].node
    if result is body.inputs[0]:
        return None
    if result is body.inputs[1]:
        return "none"
    if body.operation not in _REDUCTIONS:
        raise FrontendError(
            "its graph must return one of its two inputs, or their sum, difference, product, maximum or minimum"
        )
    return _REDUCTIONS[body.operation]


def _windows(node: TfliteNodeContext, shape: tuple[int, ...], updates: Output) -> list[int]:
    """Return the window size of an update on each axis of the operand."""
    inserted, window_dims = node.get_attribute("inserted_window_dims"), node.get_attribute("update_window_dims")
    kept = [axis for axis in range(len(shape)) if axis not in inserted]
    lengths = updates.partial_shape
    if len(window_dims) != len(kept) or any(not 0 <= d < len(lengths) or lengths[d].is_dynamic for d in window_dims):
        raise FrontendError(f"update_window_dims {list(window_dims)} of {lengths} do not fit the operand's axes {kept}")
    windows = [1] * len(shape)
    for axis, dimension in zip(kept, window_dims):
        windows[axis] = lengths[dimension].get_length()
        if windows[axis] > shape[axis]:
            raise FrontendError(f"updates of {windows[axis]} elements do not fit on axis {axis} of {list(shape)}")
    return windows


def _rows_within(indices: list[Output], lengths: list[int]) -> tuple[Output, bool]:
    """Return row indices, and whether all are known to lie within the operand.

    Rows outside of the operand get the number of rows as their index.
    """
    within, all_within = None, True
    for index, length in zip(indices, lengths):
        known = exact_value(index)
        if known is not None and ((known >= 0) & (known < length)).all():
            continue
        on_axis = ops.LogicalAnd(ops.GreaterEqual(index, int64(0)), ops.Less(index, int64(length)))
        within = on_axis if within is None else ops.LogicalAnd(within, on_axis)
        all_within = False
    rows = flat_indices(indices, lengths)
    return (rows if all_within else ops.Select(within, rows, int64(math.prod(lengths))).output(0)), all_within


def _order(node: TfliteNodeContext, updates: Output, windows: list[int], axes: list[int]) -> list[int]:
    """Return the permutation of the updates' dimensions: batch dimensions first, then windows in the order of axes."""
    inserted, window_dims = node.get_attribute("inserted_window_dims"), node.get_attribute("update_window_dims")
    dimension_of = dict(zip((axis for axis in range(len(windows)) if axis not in inserted), window_dims))
    batch_dims = [dimension for dimension in range(len(updates.partial_shape)) if dimension not in window_dims]
    return [*batch_dims, *(dimension_of[axis] for axis in axes if axis in dimension_of)]

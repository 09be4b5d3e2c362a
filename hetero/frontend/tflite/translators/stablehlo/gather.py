"""StableHLO GATHER."""

from __future__ import annotations

import math

from hetero import ops
from hetero.frontend.numerics.xla import permute
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.index_vectors import flat_indices, index_columns, window_indices
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, reshape
from hetero.graph import Output
from hetero.system.errors import FrontendError


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
    wanted = [kept[positions.index(d)] if d in positions else next(batch_axes) for d in range(rank)]
    collapsed = [position for position, axis in enumerate(axes) if axis not in wanted]
    if collapsed:
        gathered = ops.Squeeze(gathered, int64(collapsed)).output(0)
        axes = [axis for axis in axes if axis in wanted]
    gathered = permute(gathered, [axes.index(axis) for axis in wanted if axis in axes])
    missing = [position for position, axis in enumerate(wanted) if axis not in axes]
    return ops.Unsqueeze(gathered, int64(missing)).output(0) if missing else gathered

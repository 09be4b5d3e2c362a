"""StableHLO SCATTER."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.frontend.numerics.xla import permute
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.bodies import ScalarBody
from hetero.frontend.tflite.translators.stablehlo.index_vectors import flat_indices, index_columns, window_indices
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, reshape, scalar_like
from hetero.graph import Op, Output
from hetero.ops.values import exact_value
from hetero.system.errors import FrontendError

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

"""StableHLO's SCATTER."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.bodies import ScalarBody
from hetero.frontend.tflite.translators.stablehlo.index_vectors import (
    flat_indices,
    index_columns,
    transposed,
    window_indices,
)
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, reshape, scalar_like
from hetero.graph import Op, Output
from hetero.ops.values import exact_value

_REDUCTIONS: dict[type[Op] | None, str] = {
    ops.Add: "sum", ops.Subtract: "sub", ops.Multiply: "prod", ops.Maximum: "max", ops.Minimum: "min",
    ops.LogicalOr: "sum", ops.LogicalAnd: "prod",
}  # fmt: skip


@translator("STABLEHLO_SCATTER")
@preserves_quantization
def stablehlo_scatter(node: TfliteNodeContext) -> Translation:
    """Windows of updates, which begin where index vectors say; elements outside of the operand are left out.

    A ScatterNDUpdate of rows: the axes that are indexed, or where a window is not the whole, are made one.
    """
    value, indices, updates = node.get_inputs()
    reduction = _reduction(node, value)
    if reduction is None:
        return value
    if not value.partial_shape.is_static:
        raise FrontendError(f"the shape {value.partial_shape} must be known")
    shape, named = value.shape, list(node.get_attribute("scatter_dims_to_operand_dims"))
    windows = _windows(node, shape, updates)
    columns = index_columns(indices, node.get_attribute("index_vector_dim"), len(named))
    batch = len(columns[0].partial_shape)
    indexed = [*named, *(axis for axis, size in enumerate(windows) if axis not in named and size != shape[axis])]
    rest = [axis for axis in range(len(shape)) if axis not in indexed]
    lengths = [shape[axis] for axis in indexed]
    starts = [columns[named.index(axis)] if axis in named else None for axis in indexed]
    places = window_indices(starts, [windows[axis] for axis in indexed], batch)
    count, behind = math.prod(lengths), [shape[axis] for axis in rest]
    rows, all_within = _rows_within(places, lengths)
    data = reshape(transposed(value, [*indexed, *rest]), [count, *behind])
    if not all_within:
        # What lies outside goes to a row that is cut off again.
        row = ops.Broadcast(scalar_like(value, 0), int64([1, *behind]))
        data = ops.Concat([data, row], 0).output(0)
    updates = ops.Reshape(
        transposed(updates, _order(node, updates, windows, [*indexed, *rest])), int64([-1, *behind]), False
    )
    rows = ops.Reshape(rows, int64([-1, 1]), False)
    made = ops.ScatterNDUpdate(data, rows, updates, reduction).output(0)
    if not all_within:
        made = ops.Slice(made, int64([0]), int64([count]), int64([1]), int64([0])).output(0)
    made = reshape(made, [*lengths, *behind])
    return transposed(made, np.argsort([*indexed, *rest]).tolist())


def _reduction(node: TfliteNodeContext, value: Output) -> str | None:
    """What an update does to the element where it goes, in ScatterNDUpdate's words; None for nothing."""
    body = ScalarBody(node, [value.element_type] * 2, 1)
    result = body.results[0].node
    if result is body.inputs[0]:
        return None
    if result is body.inputs[1]:
        return "none"
    if body.operation not in _REDUCTIONS:
        raise FrontendError(
            "its graph must give one of its two inputs, or their sum, difference, product, maximum or minimum"
        )
    return _REDUCTIONS[body.operation]


def _windows(node: TfliteNodeContext, shape: tuple[int, ...], updates: Output) -> list[int]:
    """How much of each axis of the operand an update covers."""
    inserted, places = node.get_attribute("inserted_window_dims"), node.get_attribute("update_window_dims")
    kept = [axis for axis in range(len(shape)) if axis not in inserted]
    lengths = updates.partial_shape
    if len(places) != len(kept) or any(not 0 <= p < len(lengths) or lengths[p].is_dynamic for p in places):
        raise FrontendError(f"update_window_dims {list(places)} of {lengths} do not fit the operand's axes {kept}")
    windows = [1] * len(shape)
    for axis, place in zip(kept, places):
        windows[axis] = lengths[place].get_length()
        if windows[axis] > shape[axis]:
            raise FrontendError(f"updates of {windows[axis]} elements do not fit on axis {axis} of {list(shape)}")
    return windows


def _rows_within(places: list[Output], lengths: list[int]) -> tuple[Output, bool]:
    """The rows' numbers, one more than there are for what lies outside, and whether it is known that nothing does."""
    within, all_within = None, True
    for place, length in zip(places, lengths):
        known = exact_value(place)
        if known is not None and ((known >= 0) & (known < length)).all():
            continue
        inside = ops.LogicalAnd(ops.GreaterEqual(place, int64(0)), ops.Less(place, int64(length)))
        within = inside if within is None else ops.LogicalAnd(within, inside)
        all_within = False
    rows = flat_indices(places, lengths)
    return (rows if all_within else ops.Select(within, rows, int64(math.prod(lengths))).output(0)), all_within


def _order(node: TfliteNodeContext, updates: Output, windows: list[int], axes: list[int]) -> list[int]:
    """The dimensions of the updates in the order of rows: those of the index vectors, then windows by their axes."""
    inserted, places = node.get_attribute("inserted_window_dims"), node.get_attribute("update_window_dims")
    of_axis = dict(zip((axis for axis in range(len(windows)) if axis not in inserted), places))
    batch = [place for place in range(len(updates.partial_shape)) if place not in places]
    return [*batch, *(of_axis[axis] for axis in axes if axis in of_axis)]

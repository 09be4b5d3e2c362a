"""Scatter operations: updates written into a copy of the data."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import SortKeys, argsort, filled_buffer
from hetero_opencl.kernels.common.copies import (
    WORDS,
    copy_whole,
    shape_input,
    strided_copy,
    unsupported_movement,
    widest_word,
)
from hetero_opencl.kernels.common.definition import lowers, source, template, unsupported_types
from hetero_opencl.kernels.common.view import view_of
from hetero_opencl.kernels.movement.gather import unsupported_gather
from hetero_opencl.lowering.lowering import Lowering

ReductionUpdate = ops.ScatterNDUpdate | ops.ScatterNDUpdateV4 | ops.ScatterElementsUpdate | ops.ScatterElementsUpdateV3

# How an element and an update are combined. For booleans a sum is "or", that is max, and a product "and", that is min.
_COMBINE = {
    "sum": "((a) + (b))", "sub": "((a) - (b))", "prod": "((a) * (b))", "mean": "((a) + (b))",
    "min": "((b) != (b) || (b) < (a) ? (b) : (a))", "max": "((b) != (b) || (b) > (a) ? (b) : (a))",
}  # fmt: skip
_BOOLEAN_REDUCTIONS = {"sum": "max", "prod": "min"}


def _unsupported_reduction(node: ReductionUpdate) -> str | None:
    if node.reduction == "sub" and node.get_input_element_type(0) is Type.boolean:
        return "booleans cannot be subtracted"
    return unsupported_gather(node) if node.reduction == "none" else unsupported_types(node)


@lowers(ops.ScatterUpdate, unsupported=unsupported_gather)
def scatter_update(lowering: Lowering, node: ops.ScatterUpdate) -> None:
    """Data [outer, rows, inner], updates [outer, indices, inner]."""
    shape = node.shape
    axis = int(shape_input(node, 3).reshape(-1)[0]) % len(shape)
    targets = _row_targets(lowering, node, shape[axis : axis + 1], 1)
    _replace(lowering, node, targets, shape[axis], math.prod(shape[axis + 1 :]))


@lowers(ops.ScatterNDUpdate, ops.ScatterNDUpdateV4, unsupported=_unsupported_reduction)
def scatter_nd_update(lowering: Lowering, node: ops.ScatterNDUpdate | ops.ScatterNDUpdateV4) -> None:
    depth = node.get_input_shape(1)[-1]
    targets, inner = _row_targets(lowering, node, node.shape[:depth], depth), math.prod(node.shape[depth:])
    if node.reduction == "none":
        _replace(lowering, node, targets, math.prod(node.shape[:depth]), inner)
    else:
        _combine(lowering, node, targets, inner)


@lowers(ops.ScatterElementsUpdate, ops.ScatterElementsUpdateV3, unsupported=_unsupported_reduction)
def scatter_elements_update(lowering: Lowering, node: ops.ScatterElementsUpdate | ops.ScatterElementsUpdateV3) -> None:
    targets = _element_targets(lowering, node)
    if node.reduction == "none":
        _replace(lowering, node, targets, math.prod(node.shape), 1)
    else:
        _combine(lowering, node, targets, 1, node.use_init_val)


@lowers(ops.SliceScatter, unsupported=unsupported_movement)
def slice_scatter(lowering: Lowering, node: ops.SliceScatter) -> None:
    """Copy the data, then the updates, broadcast to the slice."""
    value, updates, output = node.input_value(0), node.input_value(1), node.output(0)
    bounds = [shape_input(node, index) for index in range(2, node.get_input_size())]
    copy_whole(lowering, lowering.buffer(value), value, lowering.buffer(output))
    part = view_of(output)[node.index(node.shape, bounds)]
    spread = view_of(updates).broadcast_to(part.shape)
    strided_copy(lowering, lowering.buffer(updates), spread, lowering.buffer(output), part)


def _row_targets(lowering: Lowering, node: Node, lengths: tuple[int, ...], depth: int) -> Buffer:
    """Return the row of the data, i32, that each vector of ``depth`` indices selects; -1 if out of range."""
    count = math.prod(node.get_input_shape(1)) // depth if depth else math.prod(node.get_input_shape(1)[:-1])
    targets = lowering.scratch(count)
    table = lowering.constant(np.array(lengths, np.int32))
    lowering.launch_flat(_targets_text(node), "row_targets", [node.input_value(1), targets, table, depth], count)
    return targets


def _element_targets(lowering: Lowering, node: Node) -> Buffer:
    """Return the element of the data, i32, that each index along an axis selects; -1 if out of range."""
    shape, indices = node.shape, node.input_value(1)
    axis = int(shape_input(node, 3).reshape(-1)[0]) % len(shape)
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    axes = [(length, shape[i], 0 if i == axis else strides[i]) for i, length in enumerate(indices.shape)]
    count, table = math.prod(indices.shape), lowering.constant(np.array(axes[::-1], np.int32))
    targets, sizes = lowering.scratch(count), (len(shape), shape[axis], strides[axis])
    lowering.launch_flat(_targets_text(node), "element_targets", [indices, targets, table, *sizes], count)
    return targets


def _replace(lowering: Lowering, node: Node, targets: Buffer, rows: int, inner: int) -> None:
    """Write the updates, rows of ``inner`` elements, to the target rows. The last update of a row wins."""
    output, updates = node.output(0), targets.byte_size // 4
    count, size = math.prod(output.shape), output.element_type.size
    if not count:
        return
    last = filled_buffer(lowering, rows, -1)
    word = widest_word(inner * size)
    text = source("scatter", WORD=WORDS[word])
    lowering.launch_flat(text, "find_last", [targets, last], updates)
    data, new, sizes = node.input_value(0), node.input_value(2), (rows, inner * size // word, updates)
    lowering.launch_flat(text, "replace", [data, new, last, output, *sizes], count * size // word)


def _combine(lowering: Lowering, node: ReductionUpdate, targets: Buffer, inner: int, with_data: bool = True) -> None:
    """Combine each target row with its updates, rows of ``inner`` elements, in order."""
    value, output, updates = node.input_value(0), node.output(0), targets.byte_size // 4
    if not math.prod(output.shape):
        return
    copy_whole(lowering, lowering.buffer(value), value, lowering.buffer(output))
    order = argsort(lowering, SortKeys(targets, Type.i32, 1, updates, 1))
    reduction = node.reduction
    if value.element_type is Type.boolean:
        reduction = _BOOLEAN_REDUCTIONS.get(reduction, reduction)
    macros = {"COMBINE(a, b)": _COMBINE[reduction], "MEAN": int(reduction == "mean")}
    text = source("scatter_reduction", {"DATA": value.element_type}, **macros)
    sizes = (inner, updates, with_data)
    lowering.launch_flat(text, "combine", [node.input_value(2), targets, order, output, *sizes], updates * inner)


def _targets_text(node: Node) -> str:
    return template("normalize_index") + source("scatter_targets", {"INDEX": node.get_input_element_type(1)})

"""Gather operations, GatherTree, NonZero, and gathers with constant indices per axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.graph import Node, Output
from hetero_opencl.kernels.common.algorithms import exclusive_scan, make_dynamic_output
from hetero_opencl.kernels.common.copies import (
    WORDS,
    copy_or_share,
    shape_input,
    unsupported_movement,
    widest_word,
)
from hetero_opencl.kernels.common.definition import (
    first_reason,
    lowers,
    source,
    template,
    unsupported_inputs,
    unsupported_types,
)
from hetero_opencl.kernels.common.view import view_of
from hetero_opencl.lowering.lowering import Argument, Lowering

# Rejects data without a fixed element size, and indices that kernels cannot compute with.
unsupported_gather = first_reason(unsupported_movement, unsupported_inputs(1))


@lowers(ops.Gather, ops.GatherV7, ops.GatherV1, unsupported=unsupported_gather)
def gather(lowering: Lowering, node: ops.Gather | ops.GatherV7 | ops.GatherV1) -> None:
    """Gather from data [batches, outer, length, inner] with indices [batches, count]."""
    data, indices = node.input_value(0), node.input_value(1)
    axis = int(shape_input(node, 2).reshape(-1)[0]) % len(data.shape)
    batch = node.batch_dims % len(indices.shape) if node.batch_dims < 0 else node.batch_dims
    lengths = math.prod(data.shape[batch:axis]), data.shape[axis], math.prod(indices.shape[batch:])
    _launch(lowering, node, "gather", lengths, math.prod(data.shape[axis + 1 :]))


@lowers(ops.GatherElements, unsupported=unsupported_gather)
def gather_elements(lowering: Lowering, node: ops.GatherElements) -> None:
    shape, axis = node.get_input_shape(0), node.axis % len(node.get_input_shape(0))
    sizes = shape[axis], node.get_input_shape(1)[axis], math.prod(shape[axis + 1 :])
    _launch(lowering, node, "gather_elements", sizes)


@lowers(ops.GatherND, ops.GatherNDV5, unsupported=unsupported_gather)
def gather_nd(lowering: Lowering, node: ops.GatherND | ops.GatherNDV5) -> None:
    shape, indices, batch = node.get_input_shape(0), node.get_input_shape(1), node.batch_dims
    depth = indices[-1]
    lengths = lowering.constant(np.array(shape[batch : batch + depth], np.int32))
    sizes = lengths, depth, math.prod(indices[batch:-1])
    _launch(lowering, node, "gather_nd", sizes, math.prod(shape[batch + depth :]))


def _launch(lowering: Lowering, node: Node, kernel: str, sizes: Sequence[Argument], inner: int | None = None) -> None:
    """Launch a gather kernel. Runs of ``inner`` elements are moved in wide words, single elements if it is None."""
    data, indices, output = node.input_value(0), node.input_value(1), node.output(0)
    count, size = math.prod(output.shape), data.element_type.size
    if not count:
        return
    word = size if inner is None else widest_word(inner * size)
    words = [] if inner is None else [inner * size // word]
    text = template("normalize_index") + source("gather", {"INDEX": indices.element_type}, WORD=WORDS[word])
    lowering.launch_flat(text, kernel, [data, indices, output, *sizes, *words], count * size // word)


@lowers(ops.GatherTree, unsupported=unsupported_types)
def gather_tree(lowering: Lowering, node: ops.GatherTree) -> None:
    steps, batch, beams = node.shape
    text = template("normalize_index") + source("gather_tree", {"DATA": node.get_element_type()})
    lowering.launch_flat(text, "gather_tree", [*node.input_values(), node.output(0), steps, beams], batch * beams)


def gather_per_axis(lowering: Lowering, value: Output, indices: Sequence[np.ndarray], output: Output) -> None:
    """Launch ``output = value[np.ix_(*indices)]``; there is one vector of indices per axis."""
    shape, size = value.shape, value.element_type.size
    if not math.prod(output.shape):
        return
    # Leading and trailing axes that are taken whole need no index table.
    chosen = [axis for axis, length in enumerate(shape) if not np.array_equal(indices[axis], np.arange(length))]
    if not chosen:
        return copy_or_share(lowering, value, view_of(value), output)
    first, end = chosen[0], chosen[-1] + 1
    inner = math.prod(shape[end:])
    word = widest_word(inner * size)
    words = inner * size // word
    strides = [math.prod(shape[axis + 1 : end]) * words for axis in range(first, end)]
    tables = indices[first:end]
    axes = [(len(table), begin) for table, begin in zip(tables, np.cumsum([0, *map(len, tables)]))]
    offsets = [table * stride for table, stride in zip(tables, strides)]
    arrays = [np.array(axes[::-1], np.int32), np.concatenate(offsets).astype(np.int32)]
    buffers, sizes = map(lowering.constant, arrays), (end - first, math.prod(shape[first:end]) * words, words)
    text, count = source("gather_per_axis", WORD=WORDS[word]), math.prod(output.shape) * size // word
    lowering.launch_flat(text, "gather_per_axis", [value, output, *buffers, *sizes], count)


@lowers(ops.NonZero, unsupported=unsupported_types)
def non_zero(lowering: Lowering, node: ops.NonZero) -> None:
    data, output = node.input_value(0), node.output(0)
    lengths, count = data.shape or (1,), math.prod(data.shape)
    text = source("non_zero", {"DATA": data.element_type, "INDEX": output.element_type})
    flags = lowering.scratch(count)
    lowering.launch_flat(text, "find", [data, flags], count)
    before, total = exclusive_scan(lowering, flags, count)
    coordinates = make_dynamic_output(lowering, output, [len(lengths), -1], len(lengths) * count, total)
    table = lowering.constant(np.array(lengths, np.int32))
    lowering.launch_flat(text, "write_coordinates", [flags, before, total, table, coordinates, len(lengths)], count)

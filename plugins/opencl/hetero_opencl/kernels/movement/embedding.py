"""EmbeddingBag, EmbeddingSegments, SegmentMax and SparseFillEmptyRows."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type, lowest
from hetero.graph import Node, Output, is_constant
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.algorithms import (
    SortKeys,
    argsort,
    exclusive_scan,
    filled_buffer,
    make_dynamic_output,
)
from hetero_opencl.kernels.common.copies import WORDS, shape_input
from hetero_opencl.kernels.common.definition import lowers, source, template, unsupported_types
from hetero_opencl.lowering.lowering import Argument, Lowering

BagOffsets = ops.EmbeddingBagOffsets | ops.EmbeddingBagOffsetsSum
BagPacked = ops.EmbeddingBagPacked | ops.EmbeddingBagPackedSum


@lowers(ops.EmbeddingBagOffsets, ops.EmbeddingBagOffsetsSum, unsupported=unsupported_types)
def embedding_bag_offsets(lowering: Lowering, node: BagOffsets) -> None:
    indices, offsets = node.input_value(1), node.input_value(2)
    bags = node.shape[0]
    starts = lowering.scratch(bags + 1)
    lowering.launch_flat(_text(node), "bags_of_offsets", [offsets, starts, bags, indices.shape[0]], bags + 1)
    _sum_bags(lowering, node, starts)


@lowers(ops.EmbeddingBagPacked, ops.EmbeddingBagPackedSum, unsupported=unsupported_types)
def embedding_bag_packed(lowering: Lowering, node: BagPacked) -> None:
    bags, length = node.get_input_shape(1)
    _sum_bags(lowering, node, lowering.constant(np.arange(bags + 1, dtype=np.int32) * np.int32(length)))


@lowers(ops.EmbeddingSegmentsSum, unsupported=unsupported_types)
def embedding_segments_sum(lowering: Lowering, node: ops.EmbeddingSegmentsSum) -> None:
    ids = node.input_value(2)
    order = argsort(lowering, SortKeys(lowering.buffer(ids), ids.element_type, 1, ids.shape[0], 1))
    _sum_bags(lowering, node, _starts(lowering, node, ids, order), order)


def _unsupported_segment_max(node: ops.SegmentMax) -> str | None:
    if not node.has_input("num_segments") and not is_constant(node.input_value(1)):
        return "without the input num_segments the number of segments depends on data"
    return unsupported_types(node)


@lowers(ops.SegmentMax, unsupported=_unsupported_segment_max)
def segment_max(lowering: Lowering, node: ops.SegmentMax) -> None:
    data, ids, output = node.input_value(0), node.input_value(1), node.output(0)
    order = lowering.constant(np.arange(ids.shape[0], dtype=np.int32))
    starts = _starts(lowering, node, ids, order)
    dtype = data.element_type.to_dtype()
    fill = lowering.constant(np.array([0 if node.fill_mode == "zero" else lowest(dtype)], dtype))
    width = math.prod(output.shape[1:])
    lowering.launch_flat(_text(node), "largest_in_bags", [data, starts, fill, output, width], math.prod(output.shape))


def _starts(lowering: Lowering, node: Node, ids: Output, order: Buffer) -> Buffer:
    """Return where each segment begins among the sorted ids, i32, followed by the end of the last one."""
    bags = node.shape[0]
    starts = lowering.scratch(bags + 1)
    lowering.launch_flat(_text(node), "bags_of_ids", [ids, order, starts, ids.shape[0]], bags + 1)
    return starts


def _sum_bags(
    lowering: Lowering,
    node: BagOffsets | BagPacked | ops.EmbeddingSegmentsSum,
    starts: Buffer,
    order: Buffer | None = None,
) -> None:
    values = dict(zip(node.input_names, node.input_values()))
    table, indices = values["emb_table"], values["indices"]
    default, weights = values.get("default_index?"), values.get("per_sample_weights?")
    arguments: list[Argument] = [table, indices, order or starts, starts, default or indices, weights or table]
    sizes = (table.shape[0], math.prod(node.shape[1:]))
    flags = (order is not None, default is not None, weights is not None, node.reduction == "mean")
    lowering.launch_flat(_text(node), "sum_bags", [*arguments, node.output(0), *sizes, *flags], math.prod(node.shape))


def _text(node: Node) -> str:
    types = {"DATA": node.get_element_type(), "INDEX": node.get_input_element_type(1)}
    return template("normalize_index") + source("embedding", types)


@lowers(ops.SparseFillEmptyRows, unsupported=unsupported_types)
def sparse_fill_empty_rows(lowering: Lowering, node: ops.SparseFillEmptyRows) -> None:
    values, _, indices, default_value = node.input_values()
    entries, rows = node.get_input_shape(0)[0], int(shape_input(node, 1).reshape(-1)[0])
    max_entries = entries + rows
    word = WORDS[node.get_input_element_type(0).size]
    text = source("sparse", {"INDEX": node.get_input_element_type(2)}, WORD=word)
    marks = filled_buffer(lowering, rows, 0)
    lowering.launch_flat(text, "mark_rows", [indices, marks, rows], entries)
    keys, is_kept = lowering.scratch(max_entries, 8), lowering.scratch(max_entries)
    lowering.launch_flat(text, "find_entries", [indices, marks, keys, is_kept, node.output(2), entries], max_entries)
    order = argsort(lowering, SortKeys(keys, Type.i64, 1, max_entries, 1))
    _, total = exclusive_scan(lowering, is_kept, max_entries)
    found_indices = make_dynamic_output(lowering, node.output(0), [-1, 2], 2 * max_entries, total)
    found_values = make_dynamic_output(lowering, node.output(1), [-1], max_entries, total)
    buffers = [order, total, found_indices, found_values]
    lowering.launch_flat(text, "write_entries", [indices, values, default_value, *buffers, entries], max_entries)

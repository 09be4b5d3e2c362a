"""EmbeddingBag, EmbeddingSegments and SegmentMax operations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, is_constant
from hetero.types import lowest
from hetero_opencl.kernels.merge_sort import SortKeys, argsort
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source, template, unsupported_types
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.EmbeddingBagOffsets, ops.EmbeddingBagOffsetsSum, unless=unsupported_types)
def embedding_bag_offsets(lowering: Lowering, node: Node) -> None:
    indices, offsets = node.input_value(1), node.input_value(2)
    bags = node.shape[0]
    starts = lowering.scratch(bags + 1)
    arguments = [lowering.buffer(offsets), starts, np.int32(bags), np.int32(indices.shape[0])]
    lowering.launch_flat(_text(node), "bags_of_offsets", arguments, bags + 1)
    _sum_bags(lowering, node, starts)


@lowers(ops.EmbeddingBagPacked, ops.EmbeddingBagPackedSum, unless=unsupported_types)
def embedding_bag_packed(lowering: Lowering, node: Node) -> None:
    bags, length = node.get_input_shape(1)
    _sum_bags(lowering, node, lowering.constant(np.arange(bags + 1, dtype=np.int32) * np.int32(length)))


@lowers(ops.EmbeddingSegmentsSum, unless=unsupported_types)
def embedding_segments_sum(lowering: Lowering, node: Node) -> None:
    ids = node.input_value(2)
    order = argsort(lowering, SortKeys(lowering.buffer(ids), ids.element_type, 1, ids.shape[0], 1))
    _sum_bags(lowering, node, _starts(lowering, node, ids, order), order)


def _unsupported_segment_max(node: Node) -> str | None:
    if not node.has_input("num_segments") and not is_constant(node.input_value(1)):
        return "without the input num_segments the number of segments depends on data"
    return unsupported_types(node)


@lowers(ops.SegmentMax, unless=_unsupported_segment_max)
def segment_max(lowering: Lowering, node: Node) -> None:
    data, ids, output = node.input_value(0), node.input_value(1), node.output(0)
    order = lowering.constant(np.arange(ids.shape[0], dtype=np.int32))
    starts = _starts(lowering, node, ids, order)
    dtype = data.element_type.to_dtype()
    fill = lowering.constant(np.array([0 if node.fill_mode == "zero" else lowest(dtype)], dtype))
    arguments = [lowering.buffer(data), starts, fill, lowering.buffer(output), np.int32(math.prod(output.shape[1:]))]
    lowering.launch_flat(_text(node), "largest_in_bags", arguments, math.prod(output.shape))


def _starts(lowering: Lowering, node: Node, ids: Output, order: Buffer) -> Buffer:
    """Return where each segment begins among the sorted ids, i32, followed by the end of the last one."""
    bags = node.shape[0]
    starts = lowering.scratch(bags + 1)
    arguments = [lowering.buffer(ids), order, starts, np.int32(ids.shape[0])]
    lowering.launch_flat(_text(node), "bags_of_ids", arguments, bags + 1)
    return starts


def _sum_bags(lowering: Lowering, node: Node, starts: Buffer, order: Buffer | None = None) -> None:
    table, indices = lowering.buffer(node.input_value(0)), lowering.buffer(node.input_value(1))
    names = "default_index", "per_sample_weights"
    default, weights = (
        lowering.buffer(node.input_value(node.input_index(name))) if _has_input(node, name) else None for name in names
    )
    buffers = [table, indices, order or starts, starts, default or indices, weights or table]
    flags = [part is not None for part in (order, default, weights)]
    numbers = [node.get_input_shape(0)[0], math.prod(node.shape[1:]), *flags, node.reduction == "mean"]
    arguments = [*buffers, lowering.buffer(node.output(0)), *map(np.int32, numbers)]
    lowering.launch_flat(_text(node), "sum_bags", arguments, math.prod(node.shape))


def _has_input(node: Node, name: str) -> bool:
    return f"{name}?" in node.input_names and node.has_input(name)


def _text(node: Node) -> str:
    types = {"DATA": node.get_element_type(), "INDEX": node.get_input_element_type(1)}
    return template("normalize_index") + source("embedding", types)

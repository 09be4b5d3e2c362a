"""Gather operations, and GatherTree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.movement import WORDS, shape_input, unsupported_movement, widest_word
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source, template, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering


def unsupported_gather(node: Node) -> str | None:
    """Reject data without a fixed element size, and indices, input 1, that kernels cannot compute with."""
    return unsupported_movement(node) or unsupported_types(node, [node.input_value(1)])


@lowers(ops.Gather, ops.GatherV7, ops.GatherV1, unless=unsupported_gather)
def gather(lowering: Lowering, node: ops.Gather | ops.GatherV7 | ops.GatherV1) -> None:
    """Gather from data [batches, outer, length, inner] with indices [batches, count]."""
    data, indices = node.input_value(0), node.input_value(1)
    axis = int(shape_input(node, 2).reshape(-1)[0]) % len(data.shape)
    batch = node.batch_dims % len(indices.shape) if node.batch_dims < 0 else node.batch_dims
    lengths = math.prod(data.shape[batch:axis]), data.shape[axis], math.prod(indices.shape[batch:])
    _launch(lowering, node, "gather", lengths, math.prod(data.shape[axis + 1 :]))


@lowers(ops.GatherElements, unless=unsupported_gather)
def gather_elements(lowering: Lowering, node: ops.GatherElements) -> None:
    shape, axis = node.get_input_shape(0), node.axis % len(node.get_input_shape(0))
    _launch(
        lowering, node, "gather_elements", (shape[axis], node.get_input_shape(1)[axis], math.prod(shape[axis + 1 :]))
    )


@lowers(ops.GatherND, ops.GatherNDV5, unless=unsupported_gather)
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


@lowers(ops.GatherTree, unless=unsupported_types)
def gather_tree(lowering: Lowering, node: ops.GatherTree) -> None:
    steps, batch, beams = node.shape
    text = template("normalize_index") + source("gather_tree", {"DATA": node.get_element_type()})
    lowering.launch_flat(text, "gather_tree", [*node.input_values(), node.output(0), steps, beams], batch * beams)

"""Gather: slices picked by indices that lie on the device."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.movement import WORDS, refuse, shape_input
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES, source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def refuse_gather(node: Node) -> str | None:
    indices = node.get_input_element_type(1)
    if indices not in C_TYPES:
        return f"no kernel gathers by indices of type {indices}"
    return refuse(node)


@lowers(ops.Gather, ops.GatherV7, ops.GatherV1, unless=refuse_gather)
def gather(lowering: Lowering, node: Node) -> None:
    """Data [batches, outer, length, inner] by indices [batches, count], in words as large as inner allows."""
    data, indices, output = node.input_value(0), node.input_value(1), node.output(0)
    axis = int(shape_input(node, 2).reshape(-1)[0]) % len(data.shape)
    batch_rank = node.batch_dims % len(indices.shape) if node.batch_dims < 0 else node.batch_dims
    inner_bytes = math.prod(data.shape[axis + 1 :]) * data.element_type.size
    count = math.prod(output.shape)
    if not count:
        return
    word = max(size for size in WORDS if inner_bytes % size == 0)
    numbers = (
        math.prod(data.shape[batch_rank:axis]),
        data.shape[axis],
        math.prod(indices.shape[batch_rank:]),
        inner_bytes // word,
    )
    text = source("gather", WORD=WORDS[word], INDEX=C_TYPES[indices.element_type])
    buffers = [lowering.buffer(value) for value in (data, indices, output)]
    items = count * data.element_type.size // word
    lowering.launch_flat(text, "gather", [*buffers, *map(np.int32, numbers)], items)

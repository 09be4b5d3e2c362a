"""OneHot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.movement import WORDS, unsupported_movement
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def _unsupported(node: Node) -> str | None:
    return unsupported_movement(node) or unsupported_types(node, [node.input_value(0)])


@lowers(ops.OneHot, ops.OneHotV1, unless=_unsupported)
def one_hot(lowering: Lowering, node: ops.OneHot | ops.OneHotV1) -> None:
    axis = node.axis % len(node.shape)
    indices, _, on_value, off_value = node.input_values()
    text = source("one_hot", {"INDEX": indices.element_type}, WORD=WORDS[on_value.element_type.size])
    buffers = (indices, on_value, off_value, node.output(0))
    sizes = node.shape[axis], math.prod(node.shape[axis + 1 :]), node.negative_indices_mode == "normalize"
    lowering.launch_flat(text, "one_hot", [*buffers, *sizes], math.prod(node.shape))

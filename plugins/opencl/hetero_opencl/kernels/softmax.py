"""Softmax and its logarithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def _refusal(node: Node) -> str | None:
    element_type = node.get_input_element_type(0)
    return None if element_type is Type.f32 else f"no kernel for {node.type_info.name} of {element_type}"


@lowers(ops.Softmax, ops.LogSoftmax, unless=_refusal)
def softmax(lowering: Lowering, node: Node) -> None:
    shape = node.shape
    axis = node.axis % len(shape)
    length, inner = shape[axis], int(np.prod(shape[axis + 1 :]))
    text = source("softmax", LOGARITHM=int(isinstance(node, ops.LogSoftmax)))
    arguments = [lowering.buffer(node.input_value(0)), lowering.buffer(node.output(0))]
    outer = int(np.prod(shape[:axis])) if length else 0
    # On a CPU columns go together in vectors; on a GPU neighbouring work-items are neighbouring columns.
    in_vectors = lowering.device.is_cpu and inner >= 16
    kernel, items = ("softmax_columns", outer * -(-inner // 16)) if in_vectors else ("softmax", outer * inner)
    lowering.launch_flat(text, kernel, [*arguments, np.int32(length), np.int32(inner)], items)

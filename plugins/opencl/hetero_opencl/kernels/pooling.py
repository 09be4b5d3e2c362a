"""MaxPool and AvgPool over one to three spatial dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# A row of fewer places is not worth a vector.
_FEWEST_LANES = 4


def _refusal(node: Node) -> str | None:
    if node.get_input_element_type(0) is not Type.f32:
        return f"no kernel for {node.type_info.name} of {node.get_input_element_type(0)}"
    if isinstance(node, ops.MaxPoolV8) and node.output(1).get_target_inputs():
        return "MaxPool whose indices are read"
    return None if len(node.kernel_shape) <= 3 else f"{len(node.kernel_shape)} spatial dimensions"


@lowers(ops.MaxPool, ops.MaxPoolV1, ops.MaxPoolV8, ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14, unless=_refusal)
def pooling(lowering: Lowering, node: Node) -> None:
    lengths, positions = node.get_input_shape(0)[2:], node.get_output_shape(0)[2:]
    begin, end = node.resolve_pads(lengths)
    is_largest = isinstance(node, (ops.MaxPoolV1, ops.MaxPoolV8))
    # Without any padding, what a window of rounding_type ceil has beyond the end does not count (as in OpenVINO).
    all_places = not is_largest and not node.exclude_pad and any((*begin, *end))
    # On a CPU 16 neighbours at once; on a GPU neighbours are work-items.
    in_vectors = lowering.device.is_cpu and positions[-1] >= _FEWEST_LANES and node.strides[-1] <= 2
    macros = {"STEP": node.strides[-1]} if in_vectors else {}
    text = source("pooling", LARGEST=int(is_largest), ALL_PLACES=int(all_places), **macros)
    missing = 3 - len(lengths)
    window = (node.kernel_shape, node.strides, node.dilations)
    axes = [(1,) * missing + tuple(values) for values in (lengths, positions, *window)]
    numbers = [np.int32(n) for values in (*axes, (0,) * missing + tuple(begin)) for n in values]
    planes, rows = math.prod(node.get_input_shape(0)[:2]), math.prod(node.get_output_shape(0)[:-1])
    arguments = [lowering.buffer(node.input_value(0)), lowering.buffer(node.output(0)), *numbers, np.int32(planes)]
    items = rows * (-(-positions[-1] // 16) if in_vectors else positions[-1])
    lowering.launch_flat(text, "pooling", arguments, items)

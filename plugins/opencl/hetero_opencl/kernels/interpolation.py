"""Interpolate: one axis after the other, with the taps and weights that the reference computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.interpolation import resampled_axes
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES, source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


def _refusal(node: Node) -> str | None:
    element_type = node.get_input_element_type(0)
    if element_type not in C_TYPES or (node.mode != "nearest" and element_type is not Type.f32):
        return f"no kernel for Interpolate of {element_type} with mode {node.mode}"
    if any((*node.pads_begin, *node.pads_end)):
        return "Interpolate with pads"
    return None if node.get_input_partial_shape(0).has_rank else "the rank of the data is not known"


@lowers(ops.Interpolate, unless=_refusal)
def interpolate(lowering: Lowering, node: Node) -> None:
    data, target, *axes = node.input_values()
    shape = list(data.shape)
    resampled = resampled_axes(node, data.shape, target.node.data, axes[0].node.data if axes else None)
    if not resampled:
        return lowering.share(node.output(0), data)
    buffer = lowering.buffer(data)
    for number, (axis, (indices, weights)) in enumerate(resampled):
        length, size, inner = shape[axis], len(indices), int(np.prod(shape[axis + 1 :]))
        shape[axis] = size
        is_last = number == len(resampled) - 1
        count = int(np.prod(shape))
        out = lowering.buffer(node.output(0)) if is_last else lowering.scratch(count * data.element_type.size)
        macros = {"T": C_TYPES[data.element_type], "TAPS": indices.shape[1], "WEIGHTED": int(weights is not None)}
        tables = [lowering.constant(indices.astype(np.int32))]
        if weights is not None:
            tables.append(lowering.constant(weights.astype(np.float32)))
        numbers = map(np.int32, (length, size, inner))
        lowering.launch_flat(
            source("interpolation", **macros), "interpolation", [buffer, out, *tables, *numbers], count
        )
        buffer = out

"""Interpolate: one axis, or two adjacent ones, at a time, with the taps and weights that the reference computes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.interpolation import Taps, resampled_axes
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES, source
from hetero_opencl.program import Buffer

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
    taps = dict(resampled_axes(node, data.shape, target.node.data, axes[0].node.data if axes else None))
    if not taps:
        return lowering.share(node.output(0), data)
    buffer = lowering.buffer(data)
    last = len(shape) - 1
    while taps:
        axis = min(taps)
        before = shape.copy()
        rows, columns = taps.pop(axis), None
        shape[axis] = len(rows[0])
        if axis == last:
            outer, height, width = math.prod(before[: axis - 1] if axis else ()), math.prod(before[-2:-1]), before[axis]
            rows, columns = None, rows
        else:
            outer, height, width = math.prod(before[:axis]), before[axis], math.prod(before[axis + 1 :])
            # Weighted sums are fewer one axis at a time; single elements are not.
            if axis + 1 == last and last in taps and rows[1] is None:
                columns = taps.pop(last)
                shape[last] = len(columns[0])
        out = lowering.scratch(math.prod(shape), data.element_type.size) if taps else lowering.buffer(node.output(0))
        _resample(lowering, C_TYPES[data.element_type], buffer, out, (outer, height, width), rows, columns)
        buffer = out


def _resample(
    lowering: Lowering,
    element: str,
    data: Buffer,
    out: Buffer,
    shape: tuple[int, int, int],
    rows: Taps | None,
    columns: Taps | None,
) -> None:
    """Launch the resampling of data [outer, height, width] along its height, its width, or both."""
    outer, height, width = shape
    weighted = any(taps is not None and taps[1] is not None for taps in (rows, columns))
    macros = {"T": element, "WEIGHTED": int(weighted)}
    tables = []
    for name, taps in (("ROW_TAPS", rows), ("COLUMN_TAPS", columns)):
        macros[name] = taps[0].shape[1] if taps else 0
        if taps:
            indices, weights = taps
            tables.append(lowering.constant(np.ascontiguousarray(indices.T, np.int32)))
            if weights is not None:
                tables.append(lowering.constant(np.ascontiguousarray(weights.T, np.float32)))
    out_height, out_width = (len(taps[0]) if taps else size for taps, size in ((rows, height), (columns, width)))
    numbers = [np.int32(number) for number in (height, width, out_height, out_width)]
    group = 64 if out_width > 16 else 16
    size = [-(-out_width // group) * group, out_height, outer]
    arguments = [data, out, *tables, *numbers]
    lowering.launch(source("interpolation", **macros), "interpolation", arguments, size, [group, 1, 1])

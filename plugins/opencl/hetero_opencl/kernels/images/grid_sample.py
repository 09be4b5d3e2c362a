"""GridSample with any number of spatial axes."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero_opencl.kernels.common.copies import WORD_TYPES, fill
from hetero_opencl.kernels.common.definition import ELEMENTS, lowers, source, unsupported_unless
from hetero_opencl.kernels.common.view import view_of
from hetero_opencl.lowering.lowering import Lowering

_TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}
_PADDING = {"zeros": 0, "border": 1, "reflection": 2}
# Channels that one work-item samples with the same weights.
_CHANNELS = 8


@lowers(ops.GridSample, unsupported=unsupported_unless(ELEMENTS))
def grid_sample(lowering: Lowering, node: ops.GridSample) -> None:
    (data, grid), output = node.input_values(), node.output(0)
    batch, channels, *lengths = data.shape
    if not math.prod(lengths):
        zero = lowering.constant(np.zeros(1, output.element_type.to_dtype()))
        return fill(lowering, zero, lowering.buffer(output), view_of(output))
    kind, places = data.element_type, math.prod(grid.shape[1:-1])
    sums = "double" if kind is Type.f64 else "float"
    macros = {
        "AXES": len(lengths),
        "TAPS": _TAPS[node.mode],
        "PADDING": _PADDING[node.padding_mode],
        "ALIGN_CORNERS": int(node.align_corners),
        "CHANNELS": _CHANNELS,
        "SUM": sums,
        "FINISH(x)": _finish(kind),
    }
    elements = WORD_TYPES[kind.size] if node.mode == "nearest" else kind
    text = source("grid_sample", {"DATA": elements, "GRID": grid.element_type}, **macros)
    table, sizes = lowering.constant(np.array(lengths, np.int32)), (channels, math.prod(lengths), places)
    count = batch * places * -(-channels // _CHANNELS)
    lowering.launch_flat(text, "grid_sample", [data, grid, output, table, *sizes], count)


def _finish(kind: Type) -> str:
    """Return the macro body that converts a sum to an element; integers wrap around."""
    if kind is Type.boolean:
        return "((x) != 0)"
    return "(x)" if kind.is_real() else f"({ELEMENTS[kind].stored})convert_long_sat(x)"

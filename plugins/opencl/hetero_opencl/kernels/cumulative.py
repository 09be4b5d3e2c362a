"""Running sums and products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.movement import shape_input
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import ELEMENTS, source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# So many work-items keep a device busy; rows that are fewer are cut into parts, of no fewer elements than these.
_BUSY = 1 << 12
_SHORTEST_PART = 32


def _unsupported(node: Node) -> str | None:
    return unsupported_types(node, [node.input_value(0)])


@lowers(ops.CumSum, ops.CumProd, unless=_unsupported)
def cumulative(lowering: Lowering, node: Node) -> None:
    shape, kind = tuple(node.shape), node.get_element_type()
    axis = int(shape_input(node, 1).reshape(-1)[0]) % max(len(shape), 1)
    # A scalar is a row of one.
    length, inner = shape[axis] if shape else 1, math.prod(shape[axis + 1 :])
    rows = math.prod(shape[:axis]) * inner
    if not rows or not length:
        return
    part = length if rows >= _BUSY else max(_SHORTEST_PART, math.isqrt(length))
    parts = -(-length // part)
    identity, combine = ("1", "((a) * (b))") if isinstance(node, ops.CumProd) else ("0", "((a) + (b))")
    # Integers wrap around, which C defines only for those without a sign.
    total = ELEMENTS[kind].value if kind.is_real() else "ulong"
    text = source("cumulative", {"DATA": kind}, **{"SUM": total, "IDENTITY": identity, "COMBINE(a, b)": combine})
    data = before = lowering.buffer(node.input_value(0))
    sizes = [np.int32(number) for number in (length, inner, parts, part, node.reverse)]
    if parts > 1:
        before = lowering.scratch(rows * parts, 4 if total == "float" else 8)
        lowering.launch_flat(text, "part_totals", [data, before, *sizes], rows * parts)
        lowering.launch_flat(text, "before_parts", [before, *sizes[1:3]], rows)
    how = [np.int32(node.exclusive), np.int32(parts > 1)]
    lowering.launch_flat(text, "running", [data, before, lowering.buffer(node.output(0)), *sizes, *how], rows * parts)

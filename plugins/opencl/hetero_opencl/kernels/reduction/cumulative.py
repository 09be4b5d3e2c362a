"""CumSum and CumProd."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hetero import ops
from hetero_opencl.kernels.common.algorithms import cumulative_source
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, by_family, lowers, unsupported_inputs
from hetero_opencl.kernels.common.sharing import power_of_two
from hetero_opencl.lowering.lowering import Lowering

# Rows are split into chunks if there are fewer rows than this, the number of work-items that keeps a device busy.
_BUSY = 1 << 12
_SHORTEST_CHUNK = 32
# On GPUs: work-items that share a chunk, elements that each scans at once, and chunks per compute unit that fill it.
_GROUP, _SCANNED, _FILLED = 256, 4, 2


class _Scan(NamedTuple):
    """A cumulative sum or product of rows: their number, the length and the step between elements of a row.

    ``size``: the bytes of a sum. ``text`` of a number of work-items is the source.
    """

    rows: int
    length: int
    inner: int
    size: int
    text: Callable[[int], str]


def _scan_of(node: ops.CumSum) -> _Scan:
    shape, kind = tuple(node.shape), node.get_element_type()
    axis = int(shape_input(node, 1).reshape(-1)[0]) % max(len(shape), 1)
    # A scalar is a row of one.
    length, inner = shape[axis] if shape else 1, math.prod(shape[axis + 1 :])
    identity, combine = ("1", "((a) * (b))") if isinstance(node, ops.CumProd) else ("0", "((a) + (b))")
    # Integer sums wrap around, which C defines only for unsigned types.
    total = ELEMENTS[kind].value if kind.is_real() else "ulong"
    text = partial(cumulative_source, kind, total, identity, combine)
    return _Scan(math.prod(shape[:axis]) * inner if length else 0, length, inner, 4 if total == "float" else 8, text)


@lowers(ops.CumSum, ops.CumProd, unsupported=unsupported_inputs(0))
@by_family
def cumulative(lowering: Lowering, node: ops.CumSum) -> None:
    _scan_each(lowering, node)


@cumulative.on_gpus
def _scan_together(lowering: Lowering, node: ops.CumSum) -> None:
    """Launch scans in which work-items share a chunk of a row, and work-groups a row if there are few."""
    rows, length, inner, size, text = _scan_of(node)
    group = lowering.profile.largest_group(min(_GROUP, power_of_two(-(-length // _SCANNED))), size)
    if not rows or group == 1 or (rows >= _BUSY and inner > 1):
        return _scan_each(lowering, node)
    data = before = lowering.buffer(node.input_value(0))
    tile = _SCANNED * group
    wanted = -(-_FILLED * lowering.profile.compute_units // rows)
    chunk = -(-length // (tile * min(wanted, -(-length // tile)))) * tile
    chunks = -(-length // chunk)
    sizes, groups = (length, inner, chunks, chunk, node.reverse), [rows * chunks * group]
    if chunks > 1:
        before = lowering.scratch(rows * chunks, size)
        lowering.launch(text(group), "total_of_chunk", [data, before, *sizes], groups, [group])
    arguments = [data, before, node.output(0), *sizes, node.exclusive]
    lowering.launch(text(group), "scan_chunk", arguments, groups, [group])


def _scan_each(lowering: Lowering, node: ops.CumSum) -> None:
    """Launch scans with a work-item for each row, or for each chunk of it if there are few rows."""
    rows, length, inner, size, text = _scan_of(node)
    if not rows:
        return
    data = before = lowering.buffer(node.input_value(0))
    chunk = length if rows >= _BUSY else max(_SHORTEST_CHUNK, math.isqrt(length))
    chunks = -(-length // chunk)
    sizes = (length, inner, chunks, chunk, node.reverse)
    if chunks > 1:
        before, totals = lowering.scratch(rows * chunks, size), lowering.scratch(rows, size)
        lowering.launch_flat(text(1), "chunk_totals", [data, before, *sizes], rows * chunks)
        lowering.launch_flat(text(1), "scan_totals", [before, totals, *sizes[1:3]], rows)
    flags = (node.exclusive, chunks > 1)
    lowering.launch_flat(text(1), "scan_chunks", [data, before, node.output(0), *sizes, *flags], rows * chunks)

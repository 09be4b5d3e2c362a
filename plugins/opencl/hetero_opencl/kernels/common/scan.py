"""Helpers on i32 buffers: fill, exclusive prefix sum, and outputs whose shape the device finds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.types import Type
from hetero.graph import Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.sources import source
from hetero_opencl.lowering.lowering import Lowering


def filled_buffer(lowering: Lowering, count: int, value: int) -> Buffer:
    """Return a scratch buffer of ``count`` i32 elements, all equal to ``value``."""
    buffer = lowering.scratch(count)
    lowering.launch_flat(source("int_buffers"), "fill", [buffer, value], count)
    return buffer


def valid_flags(lowering: Lowering, indices: Buffer, count: int) -> Buffer:
    """Return 1 for each i32 index that is not negative, else 0: negative ones are padding."""
    flags = lowering.scratch(count)
    lowering.launch_flat(source("int_buffers"), "mark_valid", [indices, flags], count)
    return flags


def count_valid(lowering: Lowering, indices: Buffer, rows: int, length: int, output: Output) -> None:
    """Launch the count of the indices before the padding in each row of ``indices``, i32 ``[rows, length]``."""
    text = source("count_valid", {"COUNT": output.element_type})
    lowering.launch_flat(text, "count_valid", [indices, output, length], rows)


def exclusive_scan(lowering: Lowering, values: Buffer, count: int) -> tuple[Buffer, Buffer]:
    """Return the exclusive prefix sum of i32 values, and a buffer that holds their total."""
    chunk = max(16, math.isqrt(count))
    chunks = -(-count // chunk)
    before, target, total = lowering.scratch(chunks), lowering.scratch(count), lowering.scratch(1)
    text = cumulative_source(Type.i32, "int")
    sizes = (count, 1, chunks, chunk, False)  # length, inner, …, reverse
    lowering.launch_flat(text, "chunk_totals", [values, before, *sizes], chunks)
    lowering.launch_flat(text, "scan_totals", [before, total, *sizes[1:3]], 1)
    flags = (True, True)  # exclusive, has_before
    lowering.launch_flat(text, "scan_chunks", [values, before, target, *sizes, *flags], chunks)
    return target, total


def cumulative_source(data: Type, sums: str, identity: str = "0", combine: str = "((a) + (b))") -> str:
    """Return the source of cumulative.cl for these element types and this associative operation."""
    macros = {"SUM": sums, "IDENTITY": identity, "COMBINE(a, b)": combine}
    return source("cumulative", {"DATA": data}, **macros)


def make_dynamic_output(
    lowering: Lowering, value: Output, shape: Sequence[int], max_count: int, total: Buffer
) -> Buffer:
    """Return a buffer of ``max_count`` elements for an output with one data-dependent dimension.

    ``total`` is the length of that dimension, which is -1 in ``shape``.
    """
    buffer, dimensions = lowering.found_shape(value, max_count)
    arguments = [lowering.constant(np.array(shape, np.int64)), total, dimensions]
    lowering.launch_flat(source("int_buffers"), "write_shape", arguments, len(shape))
    return buffer

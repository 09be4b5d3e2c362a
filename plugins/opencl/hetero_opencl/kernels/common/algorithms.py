"""Parallel algorithms on i32 buffers: fill, prefix sums and merge sort, and outputs whose shape the device finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hetero.core.types import Type
from hetero.graph import Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import source, template
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


def cumulative_source(data: Type, sums: str, identity: str = "0", combine: str = "((a) + (b))", group: int = 1) -> str:
    """Return the source of cumulative.cl for these element types and this associative operation.

    With a group of more work-items that of shared_scan.cl, which they share.
    """
    macros: dict[str, object] = {"SUM": sums, "IDENTITY": identity, "COMBINE(a, b)": combine}
    if group > 1:
        return source("shared_scan", {"DATA": data}, **macros, GROUP=group)
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


# Length of the runs that one work-item sorts by insertion, and elements that it writes when two runs are merged.
_RUN, _CHUNK = 16, 32


class SortKeys(NamedTuple):
    """Buffer of elements ``[outer, length, inner]``, sorted along the middle axis."""

    buffer: Buffer
    element_type: Type
    outer: int
    length: int
    inner: int


def sort_source(name: str, types: Mapping[str, Type]) -> str:
    """Return the text of a .cl file that compares elements of type DATA."""
    return source("sort_comparison", types) + template(name)


def argsort(
    lowering: Lowering, elements: SortKeys, limit: int | None = None, descending: bool = False, nan_first: bool = False
) -> Buffer:
    """Return the sorted indices along the middle axis, i32 ``[outer * inner, length]``. The sort is stable.

    If ``limit`` is given, only the first ``limit`` indices of each row are valid.
    """
    data, element_type, outer, length, inner = elements
    rows, limit = outer * inner, length if limit is None else min(limit, length)
    text = sort_source("merge_sort", {"DATA": element_type})
    current, other = (
        [lowering.scratch(rows * length, element_type.size), lowering.scratch(rows * length)] for _ in range(2)
    )
    flags = descending, nan_first
    lowering.launch_flat(text, "sort_runs", [data, *current, length, inner, *flags, _RUN], rows * -(-length // _RUN))
    for run, pairs in _merges(length):
        chunks = -(-min(2 * run, limit) // _CHUNK)
        sizes = (run, limit, _CHUNK, chunks)
        lowering.launch_flat(text, "merge_runs", [*current, *other, length, *flags, *sizes], rows * pairs * chunks)
        current, other = other, current
    return current[1]


def argsort_slices(lowering: Lowering, elements: SortKeys) -> Buffer:
    """Return the indices, i32, that sort the slices ``[outer, inner]`` of the middle axis lexicographically."""
    data, element_type, outer, length, inner = elements
    text = sort_source("merge_sort_slices", {"DATA": element_type})
    order, other = lowering.scratch(length), lowering.scratch(length)
    numbers = (length, inner, outer * inner)
    lowering.launch_flat(text, "sort_runs", [data, order, *numbers, _RUN], -(-length // _RUN))
    for run, pairs in _merges(length):
        chunks = 2 * run // _CHUNK
        lowering.launch_flat(text, "merge_runs", [data, order, other, *numbers, run, _CHUNK, chunks], pairs * chunks)
        order, other = other, order
    return order


def _merges(length: int) -> list[tuple[int, int]]:
    """Return the run length and the number of pairs of runs for each merge pass."""
    runs: list[tuple[int, int]] = []
    while (run := _RUN << len(runs)) < length:
        runs.append((run, -(-length // (2 * run))))
    return runs

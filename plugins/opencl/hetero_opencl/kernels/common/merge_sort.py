"""Stable argsort along an axis, by a merge sort of indices: of elements, or of whole slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hetero.core.types import Type
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.sources import source, template
from hetero_opencl.lowering.lowering import Lowering

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

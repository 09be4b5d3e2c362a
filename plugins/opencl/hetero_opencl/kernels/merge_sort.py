"""The order of elements, or of slices, along an axis: by merge sorts of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.types import Type
from hetero_opencl.kernels.sources import source, template
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# What a work-item sorts by insertion at first, and what it writes of two runs when they are merged.
_RUN, _PIECE = 16, 32


class SortKeys(NamedTuple):
    """A buffer of elements ``[outer, length, inner]`` that are ordered along the middle."""

    buffer: Buffer
    element_type: Type
    outer: int
    length: int
    inner: int


def sort_source(name: str, types: Mapping[str, Type]) -> str:
    """The text of a .cl file that compares elements of the type DATA."""
    return source("sort_comparison", types) + template(name)


def argsort(
    lowering: Lowering, elements: SortKeys, kept: int | None = None, falls: bool = False, nan_first: bool = False
) -> Buffer:
    """The numbers along the middle in the order of the elements: i32 ``[outer * inner, length]``, equal ones in order.

    Of each row the first ``kept`` are right. Where it falls the largest are first.
    """
    data, element_type, outer, length, inner = elements
    rows, kept = outer * inner, length if kept is None else min(kept, length)
    text = sort_source("merge_sort", {"DATA": element_type})
    here, there = (
        [lowering.scratch(rows * length, element_type.size), lowering.scratch(rows * length)] for _ in range(2)
    )
    ways = np.int32(falls), np.int32(nan_first)
    arguments = [data, *here, np.int32(length), np.int32(inner), *ways, np.int32(_RUN)]
    lowering.launch_flat(text, "sort_runs", arguments, rows * -(-length // _RUN))
    for run, pairs in _merges(length):
        pieces = -(-min(2 * run, kept) // _PIECE)
        numbers = [np.int32(length), *ways, *map(np.int32, (run, kept, _PIECE, pieces))]
        lowering.launch_flat(text, "merge_runs", [*here, *there, *numbers], rows * pairs * pieces)
        here, there = there, here
    return here[1]


def argsort_slices(lowering: Lowering, elements: SortKeys) -> Buffer:
    """The numbers along the middle, i32, in the order of the slices ``[outer, inner]``: by their first difference."""
    data, element_type, outer, length, inner = elements
    text = sort_source("merge_sort_slices", {"DATA": element_type})
    order, other = lowering.scratch(length), lowering.scratch(length)
    numbers = [np.int32(number) for number in (length, inner, outer * inner)]
    lowering.launch_flat(text, "sort_runs", [data, order, *numbers, np.int32(_RUN)], -(-length // _RUN))
    for run, pairs in _merges(length):
        pieces = 2 * run // _PIECE
        arguments = [data, order, other, *numbers, *map(np.int32, (run, _PIECE, pieces))]
        lowering.launch_flat(text, "merge_runs", arguments, pairs * pieces)
        order, other = other, order
    return order


def _merges(length: int) -> list[tuple[int, int]]:
    """For each pass how long the runs are and how many pairs of them there are."""
    runs = []
    while (run := _RUN << len(runs)) < length:
        runs.append((run, -(-length // (2 * run))))
    return runs

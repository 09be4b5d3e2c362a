"""The order of elements along an axis: a merge sort that only its numbers move in."""

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


class Elements(NamedTuple):
    """A buffer of elements ``[outer, length, inner]`` that are ordered along the middle."""

    buffer: Buffer
    element_type: Type
    outer: int
    length: int
    inner: int


def comparing_source(name: str, types: Mapping[str, Type]) -> str:
    """The text of a .cl file that compares elements of the type DATA."""
    return source("comparison_of_rows", types) + template(name)


def ordered(
    lowering: Lowering,
    elements: Elements,
    kept: int | None = None,
    falls: bool = False,
    nan_first: bool = False,
    by_slices: bool = False,
) -> Buffer:
    """The numbers along the middle in the order of the elements: i32 ``[outer * inner, length]``, equal ones in order.

    Of each row the first ``kept`` are right. Where it falls the largest are first. With ``by_slices`` there is one row:
    the slices ``[outer, inner]`` in the order of their first elements that differ.
    """
    _, element_type, outer, length, inner = elements
    rows, slices = (1, outer * inner) if by_slices else (outer * inner, 1)
    kept = length if kept is None else min(kept, length)
    text = comparing_source("ordering", {"DATA": element_type})
    order, other = (lowering.scratch(rows * length) for _ in range(2))
    numbers = [np.int32(number) for number in (length, inner, slices, falls, nan_first)]
    runs = -(-length // _RUN)
    lowering.launch_flat(text, "sort_runs", [elements.buffer, order, *numbers, np.int32(_RUN)], rows * runs)
    run = _RUN
    while run < length:
        pairs, pieces = -(-length // (2 * run)), -(-min(2 * run, kept) // _PIECE)
        sizes = map(np.int32, (run, kept, _PIECE, pieces))
        lowering.launch_flat(
            text, "merge_runs", [elements.buffer, order, other, *numbers, *sizes], rows * pairs * pieces
        )
        order, other = other, order
        run *= 2
    return order

"""Sliding windows over up to three spatial dimensions: im2col, col2im and padding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hetero.core.lengths.length import about, whole
from hetero.core.types import Type
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS
from hetero_opencl.kernels.common.definition import ProductTypes, source, source_of_sums
from hetero_opencl.lowering.lowering import Argument, Lowering

DIMENSIONS = 3
# Work-items that write a row of at least this length on a GPU, so that their memory accesses are coalesced.
_LANES = 16
_UNSIGNED: dict[int, type[np.unsignedinteger]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

Lengths = tuple[int, int, int]


class Window(NamedTuple):
    """A sliding window over three axes. Missing axes come first and have length 1, with one position."""

    kernel: Lengths
    strides: Lengths
    dilations: Lengths
    pads: Lengths

    @property
    def is_point(self) -> bool:
        return self == _POINT


_POINT = Window((1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 0))


def make_window(kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int]) -> Window:
    """Return a window from its values for each spatial axis; ``pads`` is the leading padding."""
    # The dilation has no effect on a kernel of one element.
    apart = [1 if size == 1 else dilation for size, dilation in zip(kernel, dilations)]
    return Window(in_three(kernel), in_three(strides), in_three(apart), in_three(pads, 0))


def in_three(values: Sequence[int], missing: int = 1) -> Lengths:
    """Return values for three spatial axes, preceded by ``missing`` for each missing axis."""
    depth, height, width = [missing] * (DIMENSIONS - len(values)) + [whole(value) for value in values]
    return depth, height, width


def unsupported_dimensions(count: int | None) -> str | None:
    """Return a reason if there are more spatial dimensions than kernels support; None stands for an unknown number."""
    if count is not None and count > DIMENSIONS:
        return f"{count} spatial dimensions, but kernels support at most {DIMENSIONS}"
    return None


def check_dimensions(lowering: Lowering, count: int) -> None:
    """Raise UnsupportedOperationError if there are more spatial dimensions than kernels support."""
    if reason := unsupported_dimensions(count):
        raise UnsupportedOperationError(f"{lowering.type_name} '{lowering.name}' has {reason}")


def im2col(
    lowering: Lowering,
    image: Buffer,
    columns: Buffer,
    element_size: int,
    planes: tuple[int, int],
    in_size: Lengths,
    out_size: Lengths,
    window: Window,
    outside: int = 0,
) -> None:
    """Launch im2col: columns ``[outer, kernel, inner, positions]`` from planes ``[outer, inner, lengths]``.

    Elements outside of the data are the integer ``outside``.
    """
    outer, inner = planes
    numbers = [inner, *in_size, *out_size, *_numbers(window)]
    arguments: list[Argument] = [image, columns, _bits(outside, element_size), *numbers]
    rows = outer * math.prod(window.kernel) * inner * out_size[0] * out_size[1] if out_size[2] else 0
    _launch_rows(lowering, "im2col", element_size, out_size[0] == window.kernel[0] == 1, arguments, rows, out_size[2])


def padded(
    lowering: Lowering,
    image: Buffer,
    out: Buffer,
    element_size: int,
    planes: int,
    in_size: Lengths,
    out_size: Lengths,
    pads: Lengths,
    outside: int = 0,
) -> None:
    """Launch a copy of planes, padded with the integer ``outside``."""
    arguments: list[Argument] = [image, out, _bits(outside, element_size), *in_size, *out_size, *pads]
    rows = planes * out_size[0] * out_size[1] if out_size[2] else 0
    _launch_rows(lowering, "padded", element_size, out_size[0] == 1, arguments, rows, out_size[2])


def _launch_rows(
    lowering: Lowering,
    kernel: str,
    element_size: int,
    is_flat: bool,
    arguments: Sequence[Argument],
    rows: int,
    length: int,
) -> None:
    """Launch a kernel that writes ``rows`` rows of ``length`` elements."""
    lanes = min(_LANES, lowering.profile.team_size) if about(length) >= _LANES else 1
    text = source("windows", WORD=WORDS[element_size], FLAT=int(is_flat), LANES=lanes)
    lowering.launch_rows(text, kernel, arguments, rows * lanes)


def col2im(
    lowering: Lowering,
    columns: Buffer,
    image: Buffer,
    types: tuple[Type, Type],
    planes: int,
    in_size: Lengths,
    out_size: Lengths,
    window: Window,
) -> None:
    """Launch col2im: add columns ``[planes, kernel, positions]`` to planes. ``types``: those of columns and planes."""
    numbers = (*in_size, *out_size, *window.kernel, *window.dilations, *window.pads)
    z, y, x = window.strides
    flat = int(in_size[0] == out_size[0] == window.kernel[0] == 1)
    sums = ProductTypes(types[0], *types)
    text = source_of_sums("col2im", sums, FLAT=flat, STRIDE_Z=z, STRIDE_Y=y, STRIDE_X=x)
    rows = planes * out_size[0] * out_size[1] if out_size[2] else 0
    lowering.launch_rows(text, "col2im", [columns, image, *numbers], rows)


def _bits(number: int, size: int) -> np.unsignedinteger:
    """Return the unsigned integer of ``size`` bytes with the same bits."""
    return _UNSIGNED[size](number % 256**size)


def _numbers(window: Window) -> Iterable[int]:
    return (number for lengths in window for number in lengths)

"""Copies: strided copies and fills, of views that have shapes and strides, but no elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from hetero.compiler import KnownLengths
from hetero.core.lengths.length import choosing, is_multiple
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import by_family, source
from hetero_opencl.kernels.common.view import View, view_of
from hetero_opencl.lowering.lowering import Argument, Lowering

# C type that moves this number of bytes at once.
WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}
# Rows shorter than this are copied along another axis, if that is longer. Rows are divided among cores in parts of at
# least _SHORTEST_PART words.
_SHORT_ROW, _PARTS_PER_UNIT, _SHORTEST_PART = 16, 8, 64
_FEW = 512
# Element type that stands for elements of this size if they are only copied.
WORD_TYPES = {1: Type.u8, 2: Type.u16, 4: Type.u32, 8: Type.u64}


class Axis(NamedTuple):
    """Length of an axis, and its source and target strides in bytes or words."""

    length: int
    source_stride: int
    target_stride: int


def unsupported_movement(node: Node) -> str | None:
    """Reject elements without a fixed size."""
    element_type = node.get_output_element_type(0)
    if element_type.is_dynamic() or element_type is Type.string:
        return f"no kernel moves elements of type {element_type}"
    return None


def shape_input(node: Node, index: int) -> np.ndarray:
    """Return the contents of an input that decides shapes, which are known when nodes are lowered.

    They are an array of objects if some are Lengths.
    """
    source = node.input_value(index).node
    return source.numbers if isinstance(source, KnownLengths) else cast(Constant, source).data


def widest_word(*byte_counts: int) -> int:
    """Return the widest word, in bytes, for copying contiguous runs of these numbers of bytes."""
    return max(size for size in WORDS if all(is_multiple(count, size) for count in byte_counts))


def copy_or_share(lowering: Lowering, value: Output, view: View, output: Output) -> None:
    """Set the output to a view of the data, in row-major order. Shares memory if the view is dense, and it may."""
    if view.is_dense and view.size:
        if view.offset == 0 and view.size == math.prod(value.shape):
            return lowering.share(output, value)
        if lowering.shares_part(output, value, view.offset):
            return None
    strided_copy(lowering, lowering.buffer(value), view, lowering.buffer(output), View.dense(view.shape, view.itemsize))


def strided_copy(lowering: Lowering, source: Buffer, source_view: View, target: Buffer, target_view: View) -> None:
    """Launch a copy of the elements of a view of the source to those of a view of the target."""
    if source_view.size:
        axes = [Axis(*axis) for axis in zip(source_view.shape, source_view.strides, target_view.strides)]
        copy_axes(lowering, source, target, (source_view.offset, target_view.offset), axes, source_view.itemsize)


def copy_axes(
    lowering: Lowering, source: Buffer, target: Buffer, offsets: tuple[int, int], axes: list[Axis], size: int
) -> None:
    """Launch a copy of elements of ``size`` bytes along axes, from and to these offsets in bytes."""
    word, axes = widen(merge_axes(axes), offsets, size)
    _copy(lowering, [source, target, *(offset // word for offset in offsets)], WORDS[word], axes)


@by_family
def _copy(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    # A few words are copied in one work-group, which may be merged with others.
    count = math.prod(axis.length for axis in axes)
    with choosing(count):
        is_small = count <= _FEW
    (_copy_words if is_small else _copy_rows)(lowering, first, word, axes)


@_copy.on_gpus
def _copy_words(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    """Launch a copy with a work-item for each word."""
    numbers = [number for axis in reversed(axes) for number in axis]
    count = math.prod(axis.length for axis in axes)
    lowering.launch_flat(copy_source(word, len(axes)), "strided_copy", [*first, *numbers], count)


def _copy_rows(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    """Launch a copy of rows along the last axis, or the longest one if that is short, to save divisions."""
    with choosing(*(axis.length for axis in axes)):
        row = axes[-1] if axes[-1].length >= _SHORT_ROW else max(axes, key=lambda axis: axis.length)
    others = [axis for axis in axes if axis is not row]
    strides = {
        f"{side}_STRIDE": stride if stride in (0, 1) else f"{side.lower()}_stride"
        for side, stride in zip(("SOURCE", "TARGET"), row[1:])
    }
    rows = math.prod(axis.length for axis in others)
    with choosing(rows, row.length):
        # A few parts for each core, of several cache lines.
        share = -(-_PARTS_PER_UNIT * lowering.profile.compute_units // int(rows))
        parts = max(1, min(share, int(row.length) // _SHORTEST_PART))
    numbers = [number for axis in reversed(others) for number in axis]
    text = copy_source(word, len(others), ROWS=1, **strides)
    lowering.launch_rows(text, "strided_copy", [*first, *numbers, *row, parts], rows * parts)


def copy_whole(lowering: Lowering, source_buffer: Buffer, value: Output, target_buffer: Buffer) -> None:
    """Launch a copy of a whole buffer that is laid out like ``value``."""
    strided_copy(lowering, source_buffer, view_of(value), target_buffer, view_of(value))


def fill(lowering: Lowering, number: Buffer, buffer: Buffer, target: View) -> None:
    """Launch a fill of a view of a buffer with one number of its type."""
    strided_copy(lowering, number, View.dense((), target.itemsize).broadcast_to(target.shape), buffer, target)


def pad_by_number(
    lowering: Lowering, value: Output, begins: Sequence[int], number: Buffer | None, buffer: Buffer, target: View
) -> None:
    """Fill the target with the number, or zeros, unless the data covers it, then copy the data into it."""
    kept, inside = [], []
    for begin, length, result in zip(begins, value.shape, target.shape):
        first, last = max(0, -begin), min(length, result - begin)
        kept.append(slice(first, max(first, last)))
        inside.append(slice(first + begin, max(first, last) + begin))
    from_view, to_view = view_of(value)[tuple(kept)], target[tuple(inside)]
    if to_view.size < target.size:
        number = number or lowering.constant(np.zeros(1, value.element_type.to_dtype()))
        fill(lowering, number, buffer, target)
    strided_copy(lowering, lowering.buffer(value), from_view, buffer, to_view)


def merge_axes(axes: list[Axis]) -> list[Axis]:
    """Return equivalent axes, as few as the strides allow."""
    merged: list[Axis] = []
    for axis in axes:
        if axis.length == 1:
            continue
        if merged and merged[-1][1:] == (axis.length * axis.source_stride, axis.length * axis.target_stride):
            axis = axis._replace(length=axis.length * merged.pop().length)
        merged.append(axis)
    return merged


def widen(axes: list[Axis], offsets: tuple[int, int], size: int) -> tuple[int, list[Axis]]:
    """Return the widest word for a copy, and the axes in units of it. ``size`` is the element size in bytes."""
    word, run = size, size
    *outer, last = axes or [Axis(1, size, size)]
    if last[1:] == (size, size):
        run = last.length * size
        far = [run, *offsets, *(stride for axis in outer for stride in axis[1:])]
        word = max(size, widest_word(*far))
        last = Axis(run // word, word, word)
    counted = [Axis(length, *(stride // word for stride in strides)) for length, *strides in (*outer, last)]
    return word, counted


@functools.cache
def copy_source(word: str, rank: int, **macros: object) -> str:
    """Return the source that copies words along ``rank`` axes, or rows."""
    names = [(f"length{axis}", f"source_stride{axis}", f"target_stride{axis}") for axis in range(rank)]
    parameters = "".join(f"const int {name}, " for axis in names for name in axis)
    steps = " ".join(f"STEP({', '.join(axis)})" for axis in names)
    return source("copies", WORD=word, PARAMETERS=parameters, STEPS=steps, **{"ROWS": 0, **macros})

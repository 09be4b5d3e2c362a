"""Copies: strided copies and fills, with strides that numpy computes.

Operations are applied to views that have shapes and strides, but no elements.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import by_family, source
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


class View:
    """A contiguous buffer as a numpy array that has shape and strides, in bytes, but whose elements are never read."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        strides = [dtype.itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        # as_strided does not support f8e5m2, so it works on bytes that are viewed as that type afterwards.
        self._base = np.empty(1, np.dtype((np.void, dtype.itemsize)))
        self.array = np.lib.stride_tricks.as_strided(self._base, shape, strides).view(dtype)

    def offset(self, view: np.ndarray) -> int:
        """Return the byte offset of a view of ``array``."""
        return view.__array_interface__["data"][0] - self._base.__array_interface__["data"][0]


def unsupported_movement(node: Node) -> str | None:
    """Reject elements without a fixed size."""
    element_type = node.get_output_element_type(0)
    if element_type.is_dynamic() or element_type is Type.string:
        return f"no kernel moves elements of type {element_type}"
    return None


def view_of(value: Output) -> View:
    """Return a view of all elements of a value."""
    return View(tuple(value.shape), value.element_type.to_dtype())


def shape_input(node: Node, index: int) -> np.ndarray:
    """Return the contents of an input that decides shapes; it is a Constant when nodes are lowered."""
    return cast(Constant, node.input_value(index).node).data


def widest_word(byte_count: int) -> int:
    """Return the widest word, in bytes, for copying contiguous runs of ``byte_count`` bytes."""
    return max(size for size in WORDS if byte_count % size == 0)


def copy_or_share(lowering: Lowering, value: Output, data: View, view: np.ndarray, output: Output) -> None:
    """Set the output to a view of the data, in row-major order. Shares memory if the view is contiguous, and it may."""
    if view.flags.c_contiguous and view.size:
        if view.size == data.array.size and not data.offset(view):
            return lowering.share(output, value)
        if lowering.shares_part(output, value, data.offset(view)):
            return None
    target = View(view.shape, view.dtype)
    strided_copy(lowering, lowering.buffer(value), data, view, lowering.buffer(output), target, target.array)


def strided_copy(
    lowering: Lowering,
    source_buffer: Buffer,
    source_view: View,
    source_part: np.ndarray,
    target_buffer: Buffer,
    target_view: View,
    target_part: np.ndarray,
) -> None:
    """Launch a copy from ``source_part``, a view of the source, to ``target_part``, a view of the target."""
    if not source_part.size:
        return
    axes = [Axis(*axis) for axis in zip(source_part.shape, source_part.strides, target_part.strides)]
    offsets = source_view.offset(source_part), target_view.offset(target_part)
    copy_axes(lowering, source_buffer, target_buffer, offsets, axes, source_part.itemsize)


def copy_axes(
    lowering: Lowering, source: Buffer, target: Buffer, offsets: tuple[int, int], axes: list[Axis], size: int
) -> None:
    """Launch a copy of elements of ``size`` bytes along axes, from and to these offsets in bytes."""
    word, axes = widen(merge_axes(axes), offsets, size)
    _copy(lowering, [source, target, *(offset // word for offset in offsets)], WORDS[word], axes)


@by_family
def _copy(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    # A few words are copied in one work-group, which may be merged with others.
    is_small = math.prod(axis.length for axis in axes) <= _FEW
    (_copy_words if is_small else _copy_rows)(lowering, first, word, axes)


@_copy.on_gpus
def _copy_words(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    """Launch a copy with a work-item for each word."""
    numbers = [number for axis in reversed(axes) for number in axis]
    count = math.prod(axis.length for axis in axes)
    lowering.launch_flat(copy_source(word, len(axes)), "strided_copy", [*first, *numbers], count)


def _copy_rows(lowering: Lowering, first: Sequence[Argument], word: str, axes: list[Axis]) -> None:
    """Launch a copy of rows along the last axis, or the longest one if that is short, to save divisions."""
    row = axes[-1] if axes[-1].length >= _SHORT_ROW else max(axes, key=lambda axis: axis.length)
    others = [axis for axis in axes if axis is not row]
    strides = {
        f"{side}_STRIDE": stride if stride in (0, 1) else f"{side.lower()}_stride"
        for side, stride in zip(("SOURCE", "TARGET"), row[1:])
    }
    rows = math.prod(axis.length for axis in others)
    # A few parts for each core, of several cache lines.
    share = -(-_PARTS_PER_UNIT * lowering.profile.compute_units // rows)
    parts = max(1, min(share, row.length // _SHORTEST_PART))
    numbers = [number for axis in reversed(others) for number in axis]
    text = copy_source(word, len(others), ROWS=1, **strides)
    lowering.launch_rows(text, "strided_copy", [*first, *numbers, *row, parts], rows * parts)


def copy_whole(lowering: Lowering, source_buffer: Buffer, value: Output, target_buffer: Buffer) -> None:
    """Launch a copy of a whole buffer that is laid out like ``value``."""
    view = view_of(value)
    strided_copy(lowering, source_buffer, view, view.array, target_buffer, view, view.array)


def fill(lowering: Lowering, number: Buffer, buffer: Buffer, target: View, target_part: np.ndarray) -> None:
    """Launch a fill of ``target_part``, a view of the target, with one number of the target's type."""
    value = View((), target.array.dtype)
    spread = np.broadcast_to(value.array, target_part.shape)
    strided_copy(lowering, number, value, spread, buffer, target, target_part)


def pad_by_number(
    lowering: Lowering, value: Output, begins: Sequence[int], number: Buffer | None, buffer: Buffer, target: View
) -> None:
    """Fill the target with the number, or zeros, unless the data covers it, then copy the data into it."""
    data, kept, inside = view_of(value), [], []
    for begin, length, result in zip(begins, data.array.shape, target.array.shape):
        first, last = max(0, -begin), min(length, result - begin)
        kept.append(slice(first, max(first, last)))
        inside.append(slice(first + begin, max(first, last) + begin))
    from_view, to_view = data.array[tuple(kept)], target.array[tuple(inside)]
    if to_view.size < target.array.size:
        number = number or lowering.constant(np.zeros(1, target.array.dtype))
        fill(lowering, number, buffer, target, target.array)
    strided_copy(lowering, lowering.buffer(value), data, from_view, buffer, target, to_view)


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
        word = max(bytes_ for bytes_ in WORDS if bytes_ >= size and all(number % bytes_ == 0 for number in far))
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

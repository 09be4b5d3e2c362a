"""Concat: one launch copies several inputs to their places; some are there already."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hetero import ops
from hetero.core.lengths.length import choosing
from hetero.graph import Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS, Axis, copy_axes, unsupported_movement, widest_word
from hetero_opencl.kernels.common.definition import by_family, implements, lowers, source
from hetero_opencl.kernels.common.view import View
from hetero_opencl.kernels.movement.movement import is_left_to_concats, rows_in, sliced_view
from hetero_opencl.lowering.implementation import (
    ROWS,
    Blocks,
    Configuration,
    Implementation,
    KernelOperation,
    Layout,
    Signature,
    uniform,
)
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

# Inputs that one launch copies.
_MOST_SOURCES = 8
# Bytes of an output above which processors copy inputs row by row: several launches then take less time than finding
# the source of each word.
_LARGE = 1 << 16


@lowers(ops.Concat, unsupported=unsupported_movement)
def concat(lowering: Lowering, node: ops.Concat) -> None:
    _concatenate(lowering, node, ROWS)


@implements(ops.Concat)
class BlockedConcat(Implementation):
    """Concatenation in blocks of channels."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        node = operation.main
        shapes = [value.shape for value in node.input_values()]
        if len(shapes[0]) < 3 or 1 in {shape[1] for shape in shapes}:
            return "it concatenates several channels"
        if node.axis % len(shapes[0]) == 1 and any(shape[1] % profile.vector_width for shape in shapes[:-1]):
            return "it concatenates whole blocks of channels"
        return None

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        yield uniform(operation, Blocks(profile.vector_width))

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        _concatenate(lowering, operation.main, signature.output)


class Append(ops.Concat):
    """Concat along the first axis in the memory of the first input, which has room for the others behind it."""


@lowers(Append, unsupported=unsupported_movement)
def append(lowering: Lowering, node: Append) -> None:
    first, *others = node.input_values()
    target, size = lowering.buffer(node.output(0)), first.element_type.size
    place = math.prod(first.shape)
    for value in others:
        count = math.prod(value.shape)
        copy_axes(lowering, lowering.buffer(value), target, (0, place * size), [Axis(count, size, size)], size)
        place += count


class _Piece(NamedTuple):
    """An input as rows of bytes: the first one starts at ``offset`` of a buffer, the next one ``step`` bytes later.

    ``place`` is the offset in a row of the output.
    """

    buffer: Buffer
    length: int
    offset: int
    step: int
    place: int


class _Target(NamedTuple):
    """An output as rows of ``length`` bytes, of elements of ``size`` bytes."""

    buffer: Buffer
    rows: int
    length: int
    size: int


def _concatenate(lowering: Lowering, node: ops.Concat, layout: Layout) -> None:
    """Launch copies of the inputs that are not written to their place in the output."""
    output = node.output(0)
    axis = node.axis % len(output.shape)
    if isinstance(layout, Blocks):
        axis = 0 if axis == 1 else 1 if axis == 0 else axis
    stored = layout.storage_shape(output.shape)
    row_length = math.prod(stored[axis:]) * output.element_type.size
    buffer = lowering.buffer(output, layout)
    pieces, place = [], 0
    for value in node.input_values():
        piece = _piece(lowering, value, layout, axis, place)
        place += piece.length
        # With several rows, no input is in its place.
        is_there = piece.buffer.whole is not None and piece.buffer.whole is (buffer.whole or buffer)
        if piece.length and not (is_there and piece.buffer.offset == buffer.offset + piece.place):
            pieces.append(piece)
    _copy(lowering, pieces, _Target(buffer, math.prod(stored[:axis]), row_length, output.element_type.size))


def _piece(lowering: Lowering, value: Output, layout: Layout, axis: int, place: int) -> _Piece:
    if is_left_to_concats(lowering, value):
        view = sliced_view(value)
        buffer = lowering.buffer(value.node.input_value(0))
    else:
        view = View.dense(layout.storage_shape(value.shape), value.element_type.size)
        buffer = lowering.buffer(value, layout)
    step = rows_in(view, axis)
    assert step is not None
    return _Piece(buffer, math.prod(view.shape[axis:]) * view.itemsize, view.offset, step, place)


def _runs(pieces: Sequence[_Piece]) -> Iterable[list[_Piece]]:
    """Yield the pieces in runs that are adjacent in the output, each short enough for one launch."""
    run: list[_Piece] = []
    for piece in pieces:
        if run and (len(run) == _MOST_SOURCES or run[-1].place + run[-1].length != piece.place):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


@by_family
def _copy(lowering: Lowering, pieces: Sequence[_Piece], target: _Target) -> None:
    with choosing(target.rows, target.length):
        is_large = target.rows * target.length > _LARGE
    (_copy_each if is_large else _copy_together)(lowering, pieces, target)


def _copy_each(lowering: Lowering, pieces: Sequence[_Piece], target: _Target) -> None:
    """Launch a copy of each piece."""
    for piece in pieces:
        axes = [Axis(target.rows, piece.step, target.length), Axis(piece.length // target.size, *[target.size] * 2)]
        copy_axes(lowering, piece.buffer, target.buffer, (piece.offset, piece.place), axes, target.size)


@_copy.on_gpus
def _copy_together(lowering: Lowering, pieces: Sequence[_Piece], target: _Target) -> None:
    """Launch a copy of each run of pieces."""
    for adjacent in _runs(pieces):
        _copy_run(lowering, adjacent, target)


def _copy_run(lowering: Lowering, pieces: Sequence[_Piece], target: _Target) -> None:
    width = sum(piece.length for piece in pieces)
    sizes = [target.length, pieces[0].place, *(size for piece in pieces for size in piece[1:4])]
    word = widest_word(*sizes)
    arguments: list[Argument] = [target.buffer, pieces[0].place // word, target.length // word, width // word]
    for piece in pieces:
        arguments += [piece.buffer, piece.offset // word, piece.step // word, piece.length // word]
    text = _source(WORDS[word], len(pieces))
    lowering.launch_flat(text, "concatenate", arguments, target.rows * width // word)


@functools.cache
def _source(word: str, count: int) -> str:
    names = [(f"source{index}", f"offset{index}", f"step{index}", f"length{index}") for index in range(count)]
    parameters = "".join(
        f"global const WORD *restrict {pointer}, {''.join(f'const int {number}, ' for number in numbers)}"
        for pointer, *numbers in names
    )
    sources = " ".join(f"SOURCE({', '.join(parameter)})" for parameter in names)
    return source("concatenation", WORD=word, PARAMETERS=parameters, SOURCES=sources)

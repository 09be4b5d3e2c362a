"""Elements arranged anew: one kernel copies along strides, and what keeps its order shares memory.

The strides come from numpy: the operation is done on views that have a shape and strides, but no elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import UnsupportedOperationError
from hetero.graph import Node, Output
from hetero.reference.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.reference.registry import evaluate
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source
from hetero_opencl.program import Buffer

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# The type that moves so many bytes at once.
WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}
# What elements of so many bytes are where they are only copied.
WORD_TYPES = {1: Type.u8, 2: Type.u16, 4: Type.u32, 8: Type.u64}


class Axis(NamedTuple):
    """A length and how far apart neighbours are, in bytes or words."""

    length: int
    source_stride: int
    target_stride: int


class View:
    """A shape, strides and an offset, all in bytes, in a buffer of elements in rows. No element is ever read."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        strides = [dtype.itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        # Numpy strides no elements of f8e5m2, but bytes that are then viewed as such.
        self._base = np.empty(1, np.dtype((np.void, dtype.itemsize)))
        self.array = np.lib.stride_tricks.as_strided(self._base, shape, strides).view(dtype)

    def offset(self, view: np.ndarray) -> int:
        """Where a view of ``array`` begins."""
        return view.__array_interface__["data"][0] - self._base.__array_interface__["data"][0]


def unsupported_movement(node: Node) -> str | None:
    """Movement needs elements of a fixed size."""
    element_type = node.get_output_element_type(0)
    if element_type.is_dynamic() or element_type is Type.string:
        return f"no kernel moves elements of type {element_type}"
    return None


def view_of(value: Output) -> View:
    """A view of all elements of a value."""
    return View(tuple(value.shape), value.element_type.to_dtype())


def shape_input(node: Node, index: int) -> np.ndarray:
    """What a shape input holds: it is a Constant by now."""
    return node.input_value(index).node.data


@lowers(ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, ops.BitCast, unless=unsupported_movement)
def keep(lowering: Lowering, node: Node) -> None:
    lowering.share(node.output(0), node.input_value(0))


@lowers(ops.ShapeOf, ops.Range, ops.If)
def folded(lowering: Lowering, node: Node) -> None:
    """Where all shapes are static, folding has left none of them."""
    raise UnsupportedOperationError(f"{node.type_info.name} '{node.friendly_name}' has no value known from the shapes")


@lowers(
    ops.Transpose,
    ops.Slice,
    ops.StridedSlice,
    ops.Split,
    ops.VariadicSplit,
    ops.Broadcast,
    ops.Reverse,
    unless=unsupported_movement,
)
def take_views(lowering: Lowering, node: Node) -> None:
    """Operations whose reference gives views of the data."""
    shape_inputs = [shape_input(node, index) for index in range(1, node.get_input_size())]
    data = view_of(node.input_value(0))
    for output, view in zip(node.outputs(), evaluate(node, [data.array, *shape_inputs])):
        copy_or_share(lowering, node.input_value(0), data, view, output)


@lowers(ops.DepthToSpace, unless=unsupported_movement)
def depth_to_space(lowering: Lowering, node: Node) -> None:
    _move_blocks(lowering, node, depth_to_space_blocks)


@lowers(ops.SpaceToDepth, unless=unsupported_movement)
def space_to_depth(lowering: Lowering, node: Node) -> None:
    _move_blocks(lowering, node, space_to_depth_blocks)


def _move_blocks(lowering: Lowering, node: Node, blocks: Callable[[Node, np.ndarray], np.ndarray]) -> None:
    data = view_of(node.input_value(0))
    if data.array.size:
        copy_or_share(lowering, node.input_value(0), data, blocks(node, data.array), node.output(0))


@lowers(ops.Tile, unless=unsupported_movement)
def tile(lowering: Lowering, node: Node) -> None:
    """Each axis becomes two: the repeats, of stride 0, and the elements."""
    data, repeats = view_of(node.input_value(0)), np.maximum(shape_input(node, 1), 0).reshape(-1).tolist()
    rank = max(data.array.ndim, len(repeats))
    lengths = [1] * (rank - data.array.ndim) + list(data.array.shape)
    repeats = [1] * (rank - len(repeats)) + repeats
    single = data.array.reshape([item for length in lengths for item in (1, length)])
    view = np.broadcast_to(single, [item for pair in zip(repeats, lengths) for item in pair])
    copy_or_share(lowering, node.input_value(0), data, view, node.output(0))


@lowers(ops.Concat, unless=unsupported_movement)
def concat(lowering: Lowering, node: Node) -> None:
    output = node.output(0)
    target, buffer = view_of(output), lowering.buffer(output)
    ends = np.cumsum([value.shape[node.axis] for value in node.input_values()])
    for value, part in zip(node.input_values(), np.split(target.array, ends[:-1], node.axis)):
        data = view_of(value)
        strided_copy(lowering, lowering.buffer(value), data, data.array, buffer, target, part)


def widest_word(byte_count: int) -> int:
    """How many bytes can be moved at once where runs of so many lie one after the other."""
    return max(size for size in WORDS if byte_count % size == 0)


def copy_or_share(lowering: Lowering, value: Output, data: View, view: np.ndarray, output: Output) -> None:
    """Make the output what a view of the data holds, row after row: no copy where that is the data as it is."""
    if view.size == data.array.size and view.flags.c_contiguous and not data.offset(view):
        return lowering.share(output, value)
    target = View(view.shape, view.dtype)
    strided_copy(lowering, lowering.buffer(value), data, view, lowering.buffer(output), target, target.array)


def strided_copy(
    lowering: Lowering,
    source_buffer: Buffer,
    source_view: View,
    taken: np.ndarray,
    target_buffer: Buffer,
    target_view: View,
    filled: np.ndarray,
) -> None:
    """Launch a copy of what ``taken`` views in the source to what ``filled`` views in the target; shapes are equal."""
    if not taken.size:
        return
    axes = merge_axes([Axis(*axis) for axis in zip(taken.shape, taken.strides, filled.strides)])
    offsets = source_view.offset(taken), target_view.offset(filled)
    word, axes = widen(axes, offsets, taken.itemsize)
    numbers = [offset // word for offset in offsets] + [number for axis in reversed(axes) for number in axis]
    count = int(np.prod([axis.length for axis in axes]))
    arguments = [source_buffer, target_buffer, *map(np.int32, numbers)]
    lowering.launch_flat(copy_source(WORDS[word], len(axes)), "strided_copy", arguments, count)


def copy_whole(lowering: Lowering, source_buffer: Buffer, value: Output, target_buffer: Buffer) -> None:
    """Launch a copy of all elements of a buffer that are laid out as a value is."""
    view = view_of(value)
    strided_copy(lowering, source_buffer, view, view.array, target_buffer, view, view.array)


def fill(lowering: Lowering, number: np.ndarray, buffer: Buffer, target: View, filled: np.ndarray) -> None:
    """Launch what lets all that ``filled`` views in the target be one number, an array of no dimensions."""
    value = View((), number.dtype)
    spread = np.broadcast_to(value.array, filled.shape)
    strided_copy(lowering, lowering.constant(number), value, spread, buffer, target, filled)


def merge_axes(axes: list[Axis]) -> list[Axis]:
    """The same elements in the same order, in as few axes as their strides allow."""
    merged: list[Axis] = []
    for axis in axes:
        if axis.length == 1:
            continue
        if merged and merged[-1][1:] == (axis.length * axis.source_stride, axis.length * axis.target_stride):
            axis = axis._replace(length=axis.length * merged.pop().length)
        merged.append(axis)
    return merged


def widen(axes: list[Axis], offsets: tuple[int, int], size: int) -> tuple[int, list[Axis]]:
    """The largest word to copy by, and the axes counted in it: runs of elements of ``size`` bytes go together."""
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
def copy_source(word: str, rank: int) -> str:
    """The program that copies words along so many axes."""
    names = [(f"length{axis}", f"source_stride{axis}", f"target_stride{axis}") for axis in range(rank)]
    parameters = "".join(f"const int {name}, " for axis in names for name in axis)
    steps = " ".join(f"STEP({', '.join(axis)})" for axis in names)
    return source("movement", WORD=word, PARAMETERS=parameters, STEPS=steps)

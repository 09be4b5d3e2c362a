"""Pad, OneHot, Roll, ShuffleChannels, SpaceToBatch, BatchToSpace, ReverseSequence and Eye."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hetero import ops
from hetero_opencl.kernels.common.copies import (
    WORDS,
    copy_or_share,
    pad_by_number,
    shape_input,
    strided_copy,
    unsupported_movement,
    widest_word,
)
from hetero_opencl.kernels.common.definition import first_reason, lowers, source, unsupported_inputs, unsupported_types
from hetero_opencl.kernels.common.view import View, view_of
from hetero_opencl.kernels.movement.gather import gather_per_axis
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.Roll, unsupported=unsupported_movement)
def roll(lowering: Lowering, node: ops.Roll) -> None:
    indices = [np.arange(length) for length in node.shape]
    axes = shape_input(node, 2).reshape(-1)
    for axis, shift in zip(axes.tolist(), np.broadcast_to(shape_input(node, 1).reshape(-1), axes.shape).tolist()):
        indices[axis] = np.roll(indices[axis], shift)
    gather_per_axis(lowering, node.input_value(0), indices, node.output(0))


@lowers(ops.ShuffleChannels, unsupported=unsupported_movement)
def shuffle_channels(lowering: Lowering, node: ops.ShuffleChannels) -> None:
    data, axis = view_of(node.input_value(0)), node.axis % len(node.shape)
    if not data.size:
        return
    before, after = node.shape[:axis], node.shape[axis + 1 :]
    groups = data.reshape(*before, node.group, node.shape[axis] // node.group, *after)
    copy_or_share(lowering, node.input_value(0), groups.swapaxes(axis, axis + 1), node.output(0))


@lowers(ops.SpaceToBatch, unsupported=unsupported_movement)
def space_to_batch(lowering: Lowering, node: ops.SpaceToBatch) -> None:
    """Pad, split each axis into blocks, and move the positions within blocks to the batch axis."""
    value, output = node.input_value(0), node.output(0)
    _, *blocks = shape_input(node, 1).tolist()
    begins, ends = (shape_input(node, index).tolist() for index in (2, 3))
    padded = View.dense(tuple(map(sum, zip(begins, value.shape, ends))), value.element_type.size)
    if not padded.size:
        return
    buffer = lowering.buffer(value)
    if any(begins) or any(ends):
        buffer = lowering.scratch(padded.size, value.element_type.size)
        pad_by_number(lowering, value, begins, None, buffer, padded)
    batch, *spatial = padded.shape
    parts = [part for length, block in zip(spatial, blocks) for part in (length // block, block)]
    axes = range(1, 2 * len(blocks) + 1)
    moved = padded.reshape(batch, *parts).transpose(*axes[1::2], 0, *axes[::2])
    strided_copy(lowering, buffer, moved, lowering.buffer(output), View.dense(moved.shape, moved.itemsize))


@lowers(ops.BatchToSpace, unsupported=unsupported_movement)
def batch_to_space(lowering: Lowering, node: ops.BatchToSpace) -> None:
    """Move the positions within blocks from the batch axis to the spatial axes, then crop."""
    value, output = node.input_value(0), node.output(0)
    _, *blocks = shape_input(node, 1).tolist()
    begins, ends = (shape_input(node, index).tolist() for index in (2, 3))
    data, count, batch = view_of(value), len(blocks), value.shape[0] // math.prod(blocks)
    whole = View.dense((batch, *(n * block for n, block in zip(value.shape[1:], blocks))), data.itemsize)
    if not whole.size:
        return
    pairs = [axis for place in range(count) for axis in (count + 1 + place, place)]
    moved = data.reshape(*blocks, batch, *value.shape[1:]).transpose(count, *pairs)
    buffer = lowering.buffer(output)
    is_cropped = any(begins) or any(ends)
    if is_cropped:
        buffer = lowering.scratch(whole.size, value.element_type.size)
    strided_copy(lowering, lowering.buffer(value), moved, buffer, View.dense(moved.shape, moved.itemsize))
    if is_cropped:
        left = tuple(slice(begin, length - end) for begin, length, end in zip(begins, whole.shape, ends))
        strided_copy(lowering, buffer, whole[left], lowering.buffer(output), view_of(output))


@lowers(ops.ReverseSequence, unsupported=first_reason(unsupported_movement, unsupported_inputs(1)))
def reverse_sequence(lowering: Lowering, node: ops.ReverseSequence) -> None:
    shape, size = node.shape, node.get_element_type().size
    axes = node.batch_axis % len(shape), node.seq_axis % len(shape)
    run = math.prod(shape[max(axes) + 1 :]) * size
    if not math.prod(shape):
        return
    word = widest_word(run)
    lengths = node.input_value(1)
    sizes = [n for axis in axes for n in (shape[axis], math.prod(shape[axis + 1 :]) * size // word)]
    text = source("rearrangement", {"LENGTH": lengths.element_type}, WORD=WORDS[word])
    values = (*node.input_values(), node.output(0))
    lowering.launch_flat(text, "reverse_sequence", [*values, *sizes], math.prod(shape) * size // word)


@lowers(ops.Eye, unsupported=unsupported_types)
def eye(lowering: Lowering, node: ops.Eye) -> None:
    diagonal = node.input_value(2)
    text = source("eye", {"INDEX": diagonal.element_type, "DATA": node.get_element_type()})
    lowering.launch_flat(text, "eye", [diagonal, node.output(0), *node.shape[-2:]], math.prod(node.shape))


@lowers(ops.Pad, ops.PadV1, unsupported=unsupported_movement)
def pad(lowering: Lowering, node: ops.Pad | ops.PadV1) -> None:
    value, output = node.input_value(0), node.output(0)
    begins, ends = (shape_input(node, index).reshape(-1).tolist() for index in (1, 2))
    if node.pad_mode == "constant":
        number = lowering.buffer(node.input_value(3)) if node.has_input("arg_pad_value") else None
        return pad_by_number(lowering, value, begins, number, lowering.buffer(output), view_of(output))
    gather_per_axis(
        lowering, value, [_padded_indices(node.pad_mode, *axis) for axis in zip(value.shape, begins, ends)], output
    )


def _padded_indices(mode: Literal["edge", "reflect", "symmetric"], length: int, begin: int, end: int) -> np.ndarray:
    """Return the source index of each element of a padded axis. Negative amounts crop after the other end has grown."""
    indices = np.pad(np.arange(length), (max(begin, 0), max(end, 0)), mode)
    return indices[max(-begin, 0) : len(indices) - max(-end, 0)]


@lowers(ops.OneHot, ops.OneHotV1, unsupported=first_reason(unsupported_movement, unsupported_inputs(0)))
def one_hot(lowering: Lowering, node: ops.OneHot | ops.OneHotV1) -> None:
    axis = node.axis % len(node.shape)
    indices, _, on_value, off_value = node.input_values()
    text = source("one_hot", {"INDEX": indices.element_type}, WORD=WORDS[on_value.element_type.size])
    buffers = (indices, on_value, off_value, node.output(0))
    sizes = node.shape[axis], math.prod(node.shape[axis + 1 :]), node.negative_indices_mode == "normalize"
    lowering.launch_flat(text, "one_hot", [*buffers, *sizes], math.prod(node.shape))

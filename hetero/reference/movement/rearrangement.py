"""Roll, Reverse, ShuffleChannels, SpaceToBatch and the like, as views of the data or with one copy."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Roll)
def roll(node: ops.Roll, data: Array, shift: Array, axes: Array) -> Array:
    axes = axes.reshape(-1)
    shifts = np.broadcast_to(shift.reshape(-1), axes.shape)
    return np.roll(data, shifts.tolist(), axes.tolist())


@evaluates(ops.Reverse)
def reverse(node: ops.Reverse, data: Array, reversed_axes: Array) -> Array:
    axes = np.flatnonzero(reversed_axes) if node.mode == "mask" else reversed_axes
    return np.flip(data, tuple(axes.tolist()))


@evaluates(ops.ReverseSequence)
def reverse_sequence(node: ops.ReverseSequence, data: Array, seq_lengths: Array) -> Array:
    batch, along = node.batch_axis % data.ndim, node.seq_axis % data.ndim
    lengths, steps = seq_lengths.astype(np.int64)[:, None], np.arange(data.shape[along])
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= steps.size:
        raise ValueError(f"seq_lengths {seq_lengths.tolist()} must be from 0 to {steps.size}")
    order = np.where(steps < lengths, lengths - 1 - steps, steps)
    rows = np.moveaxis(data, (batch, along), (0, 1))
    return np.moveaxis(rows[np.arange(lengths.size)[:, None], order], (0, 1), (batch, along))


@evaluates(ops.ShuffleChannels)
def shuffle_channels(node: ops.ShuffleChannels, data: Array) -> Array:
    axis = node.axis % data.ndim
    before, length, after = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    groups = data.reshape(*before, node.group, length // node.group, *after)
    return groups.swapaxes(axis, axis + 1).reshape(data.shape)


@evaluates(ops.SpaceToBatch)
def space_to_batch(
    node: ops.SpaceToBatch, data: Array, block_shape: Array, pads_begin: Array, pads_end: Array
) -> Array:
    padded = np.pad(data, list(zip(pads_begin.tolist(), pads_end.tolist())))
    _, *blocks = block_shape.tolist()
    spatial = [length // block for length, block in zip(padded.shape[1:], blocks)]
    split = padded.reshape(padded.shape[0], *(n for pair in zip(spatial, blocks) for n in pair))
    order = (*range(2, 2 * len(blocks) + 1, 2), 0, *range(1, 2 * len(blocks) + 1, 2))
    return split.transpose(order).reshape(padded.shape[0] * math.prod(blocks), *spatial)


@evaluates(ops.BatchToSpace)
def batch_to_space(
    node: ops.BatchToSpace, data: Array, block_shape: Array, crops_begin: Array, crops_end: Array
) -> Array:
    _, *blocks = block_shape.tolist()
    count, batch = len(blocks), data.shape[0] // math.prod(blocks)
    split = data.reshape(*blocks, batch, *data.shape[1:])
    order = (count, *(axis for i in range(count) for axis in (count + 1 + i, i)))
    whole = split.transpose(order).reshape(batch, *(n * block for n, block in zip(data.shape[1:], blocks)))
    ends = [length - end for length, end in zip(whole.shape, crops_end.tolist())]
    return whole[tuple(slice(begin, end) for begin, end in zip(crops_begin.tolist(), ends))]

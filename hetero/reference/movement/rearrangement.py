"""Roll, Reverse, ShuffleChannels, SpaceToBatch, image patches and the like, as views of the data or with few copies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.ops.windows import resolve_pads
from hetero.reference.convolution import window_slices
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


@evaluates(ops.Col2Im, in_f32=True)
def col2im(node: ops.Col2Im, data: Array, output_size: Array, kernel_size: Array) -> Array:
    size, kernel = output_size.reshape(-1).tolist(), kernel_size.reshape(-1).tolist()
    # Attributes may be missing if the number of spatial dimensions was not known at shape inference.
    strides, dilations = (values or (1,) * len(size) for values in (node.strides, node.dilations))
    begin, end = (values or (0,) * len(size) for values in (node.pads_begin, node.pads_end))
    padded = [sum(lengths) for lengths in zip(size, begin, end)]
    positions = _positions(padded, kernel, dilations, strides)
    batch = data.shape[0] if data.ndim == 3 else 1
    patches = data.reshape(batch, data.shape[-2] // math.prod(kernel), *kernel, *positions)
    image = np.zeros((*patches.shape[:2], *padded), data.dtype)
    for offset in itertools.product(*map(range, kernel)):
        element: tuple[Any, ...] = (slice(None), slice(None), *offset)
        image[window_slices(offset, positions, strides, dilations)] += patches[element]
    cropped = (slice(first, first + length) for first, length in zip(begin, size))
    return image[(slice(None) if data.ndim == 3 else 0, slice(None), *cropped)]


@evaluates(ops.ExtractImagePatches)
def extract_image_patches(node: ops.ExtractImagePatches, image: Array) -> Array:
    begin, end = resolve_pads(node, image.shape[2:], node.sizes, node.rates)
    padded = np.pad(image, [(0, 0), (0, 0), *zip(begin, end)]) if any((*begin, *end)) else image
    positions = _positions(padded.shape[2:], node.sizes, node.rates, node.strides)
    patches = np.empty((image.shape[0], *node.sizes, image.shape[1], *positions), image.dtype)
    if patches.size:
        for row, column in itertools.product(*map(range, node.sizes)):
            patches[:, row, column] = padded[window_slices((row, column), positions, node.strides, node.rates)]
    return patches.reshape(image.shape[0], math.prod(patches.shape[1:4]), *positions)


def _positions(
    lengths: Sequence[int], kernel: Sequence[int], dilations: Sequence[int], strides: Sequence[int]
) -> list[int]:
    """Return the number of kernel positions on each axis."""
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    return [max((length - covered) // step + 1, 0) for length, covered, step in zip(lengths, extents, strides)]

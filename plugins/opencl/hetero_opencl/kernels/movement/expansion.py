"""Pad, with positive and negative amounts, and OneHot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from hetero import ops
from hetero.graph import Node, Output
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import source, unsupported_types
from hetero_opencl.kernels.movement.gather import gather_per_axis
from hetero_opencl.kernels.movement.movement import (
    WORDS,
    View,
    fill,
    shape_input,
    strided_copy,
    unsupported_movement,
    view_of,
)
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.lowering.program import Buffer


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


def _unsupported(node: Node) -> str | None:
    return unsupported_movement(node) or unsupported_types(node, [node.input_value(0)])


@lowers(ops.OneHot, ops.OneHotV1, unsupported=_unsupported)
def one_hot(lowering: Lowering, node: ops.OneHot | ops.OneHotV1) -> None:
    axis = node.axis % len(node.shape)
    indices, _, on_value, off_value = node.input_values()
    text = source("one_hot", {"INDEX": indices.element_type}, WORD=WORDS[on_value.element_type.size])
    buffers = (indices, on_value, off_value, node.output(0))
    sizes = node.shape[axis], math.prod(node.shape[axis + 1 :]), node.negative_indices_mode == "normalize"
    lowering.launch_flat(text, "one_hot", [*buffers, *sizes], math.prod(node.shape))

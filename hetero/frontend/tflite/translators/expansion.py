"""Padding, tiling, broadcasting, ranges, one-hot and diagonal matrices, and operators on shapes."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    dimension_count,
    int64,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Output, constant_array


@translator("PAD", "PADV2")
def pad(node: TfliteNodeContext) -> Translation:
    """PAD pads by zero, quantized data by its zero point; PADV2 by input 2."""
    data, params, value = node.get_input(0), node.output_tensor(0).quantization, node.get_optional_input(2)
    if value is None:
        value = scalar_like(data, 0 if params is None else params.zero_point).output(0)
    return ops.Pad(data, *_pads(node), "constant", reshape(value, ()))


@translator("MIRROR_PAD")
def mirror_pad(node: TfliteNodeContext) -> Translation:
    reflect = node.get_attribute("mode", tflite.MirrorPadMode.REFLECT) == tflite.MirrorPadMode.REFLECT
    return ops.Pad(node.get_input(0), *_pads(node), "reflect" if reflect else "symmetric")


def _pads(node: TfliteNodeContext) -> list[Output]:
    """Return the pads before and after: the columns of input 1."""
    pads = constant_array(node.get_input(1))
    if pads is not None:
        return [int64(column).output(0) for column in np.reshape(pads, (-1, 2)).T]
    return [ops.Squeeze(column, int64([1])).output(0) for column in ops.Split(node.get_input(1), int64(1), 2).outputs()]


@translator("FILL")
def fill(node: TfliteNodeContext) -> Translation:
    """Input 0 is the shape, input 1 the value."""
    return ops.Broadcast(node.get_input(1), node.get_input(0))


@translator("ZEROS_LIKE")
def zeros_like(node: TfliteNodeContext) -> Translation:
    return ops.Broadcast(scalar_like(node.get_input(0), 0), ops.ShapeOf(node.get_input(0)))


@translator("SHAPE")
def shape(node: TfliteNodeContext) -> Translation:
    lengths = ops.ShapeOf(node.get_input(0), node.output_type(0))
    return ops.Slice(lengths, int64([0]), int64([-1]), int64([1])) if node.input_tensor(0).is_complex else lengths


@translator("RANK")
def rank(node: TfliteNodeContext) -> Translation:
    return ops.Convert(int64(rank_of(node.get_input(0))), node.output_type(0))


@translator("RANGE")
def range_operator(node: TfliteNodeContext) -> Translation:
    return ops.Range(*(node.get_input(index) for index in range(3)), node.get_input(0).element_type)


@translator("BROADCAST_ARGS")
def broadcast_args(node: TfliteNodeContext) -> Translation:
    """Return the shape that two shapes broadcast to."""
    shapes = [node.get_input(0), node.get_input(1)]
    counts = [dimension_count(shape) for shape in shapes]
    rank = max(counts)
    first, second = (_prepend_ones(shape, rank - count) for shape, count in zip(shapes, counts))
    known = constant_array(shapes[1])
    if known is None:
        first, second, known = second, first, constant_array(shapes[0])
    if known is not None:
        known = np.concatenate([np.ones(rank - known.size), known])
        # Constant indices, so that dimensions of the other shape that are known stay known.
        indices = np.arange(rank) + np.where(known == 1, 0, rank)
        return ops.Gather(ops.Concat([first, second], 0), int64(indices), int64(0))
    return ops.Select(ops.Equal(first, scalar_like(first, 1)), second, first)


def _prepend_ones(shape: Output, count: int) -> Output:
    ones = Constant(np.ones(count, shape.element_type.to_dtype()))
    return ops.Concat([ones, shape], 0).output(0) if count else shape


@translator("ONE_HOT")
def one_hot(node: TfliteNodeContext) -> Translation:
    indices, depth, on, off = (node.get_input(index) for index in range(4))
    depth, on, off = (reshape(number, ()) for number in (depth, on, off))
    return ops.OneHot(indices, depth, on, off, node.get_attribute("axis", -1))


@translator("MATRIX_DIAG")
def matrix_diag(node: TfliteNodeContext) -> Translation:
    """Place ``[…, N]`` on the diagonals of ``[…, N, N]``."""
    diagonal = node.get_input(0)
    length = axis_length(diagonal, -1)
    return ops.Select(_on_diagonal(length, length), ops.Unsqueeze(diagonal, int64([-2])), scalar_like(diagonal, 0))


@translator("MATRIX_SET_DIAG")
def matrix_set_diag(node: TfliteNodeContext) -> Translation:
    """Replace the diagonals of matrices ``[…, M, N]`` by ``[…, min(M, N)]``."""
    matrix, diagonal = node.get_input(0), node.get_input(1)
    rows, columns = (axis_length(matrix, axis) for axis in (-2, -1))
    # Columns beyond the diagonal take its last element, which the mask then ignores.
    last = ops.Subtract(axis_length(diagonal, -1), int64(1))
    per_column = ops.Gather(diagonal, ops.Minimum(arange(columns), last), int64(-1))
    return ops.Select(_on_diagonal(rows, columns), ops.Unsqueeze(per_column, int64([-2])), matrix)


def _on_diagonal(rows: Output, columns: Output) -> Output:
    """Return a boolean mask ``[rows, columns]`` of the main diagonal."""
    return ops.Equal(ops.Unsqueeze(arange(rows), int64([1])), arange(columns)).output(0)

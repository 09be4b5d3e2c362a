"""Diagonals and triangles of matrices. Diagonals are numbered by column minus row: 0 is the main diagonal."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    int64,
    known_length,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output


def diagonal_numbers(rows: Output | Constant, columns: Output | Constant) -> Node:
    """Return a matrix ``[rows, columns]`` with the number of the diagonal of each element.

    It is computed at run time, so that no large constant is made from two numbers of a file.
    """
    return ops.Subtract(ops.Unsqueeze(arange(columns), int64([0])), ops.Unsqueeze(arange(rows), int64([1])))


def triangle(value: Output, compare: type[Op], diagonal: int | Node) -> Node:
    """Keep the elements of matrices whose diagonals compare so with the given one, and set the others to 0."""
    numbers = diagonal_numbers(axis_length(value, -2), axis_length(value, -1))
    return ops.Select(compare(numbers, diagonal), value, scalar_like(value, 0))


def diagonal_of(value: Output, offset: int, first: int = 0, second: int = 1) -> Node:
    """Return a diagonal of the matrices along two axes, as the last axis. Raises FrontendError for unknown lengths."""
    rank = rank_of(value)
    axes = [normalize_axis(axis, rank) for axis in (first, second)]
    height, width = (known_length(value, axis, "the size of a matrix") for axis in axes)
    indices = [(row, row + offset) for row in range(height) if 0 <= row + offset < width]
    others = [axis for axis in range(rank) if axis not in axes]
    matrices = ops.Transpose(value, int64([*axes, *others]))
    diagonals = ops.GatherND(matrices, int64(np.reshape(indices, (-1, 2))))
    return ops.Transpose(diagonals, int64([*range(1, len(others) + 1), 0]))


def main_diagonal(rows: Output, columns: Output) -> Output:
    """Return a boolean mask ``[rows, columns]`` of the main diagonal."""
    return ops.Equal(ops.Unsqueeze(arange(rows), int64([1])), arange(columns)).output(0)


def matrix_of_diagonal(diagonal: Output, others: Output | None = None) -> Op:
    """Place ``[…, N]`` on the diagonals of ``[…, N, N]``. ``others``: the other elements, by default 0."""
    length = axis_length(diagonal, -1)
    others = scalar_like(diagonal, 0).output(0) if others is None else others
    return ops.Select(main_diagonal(length, length), ops.Unsqueeze(diagonal, int64([-2])), others)


def set_main_diagonal(matrix: Output, diagonal: Output) -> Node:
    """Replace the diagonals of matrices ``[…, M, N]`` by ``[…, min(M, N)]``."""
    rows, columns = (axis_length(matrix, axis) for axis in (-2, -1))
    # Columns beyond the diagonal take its last element, which the mask then ignores.
    last = ops.Subtract(axis_length(diagonal, -1), int64(1))
    per_column = ops.Gather(diagonal, ops.Minimum(arange(columns), last), int64(-1))
    return ops.Select(main_diagonal(rows, columns), ops.Unsqueeze(per_column, int64([-2])), matrix)

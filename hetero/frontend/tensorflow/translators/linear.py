"""Products of matrices, Einsum, inverses, determinants, diagonals of matrices, and XLA's products.

Diagonals are numbered by column minus row: 0 is the main diagonal, those above it are positive. Several diagonals are
the rows of ``[…, count, longest]``, the highest diagonal first; shorter ones are padded on a side given by ``align``.
The axes of XLA's products and convolutions are in attributes that are messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import main_diagonal, matrix_of_diagonal, set_main_diagonal
from hetero.frontend.numerics.xla import ConvolutionSpec, DotDimensions, convolution, dot_general
from hetero.frontend.protobuf import Message, Schema, decode
from hetero.frontend.tensorflow.decoding.messages import CONVOLUTION_DIMENSIONS, DOT_DIMENSIONS
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.tensorflow.translators.signal import matmul_complex
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    constant_input,
    convert_to,
    int64,
    known_length,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output
from hetero.system.errors import FrontendError


@translator("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(node: TensorflowNodeContext) -> Translation:
    names = ("transpose_a", "transpose_b") if node.get_op_type() == "MatMul" else ("adj_x", "adj_y")
    # Only BatchMatMulV3 has another type for its result, in which it computes.
    kind = node.get_attribute("Tout", node.get_input(0).element_type)
    left, right = (convert_to(value, kind) for value in node.get_inputs())
    swaps = [node.get_attribute(name, False, bool) for name in names]
    if node.is_complex():
        return matmul_complex(left, right, swaps[0], swaps[1], node.get_op_type() != "MatMul")
    return ops.MatMul(left, right, *swaps)


def _log_determinant(matrix: Output) -> Translation:
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    determinant = ops.Det(matrix)
    return [ops.Sign(determinant), ops.Log(ops.Abs(determinant))]


def _solve(matrix: Output, right: Output, adjoint: bool) -> Op:
    """Solve A·X = B, or with ``adjoint`` Aᵀ·X = B, by the inverse of A."""
    return ops.MatMul(ops.Inverse(matrix, adjoint), right, False, False)


def _cross_product(left: Output, right: Output) -> Op:
    """Return the cross product of vectors of length 3 along the last axis."""

    def rotated(value: Output, first: int) -> Output:
        return ops.Gather(value, int64([(first + step) % 3 for step in range(3)]), int64(-1)).output(0)

    return ops.Subtract(
        ops.Multiply(rotated(left, 1), rotated(right, 2)), ops.Multiply(rotated(left, 2), rotated(right, 1))
    )


def _band_part(matrix: Output, *limits: Output) -> Op:
    """Zero elements more than ``lower`` below or ``upper`` above the main diagonal; a negative number is no limit."""
    lower, upper = (reshape(convert_to(limit, Type.i64), ()) for limit in limits)
    rows, columns = (arange(axis_length(matrix, axis)) for axis in (-2, -1))
    below = ops.Subtract(ops.Unsqueeze(rows, int64([1])), columns).output(0)
    in_lower = ops.LogicalOr(ops.Less(lower, int64(0)), ops.LessEqual(below, lower))
    in_upper = ops.LogicalOr(ops.Less(upper, int64(0)), ops.LessEqual(ops.Negative(below), upper))
    return ops.Select(ops.LogicalAnd(in_lower, in_upper), matrix, scalar_like(matrix, 0))


def _main_diagonal_of(matrix: Output) -> Node:
    rows, columns = (axis_length(matrix, axis) for axis in (-2, -1))
    on_diagonal = ops.Select(main_diagonal(rows, columns), matrix, scalar_like(matrix, 0))
    # The other elements of a column are 0.
    total = ops.ReduceSum(on_diagonal, int64([-2]), False)
    return ops.Slice(total, int64([0]), reshape(ops.Minimum(rows, columns).output(0), (1,)), int64([1]), int64([-1]))


def _tensor_of_diagonal(value: Output) -> Op:
    """Place the elements of a tensor ``[D…]`` on the diagonal of ``[D…, D…]``."""
    shape = ops.ShapeOf(value)
    return ops.Reshape(matrix_of_diagonal(reshape(value, (-1,))), ops.Concat([shape, shape], 0), False)


def _diagonal_of_tensor(value: Output) -> Op:
    """Return the diagonal ``[D…]`` of a tensor ``[D…, D…]``."""
    shape = ops.Gather(ops.ShapeOf(value), int64(range(rank_of(value) // 2)), int64(0))
    length = ops.ReduceProd(shape, int64([0]), True)
    matrix = ops.Reshape(value, ops.Concat([length, length], 0), False).output(0)
    return ops.Reshape(_main_diagonal_of(matrix), shape, False)


_ADJOINT = Attr("adjoint", False, bool)
rows(
    {
        "Cross": Row(_cross_product),
        "Diag": Row(_tensor_of_diagonal),
        "DiagPart": Row(_diagonal_of_tensor),
        "Einsum": Row(ops.Einsum, equation=Attr("equation", dtype=lambda text: text.replace(" ", ""))),
        "LogMatrixDeterminant": Row(_log_determinant),
        **{
            f"{prefix}{name}": row
            for prefix in ("", "Batch")
            for name, row in {
                "MatrixBandPart": Row(_band_part),
                "MatrixDeterminant": Row(ops.Det),
                "MatrixDiag": Row(matrix_of_diagonal),
                "MatrixDiagPart": Row(_main_diagonal_of),
                "MatrixInverse": Row(ops.Inverse, adjoint=_ADJOINT),
                "MatrixSetDiag": Row(set_main_diagonal),
                "MatrixSolve": Row(_solve, adjoint=_ADJOINT),
            }.items()
        },
    }
)


@translator("MatrixDiagV2", "MatrixDiagV3")
def matrices_of_diagonals(node: TensorflowNodeContext) -> Translation:
    """Inputs: diagonals, their numbers, rows and columns of the matrices (-1: as few as fit), other elements."""
    diagonals, padding = node.get_input(0), reshape(node.get_input(4), ())
    low, high = _diagonal_range(node)
    rows, columns = (node.get_values_from_const_input(index, dtype=int) for index in (2, 3))
    if low == high == 0 and rows == columns == -1:
        return matrix_of_diagonal(diagonals, padding)
    longest = known_length(diagonals, -1, "the length of diagonals")
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    return _place(node, diagonals, padding, (low, high), (rows, columns))


@translator("MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diagonals(node: TensorflowNodeContext) -> Translation:
    matrix, diagonals = node.get_input(0), node.get_input(1)
    low, high = _diagonal_range(node, 2)
    if low == high == 0:
        return set_main_diagonal(matrix, diagonals)
    shape = tuple(known_length(matrix, axis, "the shape of the matrices") for axis in (-2, -1))
    return _place(node, diagonals, matrix, (low, high), shape)


@translator("MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonals_of_matrices(node: TensorflowNodeContext) -> Translation:
    """Inputs: matrices, the numbers of diagonals, the padding of shorter diagonals."""
    matrix, padding = node.get_input(0), reshape(node.get_input(2), ())
    low, high = _diagonal_range(node)
    if low == high == 0:
        return _main_diagonal_of(matrix)
    rows, columns = (known_length(matrix, axis, "the shape of the matrices") for axis in (-2, -1))
    longest = max(_length(number, rows, columns) for number in range(low, high + 1))
    positions = np.full((high - low + 1, longest), -1, np.int64)
    for diagonal, place, row, column in _elements(node, (low, high), (rows, columns)):
        positions[diagonal, place] = row * columns + column
    elements = _take(matrix, 2, positions if low < high else positions[0])
    return ops.Select(Constant(positions >= 0 if low < high else positions[0] >= 0), elements, padding)


# Maximum number of elements of matrices with other diagonals than the main one, whose positions are constants.
_MAX_ELEMENTS = 1 << 26


def _place(
    node: TensorflowNodeContext, diagonals: Output, others: Output, numbers: tuple[int, int], shape: tuple[int, ...]
) -> Node:
    """Return matrices of a shape with these diagonals. ``others``: the elements of the matrices that are on none."""
    longest = known_length(diagonals, -1, "the length of diagonals")
    if shape[0] * shape[1] > _MAX_ELEMENTS:
        raise FrontendError(f"diagonals of matrices of {shape[0]} x {shape[1]} elements are not supported")
    positions = np.full(shape, -1, np.int64)
    for diagonal, place, row, column in _elements(node, numbers, shape):
        positions[row, column] = diagonal * longest + place
    elements = _take(diagonals, 2 if numbers[0] < numbers[1] else 1, positions)
    return ops.Select(Constant(positions >= 0), elements, others)


def _diagonal_range(node: TensorflowNodeContext, index: int = 1) -> tuple[int, int]:
    """Return the lowest and the highest number of a diagonal, from an input with one or both."""
    numbers = np.ravel(node.get_values_from_const_input(index, dtype=int))
    return int(numbers[0]), int(numbers[-1])


def _length(number: int, rows: int, columns: int) -> int:
    return min(rows + min(number, 0), columns - max(number, 0))


def _elements(
    node: TensorflowNodeContext, numbers: tuple[int, int], shape: tuple[int, ...]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the position of each element of the diagonals: diagonal, place along it, row and column in the matrix."""
    align, (low, high), (rows, columns) = node.get_attribute("align", "LEFT_LEFT"), numbers, shape
    upper_left, lower_left = align.startswith("LEFT"), align.endswith("LEFT")
    longest = max(_length(number, rows, columns) for number in range(low, high + 1))
    for diagonal, number in enumerate(range(high, low - 1, -1)):
        length = _length(number, rows, columns)
        is_left = (number >= 0 and upper_left) or (number <= 0 and lower_left)
        for place in range(length):
            row, column = place - min(number, 0), place + max(number, 0)
            yield diagonal, place + (0 if is_left else longest - length), row, column


def _take(value: Output, axes: int, positions: np.ndarray) -> Output:
    """Gather from the last ``axes`` axes, flattened. Position -1 takes any element."""
    rank = rank_of(value)
    if axes == 2:
        before = ops.Gather(ops.ShapeOf(value), int64(range(rank - 2)), int64(0))
        value = ops.Reshape(value, ops.Concat([before, int64([-1])], 0), False).output(0)
        rank -= 1
    return ops.Gather(value, int64(np.maximum(positions, 0)), int64(rank - 1)).output(0)


_AXES = (
    "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
    "kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension",
    "output_feature_dimension", "output_spatial_dimensions",
)  # fmt: skip


# The inputs of XlaConvV2 after the data and the filters.
_WINDOW = ("window_strides", "padding", "lhs_dilation", "rhs_dilation", "feature_group_count")


def _dimension_numbers(node: TensorflowNodeContext, schema: Schema) -> Message:
    """Return the message in the attribute, bytes that are a str if they are UTF-8."""
    value = node.get_attribute("dimension_numbers")
    return decode(memoryview(value.encode() if isinstance(value, str) else value), schema)


def _operands(node: TensorflowNodeContext) -> tuple[Output, Output]:
    """Return both operands as the type of the result."""
    kind = node.get_attribute("preferred_element_type", node.get_input(0).element_type)
    return convert_to(node.get_input(0), kind), convert_to(node.get_input(1), kind)


@translator("XlaDot", "XlaDotV2")
def xla_dot(node: TensorflowNodeContext) -> Translation:
    numbers = _dimension_numbers(node, DOT_DIMENSIONS)
    dimensions = DotDimensions(
        numbers.lhs_batch_dimensions,
        numbers.rhs_batch_dimensions,
        numbers.lhs_contracting_dimensions,
        numbers.rhs_contracting_dimensions,
    )
    return dot_general(*_operands(node), dimensions)


@translator("XlaConv", "XlaConvV2")
def xla_convolution(node: TensorflowNodeContext) -> Translation:
    numbers = _dimension_numbers(node, CONVOLUTION_DIMENSIONS)
    window = [np.ravel(constant_input(node, 2 + index, name)).tolist() for index, name in enumerate(_WINDOW)]
    fields: dict[str, Any] = {name: getattr(numbers, name) for name in _AXES}
    fields.update(zip(_WINDOW, window))
    if len(fields["feature_group_count"]) != 1:
        raise FrontendError(f"feature_group_count {fields['feature_group_count']} must be one number")
    (fields["feature_group_count"],) = fields["feature_group_count"]
    fields["batch_group_count"] = node.get_attribute("batch_group_count", 1, int)
    return convolution(*_operands(node), ConvolutionSpec(**fields))

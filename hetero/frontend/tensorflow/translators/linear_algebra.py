"""Einsum, inverses, determinants and cross products."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64
from hetero.graph import Output


@translator("Einsum")
def einsum(node: TensorflowNodeContext) -> Translation:
    return ops.Einsum(node.get_inputs(), node.get_attribute("equation").replace(" ", ""))


@translator("MatrixInverse", "BatchMatrixInverse")
def matrix_inverse(node: TensorflowNodeContext) -> Translation:
    return ops.Inverse(node.get_input(0), node.get_attribute("adjoint", False, bool))


@translator("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant(node: TensorflowNodeContext) -> Translation:
    return ops.Det(node.get_input(0))


@translator("LogMatrixDeterminant")
def log_determinant(node: TensorflowNodeContext) -> Translation:
    """The sign of the determinant, and the logarithm of its absolute value."""
    determinant = ops.Det(node.get_input(0))
    return [ops.Sign(determinant), ops.Log(ops.Abs(determinant))]


@translator("MatrixSolve", "BatchMatrixSolve")
def matrix_solve(node: TensorflowNodeContext) -> Translation:
    """Solve A·X = B, or with ``adjoint`` Aᵀ·X = B, by the inverse of A."""
    matrix, right = node.get_inputs()
    return ops.MatMul(ops.Inverse(matrix, node.get_attribute("adjoint", False, bool)), right, False, False)


@translator("Cross")
def cross_product(node: TensorflowNodeContext) -> Translation:
    """The cross product of vectors of length 3 along the last axis."""
    left, right = node.get_inputs()

    def rotated(value: Output, first: int) -> Output:
        return ops.Gather(value, int64([(first + step) % 3 for step in range(3)]), int64(-1)).output(0)

    return ops.Subtract(
        ops.Multiply(rotated(left, 1), rotated(right, 2)), ops.Multiply(rotated(left, 2), rotated(right, 1))
    )

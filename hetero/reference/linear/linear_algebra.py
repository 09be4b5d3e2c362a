"""Linear algebra: MatMul, Eye, Inverse and Det."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.accumulation import accumulation_type, to_element_type
from hetero.reference.registry import Array, evaluates, register_functions


@evaluates(ops.MatMul, in_f32=True)
def matmul(node: ops.MatMul, a: Array, b: Array) -> Array:
    if node.transpose_a and a.ndim > 1:
        a = a.swapaxes(-1, -2)
    if node.transpose_b and b.ndim > 1:
        b = b.swapaxes(-1, -2)
    work, element_type = accumulation_type(a, b, a.shape[-1]), a.dtype
    return to_element_type(_product(a.astype(work, copy=False), b.astype(work, copy=False)), element_type)


@evaluates(ops.GroupedMatMul, in_f32=True)
def grouped_matmul(node: ops.GroupedMatMul, a: Array, b: Array, offsets: Array | None = None) -> Array:
    work, element_type = accumulation_type(a, b, a.shape[-1]), a.dtype
    left, right = a.astype(work, copy=False), b.astype(work, copy=False).swapaxes(-1, -2)
    if offsets is None or a.ndim == 3:
        return to_element_type(left @ right, element_type)
    result = np.zeros((len(a), right.shape[-1]), work)
    ends = [0, *offsets.tolist()]
    for begin, end, matrix in zip(ends, ends[1:], right):
        result[begin:end] = left[begin:end] @ matrix
    return to_element_type(result, element_type)


def _product(a: Array, b: Array) -> Array:
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:
        # One gemm over all rows instead of one per matrix.
        return (a.reshape(-1, a.shape[-1]) @ b).reshape(*a.shape[:-1], b.shape[-1])
    return np.matmul(a, b)


@evaluates(ops.Eye)
def eye(
    node: ops.Eye, num_rows: Array, num_columns: Array, diagonal_index: Array, batch_shape: Array | None = None
) -> Array:
    rows, columns, diagonal = (int(array.reshape(-1)[0]) for array in (num_rows, num_columns, diagonal_index))
    matrix = np.eye(rows, columns, diagonal, node.output_type.to_dtype())
    return matrix if batch_shape is None else np.broadcast_to(matrix, (*batch_shape.tolist(), rows, columns)).copy()


@evaluates(ops.Inverse, in_f32=True)
def inverse(node: ops.Inverse, x: Array) -> Array:
    return np.linalg.inv(np.swapaxes(x, -1, -2) if node.adjoint else x)


register_functions({ops.Det: np.linalg.det}, in_f32=True)

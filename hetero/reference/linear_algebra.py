"""Linear algebra: Eye, Inverse and Det."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import compute_in_f32, evaluates


@evaluates(ops.Eye)
def eye(node, num_rows, num_columns, diagonal_index, batch_shape=None):
    rows, columns, diagonal = (int(array.reshape(-1)[0]) for array in (num_rows, num_columns, diagonal_index))
    matrix = np.eye(rows, columns, diagonal, node.output_type.to_dtype())
    return matrix if batch_shape is None else np.broadcast_to(matrix, (*batch_shape.tolist(), rows, columns)).copy()


@evaluates(ops.Inverse)
@compute_in_f32
def inverse(node, x):
    return np.linalg.inv(np.swapaxes(x, -1, -2) if node.adjoint else x)


@evaluates(ops.Det)
@compute_in_f32
def det(node, x):
    return np.linalg.det(x)

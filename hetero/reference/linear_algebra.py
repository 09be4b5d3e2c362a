"""Linear algebra: Eye, Inverse and Det."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates, register_functions


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

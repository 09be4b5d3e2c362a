"""Comparisons and logical operations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates, register_functions

_COMPARISONS = (
    ops.Equal, ops.NotEqual, ops.Greater, ops.GreaterEqual, ops.Less, ops.LessEqual,
    ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor,
)  # fmt: skip
register_functions({operation: operation.combine for operation in _COMPARISONS})
register_functions({ops.LogicalNot: np.logical_not})
register_functions({ops.IsFinite: np.isfinite, ops.IsNaN: np.isnan}, in_f32=True)


@evaluates(ops.IsInf, in_f32=True)
def is_inf(node: ops.IsInf, x: Array) -> Array:
    if node.detect_positive and node.detect_negative:
        return np.isinf(x)
    if node.detect_positive or node.detect_negative:
        return x == x.dtype.type(np.inf if node.detect_positive else -np.inf)
    return np.zeros(x.shape, np.bool_)

"""Comparisons and logical operations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import compute_in_f32, evaluates


@evaluates(
    ops.Equal, ops.NotEqual, ops.Greater, ops.GreaterEqual, ops.Less, ops.LessEqual,
    ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor,
)  # fmt: skip
def compare(node, a, b):
    return node.combine(a, b)


@evaluates(ops.LogicalNot)
def logical_not(node, x):
    return np.logical_not(x)


@evaluates(ops.IsFinite)
@compute_in_f32
def is_finite(node, x):
    return np.isfinite(x)


@evaluates(ops.IsNaN)
@compute_in_f32
def is_nan(node, x):
    return np.isnan(x)


@evaluates(ops.IsInf)
@compute_in_f32
def is_inf(node, x):
    if node.detect_positive and node.detect_negative:
        return np.isinf(x)
    if node.detect_positive or node.detect_negative:
        return x == x.dtype.type(np.inf if node.detect_positive else -np.inf)
    return np.zeros(x.shape, np.bool_)

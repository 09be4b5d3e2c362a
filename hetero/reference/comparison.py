"""Comparisons and logic in numpy."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates


@evaluates(
    ops.Equal, ops.NotEqual, ops.Greater, ops.GreaterEqual, ops.Less, ops.LessEqual,
    ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor,
)  # fmt: skip
def compare(node, a, b):
    return node.combine(a, b)


@evaluates(ops.LogicalNot)
def logical_not(node, x):
    return np.logical_not(x)

"""Bitwise operations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import evaluates

_FUNCTIONS = {
    ops.BitwiseAnd: np.bitwise_and, ops.BitwiseOr: np.bitwise_or, ops.BitwiseXor: np.bitwise_xor,
    ops.BitwiseNot: np.bitwise_not, ops.BitwiseLeftShift: np.left_shift, ops.BitwiseRightShift: np.right_shift,
}  # fmt: skip


@evaluates(*_FUNCTIONS)
def bitwise(node, *arrays):
    return _FUNCTIONS[type(node)](*arrays)

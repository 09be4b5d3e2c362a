"""Bitwise operations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import register_functions

register_functions({
    ops.BitwiseAnd: np.bitwise_and, ops.BitwiseOr: np.bitwise_or, ops.BitwiseXor: np.bitwise_xor,
    ops.BitwiseNot: np.bitwise_not, ops.BitwiseLeftShift: np.left_shift, ops.BitwiseRightShift: np.right_shift,
})  # fmt: skip

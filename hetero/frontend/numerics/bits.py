"""Reinterpretation of the bits of numbers."""

from __future__ import annotations

from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError

_UNSIGNED = {2: Type.u2, 4: Type.u4, 8: Type.u8, 16: Type.u16, 32: Type.u32, 64: Type.u64}


def reinterpret(value: Output, kind: Type) -> Output:
    """Return the little-endian bytes of numbers as numbers of another type.

    Wider numbers are made of those of the last axis; narrower ones are on a new last axis.
    """
    old, new = value.element_type.bitwidth, kind.bitwidth
    if value.element_type is kind:
        return value
    if old != new:
        if old not in _UNSIGNED or new not in _UNSIGNED:
            raise FrontendError(f"{value.element_type} and {kind} must have whole bytes")
        value = reinterpret(value, _UNSIGNED[old])
        parts = max(old, new) // min(old, new)
        wide, narrow = _UNSIGNED[max(old, new)], _UNSIGNED[min(old, new)]
        shifts = Constant((np.arange(parts) * min(old, new)).astype(wide.to_dtype()))
        if new > old:
            if not rank_of(value) or not value.partial_shape[-1].compatible(parts):
                raise FrontendError(f"the last dimension of {value.partial_shape} must be {parts}")
            shifted = ops.BitwiseLeftShift(ops.Convert(value, wide), shifts).output(0)
            lasts = [ops.Gather(shifted, int64(part), int64(-1)).output(0) for part in range(parts)]
            value = reduce(lambda left, right: ops.BitwiseOr(left, right).output(0), lasts)
        else:
            shifted = ops.BitwiseRightShift(ops.Unsqueeze(value, int64([-1])), shifts).output(0)
            mask = scalar_like(shifted, 2**new - 1)
            value = ops.Convert(ops.BitwiseAnd(shifted, mask), narrow).output(0)
    return value if value.element_type is kind else ops.BitCast(value, kind).output(0)

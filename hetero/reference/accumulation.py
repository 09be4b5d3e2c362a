"""Accumulation types for gemm and convolution. BLAS only has floating-point types, which are exact up to a limit."""

from __future__ import annotations

import numpy as np

from hetero.reference.registry import Array

# The largest integer up to which all integers are exact in the type.
_EXACT = ((np.float32, 2**24), (np.float64, 2**53))


def accumulation_type(a: Array, b: Array, count: int) -> np.dtype:
    """Return the type for sums of ``count`` products of elements of a and b.

    For integers, this is the smallest floating-point type in which the sums are exact, or their own type if there is
    none; numpy's integer gemm is slow and wraps around. For f16, bf16 and narrower types it is f32.
    """
    if a.dtype.kind not in "iu":
        return np.dtype(np.float32) if a.dtype.itemsize < 4 else a.dtype
    largest = _magnitude(a) * _magnitude(b) * count
    return next((np.dtype(kind) for kind, limit in _EXACT if largest <= limit), a.dtype)


def to_element_type(result: Array, dtype: np.dtype) -> Array:
    """Convert sums of products to the element type of the operation; integers wrap around."""
    if dtype.kind in "iu" and result.dtype.kind == "f":
        result = result.astype(np.int64)
    return result.astype(dtype, copy=False)


def _magnitude(array: Array) -> int:
    return max(int(array.max()), -int(array.min())) if array.size else 0

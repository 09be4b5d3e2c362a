"""The arithmetic in which products of integers are exact and fast: BLAS has only floating-point numbers."""

from __future__ import annotations

import numpy as np

# Whole numbers up to these are exact in the type.
_EXACT = ((np.float32, 2**24), (np.float64, 2**53))


def working_type(a: np.ndarray, b: np.ndarray, count: int) -> np.dtype:
    """The type to compute sums of ``count`` products of elements of a and b in.

    For integers the smallest floating-point type in which no sum is rounded, or else their own type, in which numpy
    multiplies slowly and wraps around; f16, bf16 and narrower numbers are summed in f32.
    """
    if a.dtype.kind not in "iu":
        return np.dtype(np.float32) if a.dtype.itemsize < 4 else a.dtype
    largest = _magnitude(a) * _magnitude(b) * count
    return next((np.dtype(kind) for kind, limit in _EXACT if largest <= limit), a.dtype)


def in_element_type(result: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A sum of products in the type of the operation; integers wrap around."""
    if dtype.kind in "iu" and result.dtype.kind == "f":
        result = result.astype(np.int64)
    return result.astype(dtype, copy=False)


def _magnitude(array: np.ndarray) -> int:
    return max(int(array.max()), -int(array.min())) if array.size else 0

"""Conversion of arrays between element types."""

from __future__ import annotations

import numpy as np

from hetero.core.packing import NF4_VALUES, as_numbers
from hetero.core.types import Type


def converted(x: np.ndarray, target: Type) -> np.ndarray:
    """Convert numbers to another element type."""
    x = as_numbers(x)
    if target is Type.boolean:
        return x != 0
    if target is Type.nf4:
        codes = np.abs(x.astype(np.float32)[..., None] - NF4_VALUES).argmin(axis=-1).astype(np.uint8)
        return codes.view(target.to_dtype())
    if target in (Type.u3, Type.u6):
        return (x.astype(np.uint8) & np.uint8((1 << target.bitwidth) - 1)).view(target.to_dtype())
    if target is Type.f8e8m0 and x.dtype != target.to_dtype():
        return _nearest_power_of_two(x)
    if target.is_integer() and target.bitwidth < 8 and x.dtype.kind != "V":
        x = x.astype(np.int8)  # keeps the low bits of the wider integer
    return x.astype(target.to_dtype())


def _nearest_power_of_two(x: np.ndarray) -> np.ndarray:
    """Convert to f8e8m0, whose codes 0 to 254 are 2^-127 to 2^127, and 255 is NaN.

    Rounds ties to the even code, and negative numbers and zero to code 0, as in OpenVINO.
    """
    x = x.astype(np.float64)
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 1.0))  # 0.5 <= mantissa < 1
    code = exponent + 126
    code += (mantissa > 0.75) | ((mantissa == 0.75) & (code % 2 == 1))
    code = np.where(x <= 0, 0, np.where(np.isposinf(x), 254, np.clip(code, 0, 254)))
    return np.where(np.isnan(x), 255, code).astype(np.uint8).view(Type.f8e8m0.to_dtype())

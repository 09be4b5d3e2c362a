"""Numeric literals in OpenCL C."""

from __future__ import annotations

import numpy as np

FLOATS = ("float", "double")


def literal(kind: str, value: float) -> str:
    """Return the literal of a number, of a C type in FLOATS."""
    if not np.isfinite(np.float32(value) if kind == "float" else value):
        return f"({kind}){'NAN' if np.isnan(value) else '-INFINITY' if value < 0 else 'INFINITY'}"
    return f"{float(value)!r}{'f' if kind == 'float' else ''}"

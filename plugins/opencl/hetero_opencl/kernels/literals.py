"""Numbers in the text of kernels."""

from __future__ import annotations

import numpy as np

FLOATS = ("float", "double")


def literal(kind: str, value: float) -> str:
    """A literal of a type of FLOATS; its text is a part of the program: equal attributes mean equal programs."""
    if not np.isfinite(np.float32(value) if kind == "float" else value):
        return f"({kind}){'NAN' if np.isnan(value) else '-INFINITY' if value < 0 else 'INFINITY'}"
    return f"{float(value)!r}{'f' if kind == 'float' else ''}"

"""Differences between the arrays of two devices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Difference:
    """The largest difference between two arrays of one value.

    ``relative_error`` is ``max_error`` divided by the largest magnitude of the reference, infinite if the shapes
    differ or only one of the arrays has a NaN or an infinity somewhere. ``index``, ``found`` and ``expected`` are those
    of the largest error, None if the shapes differ or the arrays are empty.
    """

    value: str
    max_error: float
    relative_error: float
    index: list[int] | None = None
    found: str | None = None
    expected: str | None = None
    problem: str | None = None


def difference(value: str, computed: np.ndarray, expected: np.ndarray) -> Difference:
    """Compare two arrays. Texts have an error of 1 if they differ."""
    if computed.shape != expected.shape:
        problem = f"has the shape {list(computed.shape)} instead of {list(expected.shape)}"
        return Difference(value, math.inf, math.inf, problem=problem)
    if not computed.size:
        return Difference(value, 0.0, 0.0)
    if expected.dtype.kind in "SUOT":
        errors, scale = (computed != expected).astype(np.float64), 1.0
    else:
        errors, scale = _errors(computed.astype(np.float64), expected.astype(np.float64))
    index = np.unravel_index(int(errors.argmax()), errors.shape)
    largest = float(errors[index])
    return Difference(
        value, largest, largest / scale, [int(i) for i in index], _text(computed[index]), _text(expected[index])
    )


def largest_difference(differences: Iterable[Difference]) -> Difference | None:
    """Return the first difference with the largest relative error, or None if there is none."""
    return max(differences, key=lambda difference: difference.relative_error, default=None)


def _errors(computed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, float]:
    """Return absolute errors, and the largest finite magnitude of the reference, or 1 if all of it is zero.

    Equal infinities and NaN in both arrays are no error; NaN in one of them is an infinite error.
    """
    with np.errstate(invalid="ignore"):
        errors = np.asarray(np.abs(computed - expected))
    errors[(computed == expected) | (np.isnan(computed) & np.isnan(expected))] = 0
    errors[np.isnan(errors)] = math.inf
    magnitudes = np.abs(expected[np.isfinite(expected)])
    return errors, float(magnitudes.max(initial=0)) or 1.0


def _text(element: object) -> str:
    return f"{element:.6g}" if isinstance(element, (float, np.floating)) else str(element)

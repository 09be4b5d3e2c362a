"""Checks of the arguments of preprocessing: a wrong type raises ArgumentTypeError."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from hetero.core.layout import Layout
from hetero.system.errors import ArgumentTypeError

Kind = TypeVar("Kind")


def expect(value: Any, kind: type[Kind], what: str) -> Kind:
    """Return the value. Raises ArgumentTypeError if it is not of the kind."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"{what} must be of {kind.__name__}, not {value!r}")
    return value


def as_layout(value: Layout | str, what: str) -> Layout:
    return Layout(value) if isinstance(value, str) else expect(value, Layout, what)


def as_integers(values: Sequence[int] | None, what: str) -> list[int]:
    if isinstance(values, (str, bytes)):
        raise ArgumentTypeError(f"{what} takes integers, not {values!r}")
    try:
        return [operator.index(value) for value in values]  # type: ignore[union-attr]  # None has no elements
    except TypeError:
        raise ArgumentTypeError(f"{what} takes a list of integers, not {values!r}") from None


def as_length(value: int, what: str) -> int:
    [length] = as_integers([value], what)
    if length < 0:
        raise ArgumentTypeError(f"{what} takes a length of 0 or more, not {length}")
    return length


def as_floats(values: float | Sequence[float] | None, what: str) -> list[float]:
    """Return the numbers of one number or a sequence, rounded to 32-bit floats."""
    try:
        numbers = np.asarray(values)
        if (numbers.dtype.kind not in "buif" and numbers.size) or numbers.ndim > 1:
            raise TypeError
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what} takes a number or a list of numbers, not {values!r}") from None
    return numbers.astype(np.float32).reshape(-1).tolist()

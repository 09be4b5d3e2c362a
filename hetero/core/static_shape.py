"""Shape and its relatives: lists of lengths, strides, coordinates and axes, under OpenVINO's names.

Shape and Strides are tuples, because shapes are keys of many caches; they also equal lists. The others are lists.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Self, SupportsIndex, overload

from hetero.core.lengths.length import Length
from hetero.system.errors import ArgumentTypeError, GraphError


class _Lengths(tuple[int, ...]):
    """A tuple of lengths that also equals a list of the same lengths. Slices have the same class."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return tuple.__ne__(self, tuple(other) if isinstance(other, list) else other)

    __hash__ = tuple.__hash__

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return tuple.__new__(type(self), item) if type(item) is tuple else item


class Shape(_Lengths):
    """The lengths of all axes: ``Shape([1, 3])``, ``Shape("[1,3]")``. Immutable."""

    __slots__ = ()

    def __new__(cls, axis_lengths: Iterable[SupportsIndex] | str = (), *, shape: str | None = None) -> Self:
        lengths = axis_lengths if shape is None else shape
        if isinstance(lengths, str):
            return tuple.__new__(cls, _parse(lengths))
        return tuple.__new__(cls, _indices(lengths, cls.__name__, minimum=0))

    def to_string(self) -> str:
        return f"[{','.join(map(str, self))}]"

    __str__ = to_string

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"<Shape: {self}>"


class Strides(_Lengths):
    """The distances from one element to the next along each axis. Immutable."""

    __slots__ = ()

    def __new__(cls, axis_strides: Iterable[SupportsIndex]) -> Self:
        return tuple.__new__(cls, _indices(axis_strides, cls.__name__))

    def __str__(self) -> str:
        return ", ".join(map(str, self))

    def __repr__(self) -> str:
        return f"<Strides: ({self})>"


class Coordinate(list[int]):
    """A position: one index for each axis."""

    def __init__(self, values: Iterable[SupportsIndex]) -> None:
        super().__init__(_indices(values, "Coordinate", minimum=0))

    def __repr__(self) -> str:
        return "<Coordinate>"


class CoordinateDiff(list[int]):
    """The difference of two positions, which may be negative."""

    def __init__(self, values: Iterable[SupportsIndex]) -> None:
        super().__init__(_indices(values, "CoordinateDiff"))

    def __str__(self) -> str:
        return ", ".join(map(str, self))

    def __repr__(self) -> str:
        return f"<CoordinateDiff: ({self})>"


class AxisVector(list[int]):
    """Axes in order."""

    def __init__(self, axes: Iterable[SupportsIndex]) -> None:
        super().__init__(_indices(axes, "AxisVector", minimum=0))

    def __repr__(self) -> str:
        return f"<AxisVector {{{', '.join(map(str, self))}}}>"


class AxisSet(list[int]):
    """Axes, each once, in ascending order."""

    def __init__(self, axes: Iterable[SupportsIndex]) -> None:
        super().__init__(sorted(set(_indices(axes, "AxisSet", minimum=0))))

    def __repr__(self) -> str:
        return f"<AxisSet {{{', '.join(map(str, self))}}}>"


def _indices(values: Iterable[SupportsIndex], name: str, minimum: int | None = None) -> list[int]:
    """Convert to whole numbers. Raise ArgumentTypeError if one is not a whole number or is less than the minimum."""
    try:
        indices: Any = [value if isinstance(value, Length) else operator.index(value) for value in values]
    except TypeError:
        indices = None
    if indices is None or (minimum is not None and any(index < minimum for index in indices)):
        kind = "whole numbers" if minimum is None else "whole numbers that are not negative"
        raise ArgumentTypeError(f"{name} takes {kind}, not {values!r}")
    return indices


def _parse(text: str) -> list[int]:
    body = text.strip().removeprefix("[").removesuffix("]").strip()
    parts = [part.strip() for part in body.split(",")] if body else []
    if not all(part.isdigit() for part in parts):
        raise GraphError(f"'{text}' is not a shape: write lengths, such as [1,3,224,224]")
    return [int(part) for part in parts]

"""Dimension: the length of an axis, which may be static, bounded or unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Union

from hetero.core.lengths.expression import Symbol
from hetero.core.lengths.length import Length, hint_of
from hetero.system.errors import ArgumentTypeError, GraphError

__all__ = ["MAX_LENGTH", "Dimension", "DimensionLike", "Symbol"]

DimensionLike = Union["Dimension", int, str, tuple[Any, ...], list[Any]]

_TEXT = str  # a parameter of Dimension has the name of the type

# The largest signed 64-bit integer.
MAX_LENGTH = 2**63 - 1


class Dimension:
    """The length of one axis: an interval ``min..max`` of integers, where ``max`` may be unbounded.

    ``Dimension()`` and ``Dimension(-1)`` are unknown, ``Dimension(3)`` is static, ``Dimension(1, 8)`` and
    ``Dimension("1..8")`` are bounded, ``Dimension("batch=?")`` and ``Dimension("batch=1..8")`` have a name. Immutable
    but for the symbol; the operators are interval arithmetic.

    Each unknown dimension of a Parameter has its own ``symbol``. An operation that passes a dimension of an input on to
    its output keeps the symbol, which states that both lengths are equal, so shape inference can cancel unknown
    lengths. Comparisons ignore symbols.

    A static dimension of a model that is lowered may have a Length instead of a number.
    """

    __slots__ = ("_max", "_min", "symbol")

    def __init__(
        self,
        min_dimension: int | str = -1,
        max_dimension: int | None = None,
        *,
        dimension: int | None = None,
        str: str | None = None,
    ) -> None:
        given = str if dimension is None else dimension
        minimum, maximum = min_dimension if given is None else given, max_dimension
        low: Any
        high: Any
        name = ""
        if isinstance(minimum, _TEXT):
            name, minimum = _split_name(minimum)
            low, high = _parse_dimension(minimum)
        elif isinstance(minimum, Length) and (maximum is None or minimum == maximum):
            low = high = minimum
        else:
            try:
                low, high = operator.index(minimum), None if maximum is None else operator.index(maximum)
            except TypeError:
                raise ArgumentTypeError(f"a dimension takes whole numbers or a string, not {minimum!r}") from None
            if high is None:
                low, high = (0, None) if low == -1 else (low, low)
            else:
                low, high = max(0, low), None if high == -1 else high
        if low < 0 or (high is not None and high < low):
            raise GraphError(f"a dimension cannot be {low}..{high}; use -1, a length or a range of lengths")
        self._min, self._max = low, high
        self.symbol: Symbol | None = Symbol(name) if name and low != high else None

    @classmethod
    def of(cls, value: DimensionLike) -> Dimension:
        """Convert an int, a string, a (min, max) pair or a Dimension to a Dimension; a name alone is any length."""
        if isinstance(value, Dimension):
            return value
        if not isinstance(value, (tuple, list)):
            return cls(f"{value}=?" if isinstance(value, str) and _is_name(value) else value)
        if len(value) != 2:
            raise ArgumentTypeError(f"a range of lengths is (lower, upper), but {value} has {len(value)} elements")
        return cls(*value)

    @classmethod
    def interval(cls, minimum: int, maximum: int | None) -> Dimension:
        """Return the dimension ``minimum..maximum``, unbounded if maximum is None."""
        dimension = object.__new__(cls)
        if isinstance(minimum, Length) and minimum == maximum:
            dimension._min = dimension._max = minimum if minimum >= 0 else 0
        else:
            dimension._min = max(0, int(minimum))
            dimension._max = None if maximum is None else max(0, int(maximum))
        dimension.symbol = None
        return dimension

    @staticmethod
    def dynamic() -> Dimension:
        return Dimension()

    def with_symbol(self, symbol: Symbol | None) -> Dimension:
        """Return the same interval with another symbol, or without one; a static dimension never has a symbol."""
        if self.is_static or symbol is self.symbol:
            return self
        copy = Dimension.interval(self._min, self._max)
        copy.symbol = symbol
        return copy

    def get_symbol(self) -> Symbol | None:
        return self.symbol

    def has_symbol(self) -> bool:
        return self.symbol is not None

    def set_symbol(self, symbol: Symbol) -> None:
        self.symbol = symbol

    @property
    def min_length(self) -> int:
        return self._min

    @property
    def max_length(self) -> int:
        """The upper bound, -1 if there is none."""
        return -1 if self._max is None else self._max

    def get_min_length(self) -> int:
        return self.min_length

    def get_max_length(self) -> int:
        return self.max_length

    @property
    def is_static(self) -> bool:
        return self._min is self._max or self._min == self._max

    @property
    def is_dynamic(self) -> bool:
        return self._min is not self._max and self._min != self._max

    def get_length(self) -> int:
        """Return the length. Raises GraphError if it is not known."""
        if self.is_dynamic:
            raise GraphError(f"the length of the dimension {self} is not known")
        return self._min

    def compatible(self, dim: DimensionLike) -> bool:
        """Return whether some length fits both."""
        other = Dimension.of(dim)
        low, high = max(self._min, other._min), _smaller(self._max, other._max)
        return high is None or low <= high

    def merge(self, other: DimensionLike) -> Dimension:
        """Return the intersection of both, for lengths that must be equal. Raises GraphError if it is empty."""
        other = Dimension.of(other)
        if self.is_same_length(other):
            return self
        if not self.compatible(other):
            raise GraphError(f"dimensions {self} and {other} do not fit")
        merged = Dimension.interval(max(self._min, other._min), _smaller(self._max, other._max))
        return merged.with_symbol(self.symbol or other.symbol)

    def is_same_length(self, other: Dimension) -> bool:
        """Return whether both are one known length, for all shapes."""
        if self._min is not self._max or other._min is not other._max:
            return self.is_static and other.is_static and self._min == other._min
        if isinstance(self._min, Length) and isinstance(other._min, Length):
            return self._min.expression == other._min.expression
        return not isinstance(self._min, Length) and not isinstance(other._min, Length) and self._min == other._min

    def hull(self, other: DimensionLike) -> Dimension:
        """Return the smallest interval that contains both."""
        other = Dimension.of(other)
        return Dimension.interval(min(self._min, other._min), _apply(max, self._max, other._max))

    def broadcast(self, other: DimensionLike) -> Dimension:
        """Return the length after numpy broadcasting. Raises GraphError if the two do not broadcast."""
        other = Dimension.of(other)
        if self.is_same_length(other):
            return self
        if self == 1:
            return other
        if other == 1:
            return self
        # If one side cannot be 1, it is the result: the other is 1 or equal to it.
        if self._min > 1 or other._min > 1:
            large, small = (self, other) if self._min > 1 else (other, self)
            return large if small.compatible(1) else large.merge(small)
        if self == other and (self.is_static or (self.symbol and self.symbol is other.symbol)):
            return self
        return Dimension.interval(min(self._min, other._min), _apply(max, self._max, other._max))

    def refines(self, dim: DimensionLike) -> bool:
        """Return whether every length that fits this one fits the other."""
        other = Dimension.of(dim)
        return other._min <= self._min and (other._max is None or (self._max is not None and self._max <= other._max))

    def relaxes(self, dim: DimensionLike) -> bool:
        """Return whether every length that fits the other fits this one."""
        return Dimension.of(dim).refines(self)

    def same_scheme(self, dim: DimensionLike) -> bool:
        """Return whether both are the same static length, or both are dynamic."""
        other = Dimension.of(dim)
        return self == other if self.is_static else other.is_dynamic

    def __add__(self, other: DimensionLike) -> Dimension:
        other = Dimension.of(other) if not isinstance(other, int) or other >= 0 else other
        if isinstance(other, int):
            return self - -other
        return Dimension.interval(self._min + other._min, _apply(operator.add, self._max, other._max))

    __radd__ = __add__

    def __sub__(self, other: DimensionLike) -> Dimension:
        """Return the difference, clamped to be at least 0."""
        if isinstance(other, int) and other < 0:
            return self + -other
        other = Dimension.of(other)
        low = 0 if other._max is None else self._min - other._max
        return Dimension.interval(low, None if self._max is None else self._max - other._min)

    def __rsub__(self, other: DimensionLike) -> Dimension:
        return Dimension.of(other) - self

    def __mul__(self, other: DimensionLike) -> Dimension:
        other = Dimension.of(other)
        if self == 0 or other == 0:
            return Dimension(0)
        return Dimension.interval(self._min * other._min, _apply(operator.mul, self._max, other._max))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Dimension:
        """Divide by a known positive number, rounding down."""
        return Dimension.interval(self._min // divisor, None if self._max is None else self._max // divisor)

    def __eq__(self, other: object) -> bool:
        """Return True for the same interval; an int compares as the dimension made from it."""
        if isinstance(other, int):
            if other == -1:
                return self._max is None and self._min == 0
            return self._min == other == self._max
        return isinstance(other, Dimension) and (self._min, self._max) == (other._min, other._max)

    def __hash__(self) -> int:
        return hash(self._min) if self.is_static else hash((self._min, self._max))

    def __len__(self) -> int:
        """Return the length, as in OpenVINO. Raises GraphError if it is not known."""
        return self.get_length()

    def __bool__(self) -> bool:
        return True  # a dimension is never empty, although it has a __len__

    @property
    def name(self) -> str:
        """The name of an unknown length, such as "batch", "" if it has none."""
        return self.symbol.name if self.symbol else ""

    @property
    def is_number(self) -> bool:
        """Whether the length is known, and the same for all shapes: static, but no Length."""
        return self.is_static and not isinstance(self._min, Length)

    def to_string(self) -> str:
        if self._min is not None and self.is_static:
            return str(hint_of(self._min))  # texts are for people, who should not change a program by looking at it
        if self._min == 0 and self._max is None:
            return "?"
        return f"{self._min or ''}..{'' if self._max is None else self._max}"

    __str__ = to_string

    def __repr__(self) -> str:
        return f"<Dimension: {self}>"


def _smaller(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _apply(operation: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else operation(a, b)


def _split_name(text: str) -> tuple[str, str]:
    """Return the name of a dimension, "" if it has none, and the text of its lengths: "batch=1..8" has both."""
    name, separator, lengths = (part.strip() for part in text.partition("="))
    return (name, lengths) if separator and lengths and _is_name(name) else ("", text)


def _is_name(text: str) -> bool:
    """Return whether a text may be the name of a length. A Dimension of one alone is an error, as in OpenVINO."""
    return re.fullmatch(r"[^\W\d][\w.:/-]*", text.strip()) is not None


def _parse_dimension(text: str) -> tuple[int, int | None]:
    text = text.strip()
    if not text:
        return 0, 0  # as in OpenVINO
    if text in ("?", "-1", ".."):
        return 0, None
    match = re.fullmatch(r"(\d*)\.\.(\d*)", text)
    if match:
        return _parse_length(match[1] or "0"), _parse_length(match[2]) if match[2] else None
    if text.isdigit():
        return _parse_length(text), _parse_length(text)
    raise GraphError(f"'{text}' is not a dimension: write a length, ?, or a range such as 1..8")


def _parse_length(text: str) -> int:
    length = int(text)
    if length > MAX_LENGTH:
        raise GraphError(f"a dimension cannot be {length}; the largest is {MAX_LENGTH}")
    return length

"""Expressions of unknown lengths: sums of products of symbols, quotients, remainders, minima and maxima.

An expression is a polynomial in canonical form, so that two that are equal for all lengths are mostly the same object
in all but identity: ``s + s - 2 * s`` is 0, and ``(8 * s) // 8`` is ``s``. Divisions that leave a remainder, minima and
maxima are functions of expressions, which stand in the polynomials like symbols.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping

_numbers = itertools.count()
# Results of operations that are kept: a model computes the same ones over and over.
_CACHED = 1 << 12


class Symbol:
    """The identity of an unknown length: dimensions with the same symbol are equal in every inference.

    ``name``: the one that the model file gives it, "" if it has none. Symbols of one name need not be equal.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        #: The order of terms, and of arguments of functions.
        self.key: tuple[object, ...] = (0, next(_numbers))

    def symbols(self) -> Iterator[Symbol]:
        yield self


class Application:
    """A function of two expressions, by its name in ``FUNCTIONS``."""

    __slots__ = ("arguments", "function", "key")

    def __init__(self, function: str, *arguments: Expression) -> None:
        self.function, self.arguments = function, arguments
        self.key: tuple[object, ...] = (1, function, *(argument.key for argument in arguments))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Application) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def symbols(self) -> Iterator[Symbol]:
        for argument in self.arguments:
            yield from argument.symbols()


Atom = Symbol | Application
# Factors in order, and their coefficient.
Term = tuple[tuple[Atom, ...], int]
Bounds = tuple[float, float]

FUNCTIONS: Mapping[str, Callable[[int, int], int]] = {
    "floordiv": int.__floordiv__,
    "mod": int.__mod__,
    "min": min,
    "max": max,
}


class Expression:
    """An immutable polynomial of symbols and functions of them, with whole numbers as coefficients."""

    __slots__ = ("_hash", "key", "terms")

    def __init__(self, terms: Mapping[tuple[Atom, ...], int]) -> None:
        kept = [(factors, count) for factors, count in terms.items() if count]
        kept.sort(key=lambda term: [atom.key for atom in term[0]])
        self.terms: tuple[Term, ...] = tuple(kept)
        #: Equal for equal expressions.
        self.key = tuple((tuple(atom.key for atom in factors), count) for factors, count in kept)
        self._hash = hash(self.key)

    @staticmethod
    @functools.lru_cache(_CACHED)
    def of(value: int | Symbol) -> Expression:
        return Expression({(value,): 1} if isinstance(value, Symbol) else {(): value})

    @property
    def number(self) -> int | None:
        """The value if it depends on no symbol, else None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def symbols(self) -> Iterator[Symbol]:
        """Yield the symbols, possibly several times."""
        for factors, _ in self.terms:
            for atom in factors:
                yield from atom.symbols()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expression) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    @functools.lru_cache(_CACHED)  # noqa: B019  # expressions are few, and small
    def __add__(self, other: Expression) -> Expression:
        return _sum((*self.terms, *other.terms))

    @functools.lru_cache(_CACHED)  # noqa: B019
    def __sub__(self, other: Expression) -> Expression:
        return _sum((*self.terms, *((factors, -count) for factors, count in other.terms)))

    @functools.lru_cache(_CACHED)  # noqa: B019
    def __mul__(self, other: Expression) -> Expression:
        return _sum(
            (tuple(sorted((*a, *b), key=lambda atom: atom.key)), m * n)
            for (a, m), (b, n) in itertools.product(self.terms, other.terms)
        )

    @functools.lru_cache(_CACHED)  # noqa: B019
    def __floordiv__(self, other: Expression) -> Expression:
        """Return the quotient, rounded down. The divisor is not 0."""
        quotient, rest = _divided(self, other)
        return quotient + _applied("floordiv", *_flattened(rest, other))

    @functools.lru_cache(_CACHED)  # noqa: B019
    def __mod__(self, other: Expression) -> Expression:
        return _applied("mod", _divided(self, other)[1], other)

    def minimum(self, other: Expression) -> Expression:
        return _applied("min", *sorted((self, other), key=_order))

    def maximum(self, other: Expression) -> Expression:
        return _applied("max", *sorted((self, other), key=_order))

    def evaluate(self, values: Mapping[Symbol, int]) -> int:
        """Return the value for these lengths of all its symbols."""
        return sum(count * math.prod(_evaluated(atom, values) for atom in factors) for factors, count in self.terms)

    def bounds(self, ranges: Mapping[Symbol, Bounds]) -> Bounds:
        """Return an interval that holds the value if symbols are in these ranges; others are 0 or more."""
        low = high = 0.0
        for factors, count in self.terms:
            below, above = float(count), float(count)
            for atom in factors:
                ends = [_product(a, b) for a in (below, above) for b in _bounds(atom, ranges)]
                below, above = min(ends), max(ends)
            low, high = low + below, high + above
        return low, high

    def text(self, names: Mapping[Symbol, str]) -> str:
        """Return the expression in Python, with these names of its symbols."""
        parts = [
            "*".join([*([str(count)] if count != 1 or not factors else []), *(_text(atom, names) for atom in factors)])
            for factors, count in self.terms
        ]
        return " + ".join(parts) or "0"

    def __str__(self) -> str:
        symbols = dict.fromkeys(self.symbols())
        return self.text({symbol: symbol.name or f"s{index}" for index, symbol in enumerate(symbols)})


def _sum(terms: Iterable[Term]) -> Expression:
    counts: dict[tuple[Atom, ...], int] = {}
    for factors, count in terms:
        counts[factors] = counts.get(factors, 0) + count
    return Expression(counts)


def _divided(value: Expression, divisor: Expression) -> tuple[Expression, Expression]:
    """Return a quotient, and the rest that is left to divide. Terms that the divisor's one term divides are none."""
    if value == divisor and value.number != 0:
        return Expression.of(1), Expression.of(0)
    if len(divisor.terms) != 1:
        return Expression.of(0), value
    (below, by), quotient, rest = divisor.terms[0], [], []
    for factors, count in value.terms:
        left = list(factors)
        for atom in below:
            if atom not in left:
                break
            left.remove(atom)
        else:
            if count % by == 0:
                quotient.append((tuple(left), count // by))
                continue
            if not below:  # whole multiples of a number; what is left has the sign of the term
                sign = 1 if count * by >= 0 else -1
                whole = sign * (abs(count) // abs(by))
                quotient.append((factors, whole))
                rest.append((factors, count - whole * by))
                continue
        rest.append((factors, count))
    return _sum(quotient), _sum(rest)


def _flattened(value: Expression, divisor: Expression) -> tuple[Expression, Expression]:
    """Return a dividend and a divisor of the same quotient: ``(x // n + c) // m`` is ``(x + c * n) // (n * m)``."""
    *numbers, (factors, count) = value.terms or (((), 0),)
    inner = factors[0] if len(factors) == 1 and count == 1 else None
    if not isinstance(inner, Application) or inner.function != "floordiv" or any(atoms for atoms, _ in numbers):
        return value, divisor
    dividend, by = inner.arguments
    if (by.number or 0) <= 0 or (divisor.number or 0) <= 0:
        return value, divisor
    return dividend + (value - Expression({factors: 1})) * by, by * divisor


@functools.lru_cache(_CACHED)
def _applied(function: str, a: Expression, b: Expression) -> Expression:
    if a.number is not None and b.number is not None:
        return Expression.of(FUNCTIONS[function](a.number, b.number))
    if a.number == 0 and function in ("floordiv", "mod"):
        return a
    if a == b and function in ("min", "max"):
        return a
    return Expression({(Application(function, a, b),): 1})


def _order(expression: Expression) -> str:
    return repr(expression.key)


def _evaluated(atom: Atom, values: Mapping[Symbol, int]) -> int:
    if isinstance(atom, Symbol):
        return values[atom]
    a, b = (argument.evaluate(values) for argument in atom.arguments)
    return FUNCTIONS[atom.function](a, b)


def _product(a: float, b: float) -> float:
    return 0.0 if 0 in (a, b) else a * b  # 0 times infinity is no number


def _bounds(atom: Atom, ranges: Mapping[Symbol, Bounds]) -> Bounds:
    if isinstance(atom, Symbol):
        return ranges.get(atom, (0, math.inf))
    (low, high), (least, most) = (argument.bounds(ranges) for argument in atom.arguments)
    if atom.function == "min":
        return min(low, least), min(high, most)
    if atom.function == "max":
        return max(low, least), max(high, most)
    if atom.function == "mod" and least > 0:
        return 0, most - 1
    if atom.function == "floordiv" and least > 0:
        return (low // (least if low < 0 else most) if low > -math.inf else low), (
            high // (least if high > 0 else most) if high < math.inf else high
        )
    return -math.inf, math.inf


_FORMS = {"floordiv": "({}) // ({})", "mod": "({}) % ({})", "min": "min({}, {})", "max": "max({}, {})"}


def _text(atom: Atom, names: Mapping[Symbol, str]) -> str:
    if isinstance(atom, Symbol):
        return names[atom]
    return f"({_FORMS[atom.function].format(*(argument.text(names) for argument in atom.arguments))})"

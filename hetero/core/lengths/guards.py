"""Guards: the conditions under which a program that is made for some lengths serves others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hetero.core.lengths.expression import Bounds, Expression, Symbol


class Condition(NamedTuple):
    """What holds in all shapes of a program: ``relation`` of ``expression`` has the answer ``holds``.

    The relations: "== 0", ">= 0", and "bucket", which gives the bucket of a symbol instead of an answer.
    """

    expression: Expression
    relation: str
    holds: int

    def text(self, names: Mapping[Symbol, str]) -> str:
        """Return the condition with these names of the symbols."""
        expression = self.expression.text(names)
        if self.relation == "bucket":
            low, high = lengths_in(self.holds)
            return f"{expression} is {low} to {high}"
        relations = {("== 0", 1): "== 0", ("== 0", 0): "!= 0", (">= 0", 1): ">= 0", (">= 0", 0): "< 0"}
        return f"{expression} {relations[self.relation, self.holds]}"

    def follows_from(self, ranges: Mapping[Symbol, Bounds]) -> bool:
        """Return whether it holds, or does not hold, for all lengths in these ranges."""
        low, high = self.expression.bounds(ranges)
        return low == high or high < 0 or (low > 0 if self.relation == "== 0" else low >= 0)


class Guards:
    """The conditions that are noted while a program is made for some lengths of the symbols, ``hints``.

    ``ranges``: those of the symbols, as far as they are known. Conditions that hold in all of them are not noted.
    """

    def __init__(self, hints: Mapping[Symbol, int], ranges: Mapping[Symbol, Bounds]) -> None:
        self.hints, self._ranges = hints, ranges
        #: The conditions, with what caused each.
        self.conditions: dict[Condition, str] = {}
        #: What is done at present, as the cause of conditions.
        self.cause = ""
        #: Whether the answers are for a choice, or an estimate.
        self.is_choosing = self.is_estimating = False
        self._notes_buckets = True
        self._in_buckets: set[Symbol] = set()
        self._answers: dict[tuple[Expression, str], bool] = {}

    @property
    def names(self) -> dict[Symbol, str]:
        """The names of the symbols for people: s0, s1 and so on for those that have none."""
        return {symbol: symbol.name or f"s{index}" for index, symbol in enumerate(self.hints)}

    @contextlib.contextmanager
    def choosing(self, is_estimate: bool = False, notes_buckets: bool = True) -> Iterator[None]:
        """Context manager in which any answer is right for any shape, but not equally fast.

        Instead of conditions it notes the buckets of the symbols, unless nothing of consequence is chosen. In an
        estimate arithmetic gives numbers, which is faster.
        """
        before = self.is_choosing, self.is_estimating, self._notes_buckets
        self.is_choosing, self.is_estimating = True, self.is_estimating or is_estimate
        self._notes_buckets = self._notes_buckets and notes_buckets
        try:
            yield
        finally:
            self.is_choosing, self.is_estimating, self._notes_buckets = before

    def number(self, expression: Expression, hint: int) -> int:
        """Return the number of the shape at hand, and note that other shapes must have it too."""
        if self.is_choosing:
            self._note_buckets(expression)
        else:
            self.answer(expression - Expression.of(hint), "== 0", 0)
        return hint

    def answer(self, expression: Expression, relation: str, hint: int) -> bool:
        """Return whether the relation to 0 holds, and note that as a condition if it may not hold in all shapes."""
        holds = hint == 0 if relation == "== 0" else hint >= 0
        if self.is_choosing:
            self._note_buckets(expression)
        elif (expression, relation) not in self._answers:
            self._answers[expression, relation] = holds
            condition = Condition(expression, relation, holds)
            if not condition.follows_from(self._ranges):
                self.conditions[condition] = self.cause
        return holds

    def _note_buckets(self, expression: Expression) -> None:
        for symbol in expression.symbols() if self._notes_buckets else ():
            if symbol not in self._in_buckets:
                self._in_buckets.add(symbol)
                condition = Condition(Expression.of(symbol), "bucket", bucket(self.hints[symbol]))
                self.conditions[condition] = self.cause


def bucket(length: int) -> int:
    """Return the number of a class of lengths: 0, 1 to 15, 16 to 255, and so on."""
    return (length.bit_length() + 3) // 4


def lengths_in(number: int) -> tuple[int, int]:
    """Return the least and the largest length of a bucket."""
    return (16 ** (number - 1), 16**number - 1) if number else (0, 0)


def typical_length(length: int) -> int:
    """Return a length in the middle of the bucket of one, that has few divisors, as most lengths have.

    It is 1 for 1, which is broadcast, as no other length is.
    """
    return length if length < 2 else 8 * 16 ** (bucket(length) - 1) + 3


def short_length(length: int) -> int:
    """Return ``typical_length`` of the beginning of a bucket, for models that take no longer ones."""
    return length if length < 2 else 16 ** (bucket(length) - 1) + 3

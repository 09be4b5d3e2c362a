"""ShapeClass: the shapes of a model's inputs that a program serves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero.compiler.length_function import generated, names_of
from hetero.core.lengths.expression import Bounds, Expression, Symbol
from hetero.core.lengths.guards import Guards, bucket, lengths_in
from hetero.core.lengths.length import AnyLength, Length

# Conditions that a description names, and the length of i32 from which on it names no limit.
_MAX_CONDITIONS, _LONGEST = 2, 2**31 - 1


class ShapeClass:
    """The shapes that have the lengths of the program's symbols in the right places, and fulfil its guards."""

    def __init__(self, guards: Guards, shapes: Sequence[tuple[AnyLength, ...]]) -> None:
        """``shapes``: those of the inputs, with Lengths."""
        self.guards = guards
        #: The lengths of the symbols when the program was made.
        self.hints = tuple(guards.hints.values())
        order: dict[Symbol, int] = {symbol: index for index, symbol in enumerate(guards.hints)}
        # The symbols of dimensions, and the lengths of others.
        self._places: list[tuple[int, int, int]] = []
        self._fixed: list[tuple[int, int, int]] = []
        for index, shape in enumerate(shapes):
            for axis, length in enumerate(shape):
                if isinstance(length, Length):
                    self._places.append((index, axis, order[next(length.expression.symbols())]))
                else:
                    self._fixed.append((index, axis, length))
        names = names_of(tuple(guards.hints))
        texts = [_TEXTS[c.relation, bool(c.holds)].format(c.expression.text(names), c.holds) for c in guards.conditions]
        self._holds = generated(names.values(), " and ".join(texts) or "True", bucket=bucket)

    def __str__(self) -> str:
        """Return the lengths of the class, and the other conditions with what caused them: ``rows 16 to 255``."""
        names, ranges = self.guards.names, self._ranges()
        texts = []
        for symbol, (low, high) in ranges.items():
            upper = "" if low == high else f" to {high:.0f}" if high < _LONGEST else " and more"
            texts.append(f"{names[symbol]} {low:.0f}{upper}")
        others = [
            f"{condition.text(names)} ({cause or 'shape inference'})"
            for condition, cause in self.guards.conditions.items()
            if condition.relation != "bucket" and not condition.follows_from(ranges)
        ]
        if len(others) > _MAX_CONDITIONS:
            others[_MAX_CONDITIONS:] = [f"{len(others) - _MAX_CONDITIONS} more"]
        return ", ".join(texts) + (f", if {', '.join(others)}" if others else "")

    def _ranges(self) -> dict[Symbol, Bounds]:
        """Return the range of each symbol, from its bucket and from the conditions of it alone."""
        ranges: dict[Symbol, Bounds] = {symbol: (0, math.inf) for symbol in self.guards.hints}
        inequations_last = sorted(self.guards.conditions, key=lambda each: each.relation == "== 0" and not each.holds)
        for expression, relation, holds in inequations_last:
            symbol = next(expression.symbols())
            offset = (expression - Expression.of(symbol)).number
            if offset is None:
                continue
            low, high = ranges[symbol]
            least: float = -offset
            most: float = -offset
            if relation == "bucket":
                least, most = lengths_in(holds)
            elif relation == ">= 0":
                least, most = (-offset, high) if holds else (low, -offset - 1)
            elif not holds:
                least, most = low + (low == -offset), high - (high == -offset)
            ranges[symbol] = max(low, least), min(high, most)
        return ranges

    def lengths_of(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Return the lengths of the symbols in these shapes, None if the program does not serve them."""
        for index, axis, length in self._fixed:
            if shapes[index][axis] != length:
                return None
        lengths: list[int] = [-1] * len(self.hints)
        for index, axis, symbol in self._places:
            length = shapes[index][axis]
            if lengths[symbol] not in (-1, length):
                return None
            lengths[symbol] = length
        return tuple(lengths) if self._holds(lengths) else None


_TEXTS = {
    ("== 0", True): "{} == 0",
    ("== 0", False): "{} != 0",
    (">= 0", True): "{} >= 0",
    (">= 0", False): "{} < 0",
    ("bucket", True): "bucket({}) == {}",
    ("bucket", False): "bucket({}) == {}",
}

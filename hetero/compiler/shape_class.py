"""ShapeClass: the shapes of a model's inputs that a program serves."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.compiler.length_function import generated, names_of
from hetero.core.lengths.expression import Symbol
from hetero.core.lengths.guards import Guards, bucket
from hetero.core.lengths.length import AnyLength, Length


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

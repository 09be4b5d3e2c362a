"""Evaluation of Lengths for other shapes, by a function that is generated once for a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hetero.core.lengths.expression import Expression, Symbol


def length_function(
    symbols: Sequence[Symbol], expressions: Sequence[Expression]
) -> Callable[[Sequence[int]], Sequence[int]]:
    """Return a function of the numbers of the symbols, in order, that returns the values of all expressions."""
    names = {symbol: f"s{index}" for index, symbol in enumerate(symbols)}
    values = "".join(f"{expression.text(names)}, " for expression in expressions)
    scope: dict[str, Any] = {}
    # The text is made of numbers, the operators of expressions and the names above.
    exec(f"def evaluate(s):\n    ({''.join(f'{name}, ' for name in names.values())}) = s\n    return ({values})", scope)
    evaluate: Callable[[Sequence[int]], Sequence[int]] = scope["evaluate"]
    return evaluate

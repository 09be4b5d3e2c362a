"""Functions of the lengths of symbols, generated once for a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hetero.core.lengths.expression import Expression, Symbol


def length_function(symbols: Sequence[Symbol], expressions: Sequence[Expression]) -> Callable[[Sequence[int]], Any]:
    """Return a function of the lengths of the symbols, in order, that returns the values of all expressions."""
    names = names_of(symbols)
    return generated(names.values(), f"({''.join(f'{expression.text(names)}, ' for expression in expressions)})")


def names_of(symbols: Sequence[Symbol]) -> dict[Symbol, str]:
    """Return the names that symbols have in generated functions."""
    return {symbol: f"s{index}" for index, symbol in enumerate(symbols)}


def generated(names: Iterable[str], text: str, **scope: Any) -> Callable[[Sequence[int]], Any]:
    """Return a function of numbers with these names that returns what a text in Python says.

    The text is made of numbers, the operators of expressions and functions of the scope: nothing from a file.
    """
    exec(f"def function(numbers):\n    ({''.join(f'{name}, ' for name in names)}) = numbers\n    return {text}", scope)
    function: Callable[[Sequence[int]], Any] = scope["function"]
    return function

"""Length: a whole number that a program is made for, with the expression that gives it for other shapes.

A model is lowered for one shape, with Lengths in place of the numbers that change from shape to shape. Arithmetic of
Lengths gives Lengths. Whatever needs a plain number or an answer, a comparison, an index or a text, gets that of the
shape at hand, and the Guards note what has to hold for other shapes. So code that knows nothing of Lengths is right:
its program serves the shapes for which each answer would have been the same. torch.compile treats sizes of tensors in
this way, as SymInts: https://pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from hetero.core.lengths.expression import Expression, Symbol
from hetero.core.lengths.guards import Guards, bucket, lengths_in

# A length that is the same for all shapes, or one that is not.
AnyLength = Union[int, "Length"]
# A method of two operands.
_Operator = Callable[["Length", Any], Any]


def _arithmetic(function: Callable[[Any, Any], Any]) -> tuple[_Operator, _Operator]:
    """Return the methods of an operator for a Length on the left, and on the right of another number."""
    divides = function in (operator.floordiv, operator.mod)

    def of_left(left: Length, right: Any) -> Any:
        if not isinstance(right, (int, Length)) or left.guards.is_estimating:
            return function(left.__index__(), right) if isinstance(right, _NUMBERS) else NotImplemented
        if divides and right == 0:
            raise ZeroDivisionError("division by a length of 0")
        hint, expression = _parts(right)
        return left.made(function(left.hint, hint), function(left.expression, expression))

    def of_right(right: Length, left: Any) -> Any:
        if not isinstance(left, int) or right.guards.is_estimating:
            return function(left, right.__index__()) if isinstance(left, _NUMBERS) else NotImplemented
        if divides and right == 0:
            raise ZeroDivisionError("division by a length of 0")
        return right.made(function(left, right.hint), function(Expression.of(left), right.expression))

    return of_left, of_right


class Length:
    """A number that depends on the shapes of a model's inputs: ``hint`` for the shape at hand.

    It is not an int, so that C code that takes one asks ``__index__``, and a condition is noted.
    """

    __slots__ = ("expression", "guards", "hint")

    def __init__(self, hint: int, expression: Expression, guards: Guards) -> None:
        self.hint, self.expression, self.guards = hint, expression, guards

    @classmethod
    def of(cls, symbol: Symbol, guards: Guards) -> Length:
        """Return the length that a symbol stands for."""
        return cls(guards.hints[symbol], Expression.of(symbol), guards)

    def made(self, hint: int, expression: Expression) -> AnyLength:
        """Return what is computed from this one: a number if it depends on no symbol."""
        return Length(hint, expression, self.guards) if expression.number is None else expression.number

    __add__, __radd__ = _arithmetic(operator.add)
    __sub__, __rsub__ = _arithmetic(operator.sub)
    __mul__, __rmul__ = _arithmetic(operator.mul)
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv)
    __mod__, __rmod__ = _arithmetic(operator.mod)

    def __divmod__(self, other: AnyLength) -> tuple[AnyLength, AnyLength]:
        return self // other, self % other

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Length:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, Length)):
            return NotImplemented
        hint, expression = _parts(other)
        return other is self or self._answer(expression, hint, "== 0")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: Any) -> bool:
        if not isinstance(other, (int, Length)):
            return self.__index__() >= other
        hint, expression = _parts(other)
        return self._answer(expression, hint, ">= 0")

    def __gt__(self, other: Any) -> bool:
        return self >= other + 1 if isinstance(other, (int, Length)) else self.__index__() > other

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __le__(self, other: Any) -> bool:
        return not self > other

    def _answer(self, expression: Expression, hint: int, relation: str) -> bool:
        """Return whether the difference to another number has a relation to 0."""
        return self.guards.answer(self.expression - expression, relation, self.hint - hint)

    def __index__(self) -> int:
        return self.guards.number(self.expression, self.hint)

    __int__ = __index__

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __str__(self) -> str:
        return str(self.__index__())

    def __format__(self, spec: str) -> str:
        return format(self.__index__(), spec)

    def __repr__(self) -> str:
        return f"<Length: {self.hint}, {self.expression}>"

    def bit_length(self) -> int:
        return self.__index__().bit_length()

    def __float__(self) -> float:
        return float(self.__index__())

    def __truediv__(self, other: Any) -> Any:
        return self.__index__() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.__index__()

    def __pow__(self, other: Any) -> Any:
        return self.__index__() ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** self.__index__()


# Numbers with which arithmetic works; but for int and Length with the number of the shape at hand.
_NUMBERS = (int, float, np.generic, Length)


def _parts(value: AnyLength) -> tuple[int, Expression]:
    return (value.hint, value.expression) if isinstance(value, Length) else (value, Expression.of(int(value)))


# For all shapes.


def smaller(a: AnyLength, b: AnyLength) -> Any:
    """Return the smaller one for each shape, unlike ``min``, which returns the one that is smaller at hand."""
    return _extreme(min, Expression.minimum, a, b)


def larger(a: AnyLength, b: AnyLength) -> Any:
    """Return the larger one for each shape, unlike ``max``."""
    return _extreme(max, Expression.maximum, a, b)


def _extreme(
    function: Callable[[int, int], int],
    of_expressions: Callable[[Expression, Expression], Expression],
    a: AnyLength,
    b: AnyLength,
) -> AnyLength:
    length = a if isinstance(a, Length) else b
    if not isinstance(length, Length):
        return function(a, b)  # type: ignore[arg-type]  # both are numbers
    (first, left), (second, right) = _parts(a), _parts(b)
    return length.made(function(first, second), of_expressions(left, right))


def is_multiple(length: AnyLength, divisor: int) -> bool:
    """Return whether a length is a multiple of a number for all shapes, as far as its expression shows."""
    if isinstance(length, Length):
        return all(count % divisor == 0 for _, count in length.expression.terms)
    return length % divisor == 0


def whole(number: Any) -> Any:
    """Return an int for a whole number of any type, and a Length as it is."""
    return number if isinstance(number, Length) else int(number)


# For the shapes of a program.


def check_row(length: AnyLength, tile: int) -> None:
    """Raise ValueError if a row is shorter than a tile, and note that it must not be in other shapes."""
    if length < tile:
        raise ValueError(f"a row of {hint_of(length)} is shorter than a tile of {tile}")


def bound_of(length: AnyLength) -> int:
    """Return the number for the shape at hand, and note that other shapes must not have a larger one."""
    if not isinstance(length, Length):
        return length
    length.guards.answer(Expression.of(length.hint) - length.expression, ">= 0", 0)
    return length.hint


# For the shapes of a bucket.


def choosing(
    *lengths: AnyLength, is_estimate: bool = False, notes_buckets: bool = True
) -> contextlib.AbstractContextManager[None]:
    """Return ``Guards.choosing`` of the first Length, or nothing to enter if all are numbers."""
    guards = next((length.guards for length in lengths if isinstance(length, Length)), None)
    return contextlib.nullcontext() if guards is None else guards.choosing(is_estimate, notes_buckets)


def about(length: AnyLength) -> int:
    """Return the number for the shape at hand, where that of another shape of the same bucket is as good."""
    with choosing(length):
        return int(length)


def least(length: AnyLength) -> int:
    """Return a number that the length is not less than for all shapes of its bucket, but 1 at least.

    For sizes of tiles, which must not be longer than a row. There are no tiles if there are no elements.
    """
    if not isinstance(length, Length):
        return length
    return max(1, min(about(length), int(_bounds(length)[0])))


def most(length: AnyLength) -> float:
    """Return a number that the length is not more than for all shapes of its bucket, infinity if none is known."""
    if not isinstance(length, Length):
        return length
    about(length)
    return _bounds(length)[1]


def _bounds(length: Length) -> tuple[float, float]:
    """Return the bounds of the length for the shapes of its bucket."""
    hints = length.guards.hints
    return length.expression.bounds({s: lengths_in(bucket(hints[s])) for s in length.expression.symbols()})


# For the shape at hand.


def hint_of(length: AnyLength) -> int:
    """Return the number for the shape at hand, for messages."""
    return length.hint if isinstance(length, Length) else length


def hints_of(lengths: Sequence[AnyLength]) -> tuple[int, ...]:
    """Return the shape at hand, as ``hint_of`` does."""
    return tuple(map(hint_of, lengths))

"""Expressions of lengths, against Python's own arithmetic."""

import random

import pytest

from hetero.core.lengths.expression import Expression, Symbol

A, B = Symbol("a"), Symbol("b")
NAMES = {A: "a", B: "b"}
of = Expression.of
a, b = of(A), of(B)


def random_expression(draw: random.Random, depth: int):
    """Return an expression and its text in Python."""
    if depth == 0:
        number = draw.randint(1, 9)
        return draw.choice([(a, "a"), (b, "b"), (of(number), str(number))])
    (left, left_text), (right, right_text) = (random_expression(draw, depth - 1) for _ in range(2))
    kind = draw.choice("+-*/%mM")
    if kind in "/%":
        right, right_text = draw.choice([(a, "a"), (of(draw.randint(1, 9)), None)])
        right_text = right_text or str(right.number)
    made = {
        "+": lambda: (left + right, "({} + {})"), "-": lambda: (left - right, "({} - {})"),
        "*": lambda: (left * right, "({} * {})"), "/": lambda: (left // right, "({} // {})"),
        "%": lambda: (left % right, "({} % {})"), "m": lambda: (left.minimum(right), "min({}, {})"),
        "M": lambda: (left.maximum(right), "max({}, {})"),
    }  # fmt: skip
    expression, form = made[kind]()
    return expression, form.format(left_text, right_text)


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed):
    draw = random.Random(seed)
    for _ in range(500):
        expression, text = random_expression(draw, draw.randint(1, 3))
        values = {A: draw.randint(1, 50), B: draw.randint(0, 50)}
        wanted = eval(text, {"a": values[A], "b": values[B]})
        assert expression.evaluate(values) == wanted, text
        assert eval(expression.text(NAMES), {"a": values[A], "b": values[B]}) == wanted, text
        low, high = expression.bounds({A: (1, 50), B: (0, 50)})
        assert low <= wanted <= high, text


def test_equal_expressions_are_known_to_be():
    assert a + b == b + a and a * (b + of(1)) == a * b + a
    assert (a + a - of(2) * a).number == 0
    assert (of(8) * a + of(3)) // of(8) == a
    assert (a * b * of(12)) // (of(4) * b) == of(3) * a
    assert (a + of(1)) // of(2) // of(2) == (a + of(1)) // of(4)
    assert ((a + of(1)) // of(2) + of(1)) // of(2) == (a + of(3)) // of(4)
    assert a.minimum(b) == b.minimum(a) != a.maximum(b)
    assert a != b and hash(a + b) == hash(b + a)


def test_text_of_an_expression():
    assert str(of(2) * a + of(3)) == "3 + 2*a"
    assert str(of(0)) == "0"

"""Lengths: what is computed with them, and the conditions under which that holds for others."""

import math
import operator

import numpy as np
import pytest

from hetero.core.dimension import Dimension
from hetero.core.lengths.expression import Symbol
from hetero.core.lengths.guards import Guards, bucket, lengths_in, typical_length
from hetero.core.lengths.length import (
    Length,
    about,
    bound_of,
    check_row,
    choosing,
    hint_of,
    is_multiple,
    larger,
    least,
    most,
    smaller,
    whole,
)
from hetero.core.shape import PartialShape

ROWS = Symbol("rows")


@pytest.fixture
def guards():
    return Guards({ROWS: 20}, {ROWS: (1, 1000)})


@pytest.fixture
def rows(guards):
    return Length.of(ROWS, guards)


def conditions(guards):
    return [(str(c.expression), c.relation, bool(c.holds)) for c in guards.conditions]


def test_arithmetic_notes_nothing(guards, rows):
    computed = [
        rows + 1,
        1 + rows,
        30 - rows,
        rows * rows,
        rows // 3,
        100 // rows,
        rows % 7,
        -rows,
        -(-rows // 16) * 16,
    ]
    assert [hint_of(each) for each in computed] == [21, 21, 10, 400, 6, 5, 6, -20, 32]
    others = [each.expression.evaluate({ROWS: 33}) for each in computed]
    assert others == [34, 34, -3, 1089, 11, 3, 5, -33, 48]
    assert math.prod([2, rows, 3]).expression == (rows * 6).expression
    assert smaller(rows, 8).expression.evaluate({ROWS: 3}) == 3 and larger(8, rows).expression.evaluate({ROWS: 3}) == 8
    assert is_multiple(8 * rows, 4) and not is_multiple(rows, 2)
    assert not guards.conditions


def test_what_is_the_same_for_all_shapes_is_a_number(guards, rows):
    assert type(rows - rows) is int and type((8 * rows) // rows) is int
    assert rows == rows + 0 and rows + 1 > rows and rows >= 1 and rows <= 1000 and rows != 0
    assert not guards.conditions


@pytest.mark.parametrize(
    ("use", "condition"),
    [
        (lambda rows: rows == 1, ("-1 + rows", "== 0", False)),
        (lambda rows: rows > 16, ("-17 + rows", ">= 0", True)),
        (lambda rows: rows < 16, ("-16 + rows", ">= 0", True)),
        (lambda rows: rows <= 16, ("-17 + rows", ">= 0", True)),
        (lambda rows: max(rows, 7), ("-7 + rows", ">= 0", True)),
        (lambda rows: bool(rows - 5), ("-5 + rows", "== 0", False)),
        (operator.index, ("-20 + rows", "== 0", True)),
        (lambda rows: f"{rows}", ("-20 + rows", "== 0", True)),
        (lambda rows: range(rows), ("-20 + rows", "== 0", True)),
        (lambda rows: {rows: 0}, ("-20 + rows", "== 0", True)),
        (lambda rows: np.zeros(rows), ("-20 + rows", "== 0", True)),
        (lambda rows: np.int32(rows), ("-20 + rows", "== 0", True)),
        (lambda rows: np.array([rows], np.int64), ("-20 + rows", "== 0", True)),
        (lambda rows: rows / 2, ("-20 + rows", "== 0", True)),
        (lambda rows: rows * 0.5, ("-20 + rows", "== 0", True)),
        (lambda rows: 2**rows, ("-20 + rows", "== 0", True)),
        (lambda rows: bound_of(rows + 1), ("20 + -1*rows", ">= 0", True)),
        (lambda rows: check_row(rows, 4), ("-4 + rows", ">= 0", True)),
    ],
)  # fmt: skip
def test_answers_are_noted(guards, rows, use, condition):
    assert not guards.conditions
    use(rows)
    assert condition in conditions(guards)


def test_choices_note_buckets_alone(guards, rows):
    with choosing(1, rows):
        assert rows > 16 and int(rows * 2) == 40 and isinstance(rows * 2, Length)
    with choosing(rows, is_estimate=True):
        assert rows * 2 == 40 and isinstance(rows * 2, int)
    assert about(rows + 1) == 21
    assert [(str(c.expression), c.relation, c.holds) for c in guards.conditions] == [("rows", "bucket", bucket(20))]


def test_least_holds_for_a_bucket(guards, rows):
    assert least((rows + 1) // 2) == (16 + 1) // 2 and least(rows - 19) == 1 and least(7) == 7
    assert [str(c.expression) for c in guards.conditions if c.relation != "bucket"] == []
    with pytest.raises(ValueError, match="a row of 20 is shorter than a tile of 21"):
        check_row(rows, 21)


def test_most_holds_for_a_bucket(guards, rows):
    assert most(rows) == 255 and most((rows + 1) // 2) == 128 and most(300 - rows) == 284 and most(7) == 7
    assert [(str(c.expression), c.relation) for c in guards.conditions] == [("rows", "bucket")]


def test_buckets():
    assert [bucket(length) for length in (0, 1, 15, 16, 255, 256)] == [0, 1, 1, 2, 2, 3]
    for length in range(1000):
        low, high = lengths_in(bucket(length))
        assert low <= length <= high and low <= typical_length(length) <= high


def test_division_by_a_length_of_zero():
    empty = Length.of(ROWS, Guards({ROWS: 0}, {}))
    for divide in (operator.floordiv, operator.mod):
        with pytest.raises(ZeroDivisionError, match="division by a length of 0"):
            divide(5, empty)


def test_dimensions_have_lengths(guards, rows):
    shape = PartialShape([rows, 4])
    assert shape.is_static and whole(shape[0].get_length()) is rows
    assert (shape[0] + 1).get_length().expression == (rows + 1).expression
    assert (shape[0] * 2 // 2).is_same_length(Dimension(rows)) and not shape[0].is_number
    assert shape.broadcast(PartialShape([rows, 1])).is_same(shape)
    assert not guards.conditions
    assert shape.broadcast([1, 4]).is_same(shape)  # whether it is 1 was asked
    assert conditions(guards) == [("-1 + rows", "== 0", False)]


def test_texts_note_nothing(guards, rows):
    """To look at a shape, as debuggers do, does not change the program."""
    shape = PartialShape([rows, 3, -1])
    assert f"{shape} {shape[0]}" == "[20,3,?] 20"
    assert (repr(shape), repr(shape[0]), repr(rows)) == (
        "<PartialShape: [20,3,?]>",
        "<Dimension: 20>",
        "<Length: 20, rows>",
    )
    assert not guards.conditions

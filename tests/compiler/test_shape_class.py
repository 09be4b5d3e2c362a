"""Classes of shapes as people read them."""

import math

from hetero.compiler.shape_class import ShapeClass
from hetero.core.lengths.expression import Symbol
from hetero.core.lengths.guards import Guards
from hetero.core.lengths.length import Length, about


def test_the_lengths_of_a_class_and_what_they_do_not_imply():
    rows, words, other = Symbol(), Symbol("words"), Symbol("other")
    guards = Guards({rows: 1, words: 300, other: 20}, dict.fromkeys((rows, words, other), (0, math.inf)))
    one, length, more = shape = tuple(Length.of(symbol, guards) for symbol in (rows, words, other))
    assert one == 1 and length != 512 and length <= 512 and more >= 7
    about(length)
    guards.cause = "Slice 'a'"
    assert length % 4 == 0 and length + more >= 256 and length > more
    guards.cause = ""
    assert length * more > 5000 and more % 3 == 2
    text = str(ShapeClass(guards, [shape]))
    assert text.startswith("s0 1, words 256 to 511, other 7 and more, if ")
    first, second, rest = text.partition(", if ")[2].split(", ")
    assert first.endswith("== 0 (Slice 'a')") and "words" in first and "256" not in text.partition(", if ")[2]
    assert second.endswith("(Slice 'a')") and "other" in second
    assert rest == "2 more"

"""Dimensions and partial shapes, compared with OpenVINO."""

import itertools

import openvino
import pytest

from hetero import Dimension, PartialShape
from hetero.system.errors import GraphError

SPELLINGS = ["?", "3", "0", "1", "1..8", "2..", "..4", "2..5"]
PAIRS = list(itertools.product(SPELLINGS, SPELLINGS))


@pytest.mark.parametrize("text", SPELLINGS)
def test_dimensions_print_and_bound_like_openvinos(text):
    theirs, ours = openvino.Dimension(text), Dimension(text)
    assert str(ours) == str(theirs)
    assert (ours.min_length, ours.max_length) == (theirs.min_length, theirs.max_length)
    assert (ours.is_static, ours.is_dynamic) == (theirs.is_static, theirs.is_dynamic)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_dimensions_are_compatible_like_openvinos(a, b):
    assert Dimension(a).compatible(Dimension(b)) == openvino.Dimension(a).compatible(openvino.Dimension(b))


def _lengths(dimension: Dimension) -> range:
    """Return the lengths up to 12 that a dimension may have."""
    return range(dimension.min_length, min(12, dimension.max_length if dimension.max_length >= 0 else 12) + 1)


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("operation", ["broadcast", "add", "subtract", "multiply"])
def test_interval_arithmetic_holds_for_every_length(a, b, operation):
    """The result of two intervals contains the result of any two lengths in them."""
    rules = {
        "broadcast": (Dimension.broadcast, lambda m, n: m if n == 1 else n if m in (1, n) else None),
        "add": (Dimension.__add__, lambda m, n: m + n),
        "subtract": (Dimension.__sub__, lambda m, n: max(0, m - n)),
        "multiply": (Dimension.__mul__, lambda m, n: m * n),
    }
    of_intervals, of_lengths = rules[operation]
    possible = {of_lengths(m, n) for m in _lengths(Dimension(a)) for n in _lengths(Dimension(b))} - {None}
    if not possible:
        with pytest.raises(GraphError):
            of_intervals(Dimension(a), Dimension(b))
        return
    result = of_intervals(Dimension(a), Dimension(b))
    assert all(result.compatible(length) for length in possible)


@pytest.mark.parametrize("text", ["[1,3,?,1..8]", "[...]", "[]", "[?]", "[1,2..,..4]"])
def test_partial_shapes_print_like_openvinos(text):
    assert str(PartialShape(text)) == str(openvino.PartialShape(text))
    assert PartialShape(text).is_static == openvino.PartialShape(text).is_static


def test_partial_shape_from_a_list():
    assert str(PartialShape([1, -1, (2, 8), Dimension(3)])) == "[1,?,2..8,3]"
    assert PartialShape([2, 3]) == [2, 3] and PartialShape([2, 3]).to_shape() == (2, 3)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[2,1,?]", "[3,1]", "[2,3,?]"),
        ("[?,4]", "[1,4]", "[?,4]"),
        ("[...]", "[1]", "[...]"),
        ("[1..4]", "[1..4]", "[1..4]"),
        ("[2..4]", "[?]", "[2..4]"),
        ("[5]", "[?]", "[5]"),
        ("[]", "[2,3]", "[2,3]"),
    ],
)
def test_broadcast(a, b, expected):
    assert str(PartialShape(a).broadcast(b)) == str(PartialShape(b).broadcast(a)) == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dimension("many"), "'many' is not a dimension: write a length, \\?, or a range such as 1..8"),
        (lambda: Dimension("batch=many"), "'many' is not a dimension: write a length"),
        (lambda: Dimension("batch="), "'batch=' is not a dimension: write a length"),
        (lambda: Dimension(-3), "a dimension cannot be -3"),
        (lambda: Dimension(4, 2), "a dimension cannot be 4..2"),
        (lambda: Dimension("9223372036854775808"), "cannot be 9223372036854775808; the largest is"),
        (
            lambda: PartialShape("[1,2..9223372036854775808]"),
            "cannot be 9223372036854775808; the largest is",
        ),
        (lambda: PartialShape.dynamic(10**9), "a tensor cannot have rank 1000000000; the largest is 64"),
        (lambda: PartialShape("[2,?]").to_shape(), "the length of the dimension \\? is not known"),
        (lambda: PartialShape("[2,3]").broadcast("[4]"), "shapes \\[2,3\\] and \\[4\\] do not broadcast"),
        (lambda: len(PartialShape("[...]")), "the rank of the shape is not known"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(GraphError, match=message):
        make()


@pytest.mark.parametrize(
    ("partial", "shape", "admitted"),
    [
        ([2, 3], (2, 3), True),
        ([2, 3], (2, 4), False),
        ([2, 3], (2,), False),
        ([-1, 3], (0, 3), True),
        ([(2, 5), 3], (5, 3), True),
        ([(2, 5), 3], (6, 3), False),
        ([(2, 5), 3], (1, 3), False),
        ([], (), True),
        (None, (7, 7, 7), True),
    ],
)
def test_which_shapes_a_partial_shape_admits(partial, shape, admitted):
    assert PartialShape(partial).admits(shape) is admitted
    assert PartialShape(partial).compatible(shape) is admitted


def test_an_empty_text_is_a_dimension_of_0():
    assert Dimension("") == Dimension(" ") == Dimension(0)
    assert openvino.Dimension("") == openvino.Dimension(0)


@pytest.mark.parametrize(("text", "name", "bounds"), [
    ("batch=?", "batch", "?"), (" seq_len = 1..8 ", "seq_len", "1..8"), ("n=2..", "n", "2.."), ("n=4", "", "4"),
])  # fmt: skip
def test_dimensions_with_names(text, name, bounds):
    dimension = Dimension(text)
    assert (dimension.name, dimension, str(dimension)) == (name, Dimension(bounds), bounds)


def test_shapes_with_names():
    shape = PartialShape("[batch=?,3,?,height=8..64]")
    assert (shape, shape.names) == (PartialShape("[?,3,?,8..64]"), {"0": "batch", "3": "height"})
    assert PartialShape("[?,3,?,8..64]").with_names(shape.names).described() == "[batch,3,?,height=8..64]"
    assert PartialShape("[...]").names == {} and PartialShape("[...]").with_names({"0": "batch"}) == PartialShape(
        "[...]"
    )

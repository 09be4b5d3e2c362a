"""Slices, splits and Gather, compared with OpenVINO."""

import itertools

import numpy as np
import pytest

from hetero import Parameter, Type, ops
from hetero.ops.movement.slicing import cut
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

LAST, FIRST = 2**63 - 1, -(2**63)


def random(*shape):
    return Data(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def ints(*values):
    return np.array(values, np.int64)


def number(value):
    return np.array(value, np.int64)


ONE = Unknown([1], np.int64)
TWO = Unknown([2], np.int64)

# start, stop, step and optional axes, for data [5, 6]
SLICES = [
    (ints(-1), ints(FIRST), ints(-2), ints(1)),
    (ints(1, 2), ints(LAST, LAST), ints(2, 1)),
    (ints(4, -1), ints(0, -7), ints(-1, -3), ints(-1, 0)),
    (ints(4), ints(2), ints(1), ints(0)),
    (ints(LAST), ints(0), ints(-1), ints(0)),
    (ints(FIRST), ints(LAST), ints(LAST), ints(0)),
    (ints(-2), ints(-1), ints(1), ints(1)),
]
# begin, end, strides, begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask, for data [5, 6, 4]
STRIDED_SLICES = [
    (ints(1, 0), ints(2, 5), ints(1, 2), [0, 0], [0, 0], [0, 0], [1, 0], [0, 0]),
    (ints(1, 0, 0), ints(2, 5, 0), ints(1, 2, 1), [0] * 3, [0] * 3, [0, 1, 0], [0] * 3, [0] * 3),
    (ints(0, -1), ints(0, 0), ints(1, -1), [0, 0], [0, 1], [0, 0], [0, 0], [1, 0]),
    (ints(3), ints(9), ints(1), [1], [0], [0], [1], [0]),
    (ints(-1, 2), ints(0, 3), ints(-2, 1), [1, 0], [1, 0]),
    (ints(-2), ints(-1), ints(1), [0], [0], [0], [1], [0]),
]
# start, stop, step for a vector of two elements
BEYOND = [(-7, -3, -1), (-7, -30, -1), (-3, -9, -2), (-3, 0, -1), (7, 0, -1), (9, 9, 1), (-9, -7, 1), (LAST, FIRST, -1)]
RESULTS = [
    *[("slice", random(2), *map(ints, bounds)) for bounds in BEYOND],
    *[("strided_slice", random(2), *map(ints, bounds), [0], [0]) for bounds in BEYOND],
    *[("slice", random(5, 6), *bounds) for bounds in SLICES],
    *[("strided_slice", random(5, 6, 4), *bounds) for bounds in STRIDED_SLICES],
    ("split", random(4, 6), number(-1), 3),
    ("variadic_split", random(4, 6), number(1), ints(1, -1, 2)),
    ("variadic_split", random(4, 6), number(0), ints(0, 4)),
    ("gather", random(3, 4, 5), Data(np.array([[0, 1], [2, 3]])), number(1)),
    ("gather", random(3, 4, 5), Data(np.array([-1, 0, 7, -9])), number(1)),
    ("gather", random(3, 4, 5), Data(np.array(2)), number(-1)),
    ("gather", random(3, 4, 5), Data(np.arange(6).reshape(3, 2) % 4), number(1), 1),
    ("gather", random(3, 4, 5), Data(np.arange(6).reshape(3, 2) - 3), number(2), 1),
    ("gather", random(3, 4, 5), Data(np.arange(24).reshape(3, 4, 2) % 5), number(2), 2),
    ("gather", random(3, 4, 5, 2), Data(np.arange(12).reshape(3, 4)), number(2), -1),
    ("gather", Data(np.arange(12).reshape(3, 4)), Data(np.array([0, 2], np.int32)), number(0)),
]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_results(case):
    same_results(*case)


SHAPES = [
    ("slice", Unknown([-1, 10]), ints(1), ints(LAST), ints(2), ints(1)),
    ("slice", Unknown([-1, 10]), ints(1), ints(5), ints(2), ints(0)),
    ("slice", Unknown([(3, 10), 10]), ints(1), ints(5), ints(2), ints(0)),
    ("slice", Unknown([(3, 10), 10]), ints(-3), ints(-1), ints(1), ints(0)),
    ("slice", Unknown([(3, 10), 10]), ints(-1), ints(FIRST), ints(-1), ints(0)),
    ("slice", Unknown([(3, 10), 10]), ONE, ints(5), ints(1), ints(0)),
    ("slice", Unknown([(3, 10), 10]), ONE, ints(5), ints(1), ONE),
    ("slice", Unknown([-1]), ints(0), ints(-1), ints(1)),
    ("slice", Unknown("[...]"), ints(-5), ints(2), ints(1)),
    ("strided_slice", Unknown([(3, 10), 10, 4]), *STRIDED_SLICES[0]),
    ("strided_slice", Unknown([(3, 10), 10, 4]), *STRIDED_SLICES[1]),
    ("strided_slice", Unknown([(3, 10), 10, 4]), *STRIDED_SLICES[2]),
    ("strided_slice", Unknown("[...]"), *STRIDED_SLICES[0]),
    ("strided_slice", Unknown([(3, 10), 10]), TWO, TWO, TWO, [1, 0], [1, 0], [0, 0], [0, 0], [0, 0]),
    ("strided_slice", Unknown([-1, 4]), ints(0), ints(-1), ints(1), [0], [0]),
    ("strided_slice", Unknown([-1, 4]), ints(-1), ints(0), ints(-1), [1], [1]),
    ("split", Unknown([3, 10]), Unknown([], np.int64), 2),
    ("split", Unknown([-1, 10]), number(-2), 3),
    ("split", Unknown("[...]"), number(-2), 3),
    ("variadic_split", Unknown([(3, 10), 10]), number(0), Unknown([3], np.int64)),
    ("variadic_split", Unknown([(3, 10), 10]), Unknown([], np.int64), ints(2, -1)),
    ("variadic_split", Unknown([3, (4, 10)]), number(0), ints(1, -1)),
    ("gather", Unknown([3, 10]), Unknown([4], np.int64), Unknown([], np.int64)),
    ("gather", Unknown("[...]"), Unknown([4], np.int64), number(0)),
    ("gather", Unknown([3, 4]), Unknown("[...]", np.int64), number(0)),
    ("gather", Unknown([-1, 4, 5]), Unknown([3, (1, 7)], np.int64), number(2), 1),
    ("gather", Unknown([3, 4, 5]), Unknown([], np.int64), number(-2)),
    ("gather", Unknown([(1, 3), 4, 5]), Unknown([(2, 4), 7], np.int64), Unknown([], np.int64), 1),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    same_shapes(*case)


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        (["[..5]"], ("slice", Unknown([-1]), ints(-5), ints(2**31 - 1), ints(1))),
        (["[2..5,10]"] * 2, ("split", Unknown([(3, 10), 10]), number(0), 2)),
        (["[2,10]", "[1..8,10]"], ("variadic_split", Unknown([(3, 10), 10]), number(0), ints(2, -1))),
    ],
    ids=str,
)
def test_shapes_known_better_than_in_openvino(case, expected):
    same_shapes(*case, expected=expected)


@pytest.mark.parametrize(
    "case",
    [
        ("slice", Unknown([4]), ints(0), ints(5), ints(0), ints(0)),
        ("slice", Unknown([3, 4]), ints(0), ints(1), ints(1), ints(2)),
        ("slice", Unknown([3, 4]), ints(0, 0), ints(1, 1), ints(1, 1), ints(1, -1)),
        ("slice", Unknown([3, 4]), ints(0, 0), ints(1), ints(1, 1)),
        ("strided_slice", Unknown([3]), ints(0, 0), ints(1, 1), ints(1, 1), [0, 0], [0, 0]),
        ("split", Unknown([3, 10]), number(0), 2),
        ("split", Unknown([3, 10]), number(2), 2),
        ("variadic_split", Unknown([3, 10]), number(0), ints(2, 2)),
        ("variadic_split", Unknown("[...]"), ints(0, 1), ints(2, 2)),
        ("split", Unknown([]), number(0), 1),
        ("gather", Unknown([]), Unknown([2], np.int64), number(0)),
        ("gather", Unknown([2]), Unknown("[...]", np.int64), number(-4)),
        ("concat", [Unknown([]), Unknown([])], 0),
        ("slice", Unknown([]), ints(0), ints(1), ints(1)),
        ("gather", Unknown([3, 4]), Unknown([2, 4], np.int64), Unknown([], np.int64), 1),
        ("variadic_split", Unknown([3, 10]), number(0), ints(-1, -1)),
        ("gather", Unknown([3, 4, 5]), Unknown([3, 7], np.int64), number(3)),
        ("gather", Unknown([3, 4, 5]), Unknown([2, 7], np.int64), number(2), 1),
        ("gather", Unknown([3, 4, 5]), Unknown([3, 7], np.int64), number(0), 1),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse(*case)


BOUNDS = (FIRST, -7, -3, -1, 0, 2, 5, LAST)


@pytest.mark.parametrize("step", [-3, -1, 1, 2])
@pytest.mark.parametrize("interval", [(0, 4), (2, 8), (6, 9)])
def test_slices_of_an_interval_are_those_of_its_lengths(interval, step):
    lengths = range(interval[0], interval[1] + 1)
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        counts = [len(range(*cut(length, start, stop, step).indices(length))) for length in lengths]
        node = ops.Slice(Parameter(Type.f32, [interval]), ints(start), ints(stop), ints(step))
        assert node.get_output_partial_shape(0) == [(min(counts), max(counts))], (start, stop)

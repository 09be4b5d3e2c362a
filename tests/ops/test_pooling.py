"""Pooling beside OpenVINO's."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

# stride, dilation, pads in front and behind, kernel, rounding_type, auto_pad
WINDOWS = [
    (1, 1, 0, 0, 2, "floor", None),
    (2, 1, 1, 1, 3, "floor", None),
    (2, 1, 1, 1, 3, "ceil", None),
    (2, 2, 1, 0, 3, "ceil", None),
    (2, 1, 0, 1, 3, "ceil", "explicit"),
    (2, 1, 0, 0, 3, "floor", "same_upper"),
    (2, 1, 0, 0, 3, "floor", "same_lower"),
    (2, 1, 0, 0, 3, "ceil", "valid"),
]
DATA = np.random.default_rng(0).standard_normal((2, 3, 9, 8, 7), dtype=np.float32)
EACH = pytest.mark.parametrize(("dimensions", "window"), [(d, window) for d in (1, 2, 3) for window in WINDOWS])


def data_of(dimensions):
    return Data(DATA[(..., *(0,) * (3 - dimensions))])


@EACH
@pytest.mark.parametrize("attributes", [(), ("i32", 2), ("i64", -1)])
def test_max_pool(attributes, dimensions, window):
    *numbers, rounding, auto_pad = window
    stride, dilation, begin, end, kernel = ([number] * dimensions for number in numbers)
    same_results("max_pool", data_of(dimensions), stride, dilation, begin, end, kernel, rounding, auto_pad, *attributes)


@EACH
@pytest.mark.parametrize("exclude_pad", [True, False])
def test_avg_pool(exclude_pad, dimensions, window):
    *numbers, rounding, auto_pad = window
    stride, _, begin, end, kernel = ([number] * dimensions for number in numbers)
    same_results("avg_pool", data_of(dimensions), stride, begin, end, kernel, exclude_pad, rounding, auto_pad)


def test_the_first_of_equal_values_is_the_largest():
    same_results("max_pool", Data(np.zeros((1, 2, 4, 4), np.float32)), [2, 2], [1, 1], [1, 1], [1, 1], [3, 3])


def test_max_pool_of_integers():
    data = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    same_results("max_pool", Data(data), [2, 2], [1, 1], [1, 1], [0, 0], [2, 2])


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        (None, ([1, 1, (0, 10)], [2], [1], [0], [0], [3], "ceil")),
        (None, ([-1, (2, 4), -1], [2], [2], [1], [0], [3])),
        (["[?,1,2..5]"] * 2, ([-1, 1, (3, 9)], [2], [1], [1], [0], [3], "floor", "same_lower")),
        (["[?,?,1..]"] * 2, ("[...]", [2], [1], [0], [0], [3])),
    ],
    ids=str,
)
def test_dynamic_shapes(case, expected):
    same_shapes("max_pool", Unknown(case[0]), *case[1:], expected=expected)


@pytest.mark.parametrize(
    "case",
    [
        ([1, 1, 2], [2], [1], [0], [0], [3]),
        ([1, 1, 4, 4], [2], [1], [0], [0], [3]),
        ([1, 1, 4], [0], [1], [0], [0], [3]),
        ([1, 1, 4], [1], [1], [0], [0], [3], "floor", None, "i64", 3),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse("max_pool", Unknown(case[0]), *case[1:])

"""The difference of two arrays: expected values are worked out by hand."""

import math

import ml_dtypes
import numpy as np
import pytest

from hetero.run.comparison.differences import difference, largest_difference

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("found", "expected", "error", "relative", "index"),
    [
        ([[1, 2], [3, 4.5]], [[1, 2], [3, 5]], 0.5, 0.1, [1, 1]),
        ([1, -8], [1, -10], 2, 0.2, [1]),
        ([NAN, INF, -INF], [NAN, INF, -INF], 0, 0, [0]),
        ([NAN, 1], [1, 1], INF, INF, [0]),
        ([1, 1], [1, INF], INF, INF, [1]),
        ([0.25, 0], [0, 0], 0.25, 0.25, [0]),
        (2.0, 1.0, 1, 1, []),
        ([], [], 0, 0, None),
    ],
)
def test_real_numbers(found, expected, error, relative, index):
    one = difference("y", np.array(found, np.float32), np.array(expected, np.float32))
    assert (one.value, one.max_error, one.index) == ("y", error, index)
    assert one.relative_error == pytest.approx(relative)


def test_other_types():
    assert difference("y", np.array([3, 250], np.uint8), np.array([3, 255], np.uint8)).max_error == 5
    assert difference("y", np.array([True, False]), np.array([True, True])).relative_error == 1
    assert difference("y", np.array(["a", "b"]), np.array(["a", "c"])).index == [1]
    half = difference("y", np.array([1.5], ml_dtypes.bfloat16), np.array([1], ml_dtypes.bfloat16))
    assert (half.max_error, half.found, half.expected) == (0.5, "1.5", "1")


def test_shapes():
    one = difference("y", np.zeros((2, 3)), np.zeros((2, 4)))
    assert one.relative_error == INF and one.problem == "has the shape [2, 3] instead of [2, 4]"


def test_largest():
    differences = [
        difference(name, np.array([error]), np.array([1.0])) for name, error in (("a", 1), ("b", 2), ("c", 2))
    ]
    assert largest_difference(differences).value == "b"
    assert largest_difference([]) is None

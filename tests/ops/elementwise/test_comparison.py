"""Comparisons and logic, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(7)
SHAPES = [([2, 3], [2, 3]), ([2, 3], [3]), ([2, 1, 4], [3, 1]), ([], [2]), ([0, 3], [1, 3])]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("name", ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"])
def test_comparisons(name, dtype, shapes):
    a, b = (rng.integers(0, 3, shape).astype(dtype) for shape in shapes)
    same_results(name, Data(a), Data(b))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(name):
    same_results(name, Data(np.array([False, False, True, True])), Data(np.array([False, True, False, True])))


def test_not():
    same_results("logical_not", Data(np.array([[False, True]])))


PARTIAL = [
    ("less", ["[?,2]", "[2]"]),
    ("equal", ["[...]", "[1..3]"]),
    ("greater", ["[?,1]", "[4,2..5]"]),
]


@pytest.mark.parametrize(("name", "shapes"), PARTIAL, ids=str)
def test_partial_shapes(name, shapes):
    same_shapes(name, *[Unknown(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("less", [Unknown([2]), Unknown([2], np.int32)]),
        ("logical_and", [Unknown([2]), Unknown([2])]),
    ],
)
def test_refused(name, arguments):
    both_refuse(name, *arguments)

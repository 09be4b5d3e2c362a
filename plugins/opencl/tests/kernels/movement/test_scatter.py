"""Scatter operations, compared with OpenVINO or numpy."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.movement.test_scatter import RESULTS, ints, picks, random
from tests.ops.oracle import Data

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8,
          np.uint16, np.uint32, np.uint64, np.bool_)  # fmt: skip


CASES = [
    *[case for case in RESULTS if case[0].startswith(("scatter", "slice"))],
    ("scatter_update", 3, random(3, 4, 5), Data(ints(2, 0)), random(3, 2, 5), ints(1)),
    ("scatter_update", 3, random(3, 4, 5), Data(ints(3, 0, 2)), random(3, 3, 5), ints(1)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_last_of_equal_indices_counts(compute, dtype):
    data, updates = random(4, 300, dtype=dtype), random(3, 300, dtype=dtype)
    indices = np.random.default_rng(0).integers(-7, 7, (3, 300))
    expected = data.array.copy()
    for row in range(3):
        for column in range(300):
            expected[row, indices[row, column]] = updates.array[row, column]
    arguments = data, Data(indices), updates, ints(1)
    (found,) = compute("scatter_elements_update", arguments, {})
    np.testing.assert_array_equal(found, expected, strict=True)


def test_updates_out_of_range_are_ignored(compute):
    data, far, updates = random(3, 4), np.array([[2**40, 2], [-5, 0], [4, 1]]), random(3, 2)
    expected = data.array.copy()
    expected[0, 2], expected[1, 0], expected[2, 1] = updates.array[:, 1]
    (found,) = compute("scatter_elements_update", (data, Data(far), updates, ints(1)), {})
    np.testing.assert_array_equal(found, expected)
    (found,) = compute("scatter_nd_update", (data, Data(far), Data(np.ones(3, np.float32))), {})
    np.testing.assert_array_equal(found, data.array)
    (found,) = compute("scatter_update", (data, Data(ints(3, -4)), Data(np.ones((2, 4), np.float32)), ints(0)), {})
    np.testing.assert_array_equal(found, data.array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_of_one_element_are_combined_in_their_order(reference_agrees, dtype):
    """In the order of the reference, so that floating-point sums differ only by contractions into fma."""
    data, updates = random(2, 3, dtype=dtype), random(2, 300, dtype=dtype)
    for reduction, init in (("sum", True), ("max" if dtype is np.bool_ else "mean", False)):
        arguments = data, picks(3, 2, 300), updates, ints(1), reduction, init
        reference_agrees("scatter_elements_update", *arguments, opset=12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.bool_])
def test_products_and_extremes(reference_agrees, dtype):
    data, updates = random(2, 3, dtype=dtype), random(2, 30, dtype=dtype)
    for reduction in ("prod", "min", "max"):
        arguments = data, picks(3, 2, 30), updates, ints(1), reduction, reduction != "min"
        reference_agrees("scatter_elements_update", *arguments, opset=12)


def test_nan_propagates(reference_agrees):
    data, updates = Data(np.float32([[1, np.nan, 3]])), Data(np.float32([[5, 0, np.nan, 2]]))
    for reduction in ("min", "max"):
        arguments = data, Data(np.array([[0, 1, 2, 2]])), updates, ints(1), reduction
        reference_agrees("scatter_elements_update", *arguments, opset=12)


def test_more_indices_than_rows(compute):
    """The reference is wrong here, or fails, for indices of rows that do not exist."""
    data, updates = Data(np.zeros((2, 2), np.float32)), Data(np.ones((4, 1), np.float32))
    for reduction in ("none", "sum"):
        arguments = data, Data(np.array([[1], [0], [1], [0]])), updates, ints(1), reduction
        (found,) = compute("scatter_elements_update", arguments, {})
        np.testing.assert_array_equal(found, [[0, 1], [1, 0]])


def test_combined_updates_out_of_range_are_ignored(compute):
    indices, updates = np.array([[9, 1, -9, 1]]), np.float32([[1, 2, 3, 4]])
    arguments = Data(np.ones((1, 3), np.float32)), Data(indices), Data(updates), ints(1), "sum"
    (found,) = compute("scatter_elements_update", arguments, {})
    np.testing.assert_array_equal(found, [[1, 7, 1]])

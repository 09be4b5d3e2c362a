"""Sorting, searching, Unique and NonZero, compared with OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

import hetero
from hetero import Parameter, ops
from tests.ops.oracle import Data
from tests.ops.reduction.test_sorting import RESULTS, distinct, number, random

NUMBERS = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8,
           np.uint16, np.uint32, np.uint64)  # fmt: skip


CASES = [
    *RESULTS,
    ("topk", 11, distinct(2, 1000), number(700), 1, "min", "value"),
    ("topk", 11, distinct(3, 2000), number(40), 1, "max", "value"),
    ("topk", 11, distinct(3, 2000), number(40), 1, "max", "index"),
    ("topk", 11, distinct(3, 2000), number(1), 1, "max", "index"),
    ("topk", 11, distinct(2000, 3), number(1), 0, "min", "value"),
    ("unique", 10, random(100, 8, dtype=np.int32), None, False),
    ("non_zero", 3, Data(np.float32([[0, 1, 0], [-2, 0, np.nan]]))),
    ("non_zero", 3, Data(np.random.default_rng(0).integers(0, 2, (7, 30, 11)).astype(np.int32)), "i32"),
    ("non_zero", 3, Data(np.zeros((3, 4), np.int64))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("mode", "k"), [("max", 1), ("min", 100)])
def test_the_first_of_equal_elements_is_taken(reference_agrees, dtype, mode, k):
    reference_agrees("topk", random(3, 300, dtype=dtype), number(k), 1, mode, "value", "i64", True, opset=11)


@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("k", [1, 3])
def test_nan(reference_agrees, mode, k):
    rows = np.float32([[1, np.nan, 2, np.nan, np.inf], [-np.inf, 0, -0.0, 5, np.nan]])
    for dtype in (np.float32, np.float64, np.float16):
        reference_agrees("topk", Data(rows.astype(dtype)), number(k), 1, mode, "value", opset=11)


def test_a_long_row(compute):
    data = np.random.default_rng(5).integers(-500, 500, 200_001).astype(np.int32)
    values, places = compute("topk", (Data(data), number(150_000), 0, "max", "value"), {})
    expected = np.argsort(-data, kind="stable")[:150_000]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, data[expected])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_lookups_in_every_type(reference_agrees, dtype):
    data = random(4, 50, dtype=dtype)
    rows = Data(np.sort(random(4, 20, dtype=dtype).array))
    reference_agrees("search_sorted", rows, data, True, opset=15)
    reference_agrees("bucketize", data, Data(rows.array[0]))
    reference_agrees("non_zero", data)
    reference_agrees("unique", data, None, False)
    reference_agrees("unique", data)


def test_integers_between_real_bounds(compute):
    """Integers that are equal as f32 are distinguished."""
    data, bounds = np.array([2**24, 2**24 + 1, 2**24 + 2, -1]), np.float32([0, 2**24, np.nan])
    for dtype in (np.int64, np.uint64, np.int32):
        (found,) = compute("bucketize", (Data(data.astype(dtype)), Data(bounds)), {})
        np.testing.assert_array_equal(found, [1, 2, 2, 2 if dtype is np.uint64 else 0])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_different_slices(reference_agrees, axis, order, dtype):
    """Compared with the reference: OpenVINO's CPU device orders slices differently."""
    data = np.random.default_rng(2).integers(0, 2, (20, 2, 21)).astype(dtype)
    data[:, :, ::2] = data[:, :, :1]
    data[::3] = data[:1]
    reference_agrees("unique", Data(data), np.array(axis), order)


def test_no_elements(reference_agrees):
    nothing = Data(np.zeros((3, 0), np.float32))
    for name in ("non_zero", "unique"):
        reference_agrees(name, nothing)
    reference_agrees("non_zero", Data(np.array(3, np.int32)))


def test_readers_of_results_of_unknown_shape(run):
    """The next program gets the shapes that the one before has computed."""
    data = Parameter(hetero.Type.f32, [4, 5])
    places = ops.Transpose(ops.NonZero(data), number([1, 0]))
    values, _, inverse, _ = ops.Unique(ops.GatherND(data, places)).outputs()
    array = np.float32([[0, 3, 3, 0, 1]] * 4)
    found = run([ops.Negative(values), inverse], [data], [array])
    np.testing.assert_array_equal(found[0], [-1, -3])
    np.testing.assert_array_equal(found[1], [1, 1, 0] * 4)

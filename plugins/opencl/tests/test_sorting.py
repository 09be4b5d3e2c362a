"""What is ordered, and looked up in what is ordered, on every OpenCL device, beside OpenVINO or numpy."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.oracle import Data

NUMBERS = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8,
           np.uint16, np.uint32, np.uint64)  # fmt: skip


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype))


def distinct(*shape, dtype=np.float32):
    count = int(np.prod(shape))
    return Data((np.random.default_rng(1).permutation(count) - 40).astype(dtype).reshape(shape))


def number(value):
    return np.array(value, np.int64)


CASES = [
    *[("topk", 11, distinct(4, 5, 6), number(k), axis, mode, sort)
      for k, axis in ((3, -1), (1, 0), (5, 1)) for mode in ("max", "min") for sort in ("value", "index")],
    ("topk", 3, distinct(4, 5), number(2), 0, "max", "value", "i64"),
    ("topk", 1, distinct(4, 5), number(2), 1, "max", "value"),
    ("topk", 11, distinct(2, 1000), number(700), 1, "min", "value"),
    ("topk", 11, distinct(3, 2000), number(40), 1, "max", "value"),
    ("topk", 11, distinct(3, 2000), number(40), 1, "max", "index"),
    ("topk", 11, distinct(3, 2000), number(1), 1, "max", "index"),
    ("topk", 11, distinct(2000, 3), number(1), 0, "min", "value"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("k", [1, 100])
def test_of_equal_elements_the_first_are_the_best(reference_agrees, dtype, mode, k):
    reference_agrees("topk", random(3, 300, dtype=dtype), number(k), 1, mode, "value", "i64", True, opset=11)


@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("k", [1, 3])
def test_what_is_not_a_number(reference_agrees, mode, k):
    rows = np.float32([[1, np.nan, 2, np.nan, np.inf], [-np.inf, 0, -0.0, 5, np.nan]])
    for dtype in (np.float32, np.float64, np.float16):
        reference_agrees("topk", Data(rows.astype(dtype)), number(k), 1, mode, "value", opset=11)


def test_a_long_row(compute):
    data = np.random.default_rng(5).integers(-500, 500, 200_001).astype(np.int32)
    values, places = compute("topk", (Data(data), number(150_000), 0, "max", "value"), {})
    expected = np.argsort(-data, kind="stable")[:150_000]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, data[expected])

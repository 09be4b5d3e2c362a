"""Pooling of other element types, with indices, and to an output of given size."""

import ml_dtypes
import numpy as np
import pytest

from hetero.system.errors import UnsupportedOperationError
from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)
TYPES = [np.float16, ml_dtypes.bfloat16, np.float64, *(f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8))]
TOLERANCES = {np.float16: 1e-3, ml_dtypes.bfloat16: 8e-3}

each_type = pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)


def numbers(*shape, dtype=np.float32):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return GENERATOR.integers(max(info.min, -(2**30)), min(info.max, 2**30), shape, dtype, endpoint=True)
    return GENERATOR.standard_normal(shape).astype(dtype)


def windows(dimensions, *values):
    return [[value] * dimensions for value in values]


@each_type
@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "avg_pool_of_all"])
def test_types(reference_agrees, name, dtype):
    data, (strides, ones, kernel) = Data(numbers(2, 2, 7, 40, dtype=dtype)), windows(2, 2, 1, 3)
    tolerance = TOLERANCES.get(dtype, 1e-6)
    if name == "max_pool":
        return reference_agrees(name, data, strides, ones, ones, ones, kernel, tolerance=tolerance)
    arguments = (strides, ones, ones, kernel, name == "avg_pool")
    reference_agrees("avg_pool", data, *arguments, tolerance=tolerance)


@pytest.mark.parametrize(
    ("rounding", "axis", "dimensions"),
    [("floor", 0, 1), ("ceil", 0, 2), ("ceil_torch", 1, 3), ("ceil_torch", 2, 2), ("ceil", -1, 3)],
)
def test_indices(openvino_agrees, rounding, axis, dimensions):
    data = GENERATOR.integers(-5, 5, (2, 3, 6, 7, 8)[: 2 + dimensions]).astype(np.float32)
    attributes = windows(dimensions, 2, 2, 1, 1, 3)
    openvino_agrees("max_pool", Data(data), *attributes, rounding, None, "i32", axis, opset=14)


@each_type
def test_indices_of_types(reference_agrees, dtype):
    data, attributes = Data(numbers(2, 3, 9, 11, dtype=dtype)), windows(2, 1, 2, 1, 0, 2)
    reference_agrees("max_pool", data, *attributes, opset=14)


def test_windows_of_padding_only(reference_agrees):
    attributes = windows(2, 1, 1, 3, 3, 2)
    reference_agrees("max_pool", Data(numbers(2, 3, 2, 2)), *attributes, opset=8)


def test_nan_and_infinity(reference_agrees):
    data = numbers(1, 2, 6, 40)
    data[0, 0, 2, 3] = data[0, 1, 4, 20] = np.nan
    data[0, 1, 0:3, 30:] = -np.inf
    reference_agrees("max_pool", Data(data), *windows(2, 1, 1, 1, 3), opset=1)


def test_booleans(reference_agrees, compute):
    """Supported by MaxPool, not by averages."""
    data = Data(GENERATOR.integers(0, 2, (1, 2, 6, 40)).astype(bool))
    reference_agrees("max_pool", data, *windows(2, 2, 1, 1, 3), opset=1)
    for name, arguments in (("avg_pool", (*windows(2, 2, 1, 1, 3), False)), ("adaptive_avg_pool", (np.array([2, 2]),))):
        with pytest.raises(UnsupportedOperationError, match="boolean"):
            compute(name, (data, *arguments), {})


SIZES = [((9,), (4,)), ((9, 10), (4, 5)), ((5, 6, 7), (2, 6, 9)), ((3, 3), (1, 1))]


@pytest.mark.parametrize(("lengths", "size"), SIZES)
def test_adaptive_pooling(openvino_agrees, lengths, size):
    data = Data(GENERATOR.integers(-5, 5, (2, 3, *lengths)).astype(np.float32))
    openvino_agrees("adaptive_avg_pool", data, np.array(size))
    openvino_agrees("adaptive_max_pool", data, np.array(size), "i32")


@each_type
def test_adaptive_pooling_of_types(reference_agrees, dtype):
    data, size = Data(numbers(2, 3, 8, 16, dtype=dtype)), np.array([4, 4])
    reference_agrees("adaptive_avg_pool", data, size, tolerance=TOLERANCES.get(dtype, 1e-6))
    reference_agrees("adaptive_max_pool", data, size)


def test_adaptive_pooling_of_nan(reference_agrees):
    data = numbers(1, 2, 8, 8)
    data[0, 0, 2, 3] = data[0, 1, 4, 5:] = np.nan
    reference_agrees("adaptive_max_pool", Data(data), np.array([3, 3]))

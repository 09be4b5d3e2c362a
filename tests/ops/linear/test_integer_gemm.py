"""Integer gemm is exact for any accumulation type, and wraps around as in numpy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from hetero.graph import Parameter
from hetero.reference import evaluate

rng = np.random.default_rng(4)
# The largest magnitudes: sums of 300 products are exact in f32, in f64 (within i32 and beyond), or in neither.
LARGEST = [
    (np.uint8, 255), (np.int8, 127), (np.int32, 100), (np.int32, 2000), (np.int32, 2**20), (np.int32, 2**31 - 1),
    (np.int64, 2**31), (np.uint64, 2**40),
]  # fmt: skip


def integers(dtype, largest, *shape):
    return rng.integers(0 if np.iinfo(dtype).min == 0 else -largest, largest, shape, dtype, endpoint=True)


def result_of(operation, arrays, **attributes):
    node = operation(*(Parameter(array.dtype, array.shape) for array in arrays), **attributes)
    return evaluate(node, arrays)[0]


@pytest.mark.parametrize(("dtype", "largest"), LARGEST, ids=str)
def test_matrices(dtype, largest):
    a, b = integers(dtype, largest, 2, 3, 300), integers(dtype, largest, 300, 4)
    found = result_of(ops.MatMul, (a, b), transpose_a=False, transpose_b=False)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.matmul(a, b))


@pytest.mark.parametrize(("dtype", "largest"), LARGEST, ids=str)
@pytest.mark.parametrize("channels", [30, 1], ids=["all", "each"])
def test_convolutions(dtype, largest, channels):
    data, filters = integers(dtype, largest, 2, 30, 12), integers(dtype, largest, 30, channels, 10)
    windows = sliding_window_view(data, 10, 2)  # [N, C, 3, 10]
    window = {"strides": [1], "pads_begin": [0], "pads_end": [0], "dilations": [1]}
    if channels == 1:
        found = result_of(ops.GroupConvolution, (data, filters[:, None]), **window)
        expected = np.einsum("ncpk,ck->ncp", windows, filters[:, 0], dtype=dtype)
    else:
        found = result_of(ops.Convolution, (data, filters), **window)
        expected = np.einsum("ncpk,ock->nop", windows, filters, dtype=dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_nothing():
    nothing = np.zeros((2, 0), np.int32), np.zeros((0, 3), np.int32)
    found = result_of(ops.MatMul, nothing, transpose_a=False, transpose_b=False)
    np.testing.assert_array_equal(found, np.zeros((2, 3), np.int32))

"""Reductions on every OpenCL device, beside numpy in 64 bits."""

import numpy as np
import pytest

import hetero
from hetero import opset13
from hetero.graph import Constant, Model, Parameter

core = hetero.Core()

FORMULAS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_l1": lambda x, **where: np.abs(x).sum(**where),
    "reduce_l2": lambda x, **where: np.sqrt(np.square(x).sum(**where)),
}
LOGICAL = {"reduce_logical_and": np.all, "reduce_logical_or": np.any}
# Shape and axes: rows, columns, with tails after vectors, several runs, none, all, and more than can be merged.
SHAPES = [
    ((5, 300), (-1,)),
    ((7, 67), (0,)),
    ((3, 70, 5), (1,)),
    ((2, 40, 7, 9), (2, 3)),
    ((2, 3, 4, 5, 6), (0, 2, 4)),
    ((3, 4, 2, 3, 2, 3, 33), (0, 2, 4, 6)),
    ((2, 3, 4, 2, 2, 3, 2, 17), (0, 2, 4, 6)),
    ((1, 64, 1, 1), (2, 3)),
    ((3, 4), ()),
    ((3, 1, 130), (0, 1, 2)),
]


def reduced(device, name, data, axes, keep_dims=False):
    kind = "boolean" if data.dtype == bool else f"{data.dtype.kind}{data.dtype.itemsize * 8}"
    parameter = Parameter(hetero.Type(kind), data.shape)
    node = getattr(opset13, name)(parameter, Constant(np.array(axes, np.int64)), keep_dims)
    request = core.compile_model(Model([node], [parameter]), device).create_infer_request()
    request.infer([data])
    return request.get_output_tensor(0).data


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_floats(device, name, shape, axes):
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    if name == "reduce_prod":
        data = np.exp(data / 20)
    keep_dims = len(shape) % 2 == 0
    found = reduced(device, name, data, axes, keep_dims)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes, keepdims=keep_dims)
    assert found.dtype == np.float32 and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6 * np.sqrt(data.size / max(found.size, 1)))


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8])
def test_integers(device, name, shape, axes, dtype):
    data = np.random.default_rng(0).integers(-9, 10, shape).astype(dtype)
    expected = FORMULAS[name](data.astype(np.int64), axis=axes)
    if name == "reduce_mean":
        expected = np.trunc(expected)  # towards zero, as in OpenVINO
    np.testing.assert_array_equal(reduced(device, name, data, axes), expected.astype(dtype), strict=True)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_large_integers(device, dtype):
    """What would be wrong in 32-bit floats, or in sums of 32 bits."""
    data = np.array([[2**30 - 1, 2**30 + 1, 2**30, 2**30 + 4]], dtype)
    assert reduced(device, "reduce_mean", data, (1,)) == 2**30 + 1
    assert reduced(device, "reduce_l2", data[:, :1], (1,)) == 2**30 - 1


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", LOGICAL)
def test_booleans(device, name, shape, axes):
    size = max(np.prod([shape[axis] for axis in axes], dtype=int), 1)
    share = 0.5 ** (1 / size)  # so that half of the results are true
    data = np.random.default_rng(0).random(shape) < (share if name == "reduce_logical_and" else 1 - share)
    np.testing.assert_array_equal(reduced(device, name, data, axes), LOGICAL[name](data, axis=axes), strict=True)


@pytest.mark.parametrize("shape, axes", [((3, 50000), (1,)), ((50000, 20), (0,)), ((50000, 3), (0,))])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_l2"])
def test_long_sums_are_accurate(device, name, shape, axes):
    data = np.random.default_rng(0).random(shape, np.float32)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes)
    np.testing.assert_allclose(reduced(device, name, data, axes), expected, rtol=1e-6)


@pytest.mark.parametrize("name, expected", [("reduce_sum", 0), ("reduce_prod", 1), ("reduce_mean", np.nan)])
def test_no_elements(device, name, expected):
    found = reduced(device, name, np.zeros((2, 0), np.float32), (1,))
    np.testing.assert_array_equal(found, np.full(2, expected, np.float32))


@pytest.mark.parametrize(
    "shape, dtype, reason", [((1,) * 9, np.float32, "9 dimensions"), ((3,), np.float16, "type f16")]
)
def test_refusal_says_why(device, shape, dtype, reason):
    with pytest.raises(hetero.HeteroError, match=reason):
        reduced(device, "reduce_sum", np.zeros(shape, dtype), (0,))

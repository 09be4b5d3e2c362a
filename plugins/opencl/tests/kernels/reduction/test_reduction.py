"""Reductions, compared with numpy in double precision."""

import math

import numpy as np
import pytest

import hetero
from hetero import opset13
from hetero.graph import Constant, Model, Parameter
from tests.ops.oracle import Data

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
# Shapes and axes: rows, columns, lengths that are not a multiple of a vector, several groups of axes, none, all.
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


def reduced(compute, name, data, axes, keep_dims=False):
    return compute(name, (Data(data), np.array(axes, np.int64), keep_dims), {})[0]


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_floats(compute, name, shape, axes):
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    if name == "reduce_prod":
        data = np.exp(data / 20)
    keep_dims = len(shape) % 2 == 0
    found = reduced(compute, name, data, axes, keep_dims)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes, keepdims=keep_dims)
    assert found.dtype == np.float32 and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6 * np.sqrt(data.size / max(found.size, 1)))


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(compute, name, shape, axes, dtype):
    data = np.random.default_rng(0).integers(-9, 10, shape).astype(dtype)
    expected = FORMULAS[name](data.astype(np.int64), axis=axes)
    if name == "reduce_mean":
        expected = np.trunc(expected)  # towards zero, as in OpenVINO
    np.testing.assert_array_equal(reduced(compute, name, data, axes), expected.astype(dtype), strict=True)


@pytest.mark.parametrize(
    "dtype, names",
    [
        ("int8", ("reduce_sum", "reduce_mean", "reduce_min", "reduce_l1")),
        ("uint8", ("reduce_prod", "reduce_mean", "reduce_max", "reduce_l2")),
        ("int16", ("reduce_l1", "reduce_max")),
        ("uint16", ("reduce_sum", "reduce_min")),
        ("uint32", ("reduce_mean", "reduce_l1", "reduce_max")),
        ("uint64", ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min")),
        ("int64", ("reduce_mean", "reduce_max", "reduce_min")),
    ],
)
@pytest.mark.parametrize("shape, axes", [((3, 300), (1,)), ((70, 20), (0,)), ((2, 3, 4), ())])
def test_integers_of_all_values(compute, dtype, names, shape, axes):
    """Sums and products wrap around; means do not, although the sums of large numbers would."""
    limits = np.iinfo(dtype)
    data = np.random.default_rng(0).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    for name in names:
        wide = data.astype(object)
        if name == "reduce_mean":
            sums, count = wide.sum(axis=axes), max(data.size // max(wide.sum(axis=axes).size, 1), 1)
            expected = np.vectorize(lambda x, count=count: abs(x) // count * (1 if x > 0 else -1), [object])(sums)
        elif name == "reduce_l2":
            expected = np.vectorize(math.isqrt, [object])(np.square(wide).sum(axis=axes))
        elif name == "reduce_l1":
            expected = np.abs(wide).sum(axis=axes)
        else:
            expected = FORMULAS[name](wide, axis=axes)
        wrapped = (expected % 2 ** (limits.bits)).astype(np.uint64).astype(dtype)
        np.testing.assert_array_equal(reduced(compute, name, data, axes), wrapped, strict=True)


@pytest.mark.parametrize("kind", ["i64", "u64"])
@pytest.mark.parametrize("shape, axes", [((3, 2), (1,)), ((3, 300), (1,)), ((70, 20), (0,)), ((2, 3), ())])
def test_sums_of_squares_beyond_64_bits(compute, kind, shape, axes):
    data = np.random.default_rng(0).integers(2**33, 2**44, shape, hetero.Type(kind).to_dtype())
    expected = np.vectorize(math.isqrt, [object])(np.square(data.astype(object)).sum(axis=axes))
    found = reduced(compute, "reduce_l2", data, axes)
    assert found.dtype == data.dtype
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=0, atol=1)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_l2", "reduce_max"])
@pytest.mark.parametrize("shape, axes", [((3, 1030), (1,)), ((70, 20), (0,)), ((2, 3, 4), (1,)), ((3, 5), ())])
def test_other_floats(compute, kind, name, shape, axes):
    dtype = hetero.Type(kind).to_dtype()
    data = np.random.default_rng(0).normal(3, 1, shape).astype(dtype)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes)
    found = reduced(compute, name, data, axes)
    assert found.dtype == dtype
    tolerance = {"f16": 2**-11, "bf16": 2**-8, "f64": 1e-14}[kind]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1.01 * tolerance)


@pytest.mark.parametrize("name, combine", [("reduce_max", np.max), ("reduce_min", np.min)])
@pytest.mark.parametrize("shape, axis", [((4, 300), 1), ((40, 17), 0), ((6, 3), 0)])
def test_nan_propagates(compute, name, combine, shape, axis):
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    data[0, 1] = data[-1, -1] = data[2, 2] = np.nan
    np.testing.assert_array_equal(reduced(compute, name, data, (axis,)), combine(data, axis=axis))


@pytest.mark.parametrize("shape, axes", SHAPES)
@pytest.mark.parametrize("name", LOGICAL)
def test_booleans(compute, name, shape, axes):
    size = max(np.prod([shape[axis] for axis in axes], dtype=int), 1)
    share = 0.5 ** (1 / size)  # half of the results are true
    data = np.random.default_rng(0).random(shape) < (share if name == "reduce_logical_and" else 1 - share)
    np.testing.assert_array_equal(reduced(compute, name, data, axes), LOGICAL[name](data, axis=axes), strict=True)


@pytest.mark.parametrize("shape, axes", [((3, 50000), (1,)), ((50000, 20), (0,)), ((50000, 3), (0,))])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_l2"])
def test_long_sums_are_accurate(compute, name, shape, axes):
    data = np.random.default_rng(0).random(shape, np.float32)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes)
    np.testing.assert_allclose(reduced(compute, name, data, axes), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["f32", "f16", "i8", "i64", "u64"])
def test_no_elements(compute, kind):
    dtype = hetero.Type(kind).to_dtype()
    limits = np.finfo(np.float32) if kind[0] == "f" else np.iinfo(dtype)
    with np.errstate(over="ignore"):
        largest, smallest = (np.array(limit).astype(dtype) for limit in (limits.max, limits.min))
    expected = {"sum": 0, "prod": 1, "mean": 0, "l1": 0, "l2": 0, "max": smallest, "min": largest}
    for name, value in expected.items():
        found = reduced(compute, f"reduce_{name}", np.zeros((2, 0), dtype), (1,))
        np.testing.assert_array_equal(found, np.full(2, value, dtype), strict=True)
        assert reduced(compute, f"reduce_{name}", np.zeros((2, 0), dtype), (0,)).shape == (0,)


def test_unknown_rank(device):
    parameter = Parameter(hetero.Type.f32, hetero.PartialShape.dynamic())
    node = opset13.reduce_sum(parameter, Constant(np.array([-1])), False)
    request = core.compile_model(Model([node], [parameter]), device).create_infer_request()
    for shape in ((4, 5), (2, 3, 4), (1,) * 8 + (3,)):
        assert (request.infer([np.ones(shape, np.float32)])[0] == shape[-1]).all()


def test_more_axes_than_kernels_support(device):
    parameter = Parameter(hetero.Type.f32, hetero.PartialShape.dynamic())
    node = opset13.reduce_sum(parameter, Constant(np.arange(0, 10, 2)), False)
    request = core.compile_model(Model([node], [parameter]), device).create_infer_request()
    with pytest.raises(hetero.HeteroError, match="8 dimensions, but the data has 10"):
        request.infer([np.ones((2,) * 10, np.float32)])


def test_too_many_dimensions(compute):
    with pytest.raises(hetero.HeteroError, match="9 dimensions"):
        reduced(compute, "reduce_sum", np.zeros((1,) * 9, np.float32), (0,))


# Few long results, which are combined in two launches on GPUs, and short ones that share a work-group.
LONG = [
    ((300007,), (0,)),
    ((3, 2, 40001), (0, 2)),
    ((70001, 3), (0,)),
    ((5, 9001, 5), (0, 2)),
    ((130, 13), (1,)),
    ((33, 21, 40), (1,)),
    ((1, 20, 7, 7), (2, 3)),
]


@pytest.mark.parametrize("shape, axes", LONG)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_l2"])
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "f64"])
def test_long_results_of_floats(compute, name, kind, shape, axes):
    dtype = hetero.Type(kind).to_dtype()
    data = (np.random.default_rng(0).random(shape) / 8).astype(dtype)
    expected = FORMULAS[name](data.astype(np.float64), axis=axes)
    found = reduced(compute, name, data, axes)
    assert found.dtype == dtype and found.shape == expected.shape
    tolerance = {"f32": 5e-7, "f16": 2**-11, "bf16": 2**-8, "f64": 1e-14}[kind]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1.01 * tolerance)


@pytest.mark.parametrize("shape, axes", LONG)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_mean", "reduce_min", "reduce_l1"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64])
def test_long_results_of_integers(compute, name, dtype, shape, axes):
    """Odd numbers, whose products are not 0, and all of whose other results wrap around."""
    limits = np.iinfo(dtype)
    data = np.random.default_rng(0).integers(limits.min, limits.max, shape, dtype) | 1
    if name == "reduce_mean":
        count = data.size // max(data.sum(axis=axes).size, 1)
        sums = data.astype(object).sum(axis=axes)
        expected = np.vectorize(lambda x: abs(x) // count * (1 if x > 0 else -1), [object])(sums).astype(dtype)
    else:
        with np.errstate(over="ignore"):
            combine = {"reduce_prod": np.multiply, "reduce_min": np.minimum}.get(name, np.add)
            terms = np.abs(data) if name == "reduce_l1" else data
            expected = np.asarray(combine.reduce(terms, axis=axes, dtype=dtype))
    np.testing.assert_array_equal(reduced(compute, name, data, axes), expected, strict=True)


@pytest.mark.parametrize("shape, axes", LONG)
def test_long_results_that_are_not_finite(compute, shape, axes):
    data = np.zeros(shape, np.float32)
    data.reshape(-1)[[data.size // 2, -1]] = np.nan, np.inf
    for name, combine in (("reduce_sum", np.sum), ("reduce_max", np.max), ("reduce_min", np.min)):
        np.testing.assert_array_equal(reduced(compute, name, data, axes), combine(data, axis=axes))


@pytest.mark.parametrize("shape, axes", LONG)
def test_long_results_of_booleans(compute, shape, axes):
    data = np.ones(shape, bool)
    data.reshape(-1)[-1] = False
    np.testing.assert_array_equal(reduced(compute, "reduce_logical_and", data, axes), data.all(axes), strict=True)
    np.testing.assert_array_equal(reduced(compute, "reduce_logical_or", ~data, axes), (~data).any(axes), strict=True)

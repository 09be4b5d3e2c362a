"""Softmax and normalizations, compared with formulas in double precision, OpenVINO or the reference."""

import numpy as np
import pytest

import hetero
from hetero import opset13
from hetero.graph import Constant, Model, Parameter
from tests.ops.oracle import Data

core = hetero.Core()

SHAPES = [
    ((5, 7), -1),
    ((3, 100), 1),
    ((4, 1000), -1),
    ((2, 33, 5), 1),
    ((3, 9, 16), 1),
    ((2, 300, 41), 1),
    ((17, 4), 0),
    ((3, 1), 1),
    ((2, 0), 1),
]


def run(compute, name, data, *arguments):
    return compute(name, (Data(data), *arguments), {})[0]


def softmax(data, axis):
    power = np.exp(data.astype(np.float64) - data.max(axis, keepdims=True, initial=-1e4))
    return power / power.sum(axis, keepdims=True)


def normal(shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("shift", [0, 1000, -1000])
def test_softmax(compute, shape, axis, shift):
    data = 5 * normal(shape) + np.float32(shift)
    expected = softmax(data, axis)
    np.testing.assert_allclose(run(compute, "softmax", data, axis), expected, rtol=5e-6, atol=1e-30)
    np.testing.assert_allclose(run(compute, "log_softmax", data, axis), np.log(expected), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("shape, axis", [((3, 40), 1), ((40, 3), 0), ((40, 21), 0)])
def test_softmax_of_masked_numbers(compute, shape, axis):
    data = normal(shape)
    np.moveaxis(data, axis, -1)[:, ::3] = -np.inf
    expected = softmax(data, axis)
    np.testing.assert_allclose(run(compute, "softmax", data, axis), expected, rtol=2e-6)
    with np.errstate(divide="ignore"):
        logarithm = np.log(expected)
    np.testing.assert_allclose(run(compute, "log_softmax", data, axis), logarithm, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    "shape, axes", [((2, 3, 4, 5), (2, 3)), ((4, 100), (-1,)), ((2, 3, 33), (2, 1)), ((50,), (0,))]
)
@pytest.mark.parametrize("eps, mode", [(1e-5, "inside_sqrt"), (0.5, "inside_sqrt"), (0.5, "outside_sqrt")])
@pytest.mark.parametrize("normalize", [True, False])
def test_mvn(compute, shape, axes, eps, mode, normalize):
    data = normal(shape) + np.float32(3)
    expected = data.astype(np.float64)
    expected = expected - expected.mean(axes, keepdims=True)
    if normalize:
        variance = np.square(expected).mean(axes, keepdims=True)
        expected /= np.sqrt(variance + eps) if mode == "inside_sqrt" else np.sqrt(variance) + eps
    found = run(compute, "mvn", data, np.array(axes, np.int64), normalize, eps, mode)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


# The last axes, the first, inner ones, adjacent or not, all, and none; short and long rows.
AXES = [
    ((3, 40), (1,)),
    ((3, 7, 20), (1,)),
    ((40, 3), (0,)),
    ((2, 30, 3, 25), (1, 3)),
    ((2, 3, 40, 2), (2, 1)),
    ((2, 3, 2, 4, 3, 2), (0, 2, 4)),
    ((70, 30), (0, 1)),
    ((5, 6), ()),
]


@pytest.mark.parametrize("shape, axes", AXES)
def test_along_any_axes(reference_agrees, shape, axes):
    data, axes = Data(normal(shape) + np.float32(1)), np.array(axes, np.int64)
    reference_agrees("mvn", data, axes, True, 1e-5, "inside_sqrt")
    reference_agrees("normalize_l2", data, axes, 0.1, "add")
    reference_agrees("normalize_l2", data, axes, 40.0, "max")
    reference_agrees("lrn", data, axes, 0.3, 0.7, 2.0, 4)


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 5), (3, 6, 4, 9), (1, 6, 40, 20)])
def test_of_channels(openvino_agrees, shape):
    data, (scale, bias, mean) = Data(normal(shape) + np.float32(1)), normal((3, shape[1]))
    for groups in (1, 3, 6):
        openvino_agrees("group_normalization", data, Data(scale), Data(bias), groups, 1e-3)
    openvino_agrees("batch_norm_inference", data, *map(Data, (scale, bias, mean, np.abs(bias))), 1e-3)
    for size in (1, 3, 5):
        openvino_agrees("lrn", data, np.array([1]), 0.5, 0.75, 1.0, size)  # OpenVINO ignores the bias, as if it were 1
    for across in (False, True):
        openvino_agrees("mvn", data, across, True, 1e-3, opset=2)
    openvino_agrees("grn", data, 0.3, opset=1)


@pytest.mark.parametrize("kind, tolerance", [("f16", 6e-4), ("bf16", 5e-3), ("f64", 1e-13)])
@pytest.mark.parametrize("shape", [(3, 130), (2, 6, 17)])
def test_other_types(reference_agrees, kind, tolerance, shape):
    dtype = hetero.Type(kind).to_dtype()
    data, axes = Data((normal(shape) + 1).astype(dtype)), np.array([1])
    vectors = [Data(x.astype(dtype)) for x in (*normal((3, shape[1])), np.arange(shape[1]))]
    for axis in (0, 1):
        reference_agrees("softmax", data, axis, tolerance=tolerance)
        reference_agrees("log_softmax", data, axis, tolerance=tolerance)
    reference_agrees("mvn", data, axes, True, 1e-5, "outside_sqrt", tolerance=tolerance)
    reference_agrees("normalize_l2", data, axes, 1e-5, "max", tolerance=tolerance)
    reference_agrees("lrn", data, axes, tolerance=tolerance)
    reference_agrees("group_normalization", data, *vectors[:2], 2, 1e-5, tolerance=tolerance)
    reference_agrees("batch_norm_inference", data, *vectors, 1e-5, tolerance=tolerance)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0)])
def test_no_elements(reference_agrees, shape):
    data, axes, ones = Data(np.zeros(shape, np.float32)), np.array([1]), np.ones(4, np.float32)
    reference_agrees("softmax", data, 1)
    reference_agrees("mvn", data, axes, True, 1e-5, "inside_sqrt")
    reference_agrees("normalize_l2", data, axes, 0.1, "add")
    reference_agrees("lrn", data, axes)
    reference_agrees("group_normalization", data, ones, ones, 2, 0.1)
    reference_agrees("batch_norm_inference", data, Data(ones), Data(ones), Data(ones), Data(ones), 0.1)


def test_far_from_zero(compute):
    """A variance computed as the mean of squares minus the squared mean would be lost in rounding."""
    data = normal((2, 20000)) + np.float32(1000)
    found = run(compute, "mvn", data, np.array([1]), True, 1e-6, "inside_sqrt")
    exact = data.astype(np.float64)
    expected = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_unknown_rank(device):
    parameter = Parameter(hetero.Type.f32, hetero.PartialShape.dynamic())
    nodes = [
        opset13.softmax(parameter, -1),
        opset13.mvn(parameter, Constant(np.array([-1])), True, 1e-6, "inside_sqrt"),
        opset13.normalize_l2(parameter, Constant(np.array([-1])), 1e-6, "add"),
    ]
    request = core.compile_model(Model(nodes, [parameter]), device).create_infer_request()
    for shape in ((4, 5), (2, 3, 4)):
        of_rows = request.infer([np.ones(shape, np.float32)]).to_tuple()
        expected = [1 / shape[-1], 0, shape[-1] ** -0.5]
        for found, value in zip(of_rows, expected, strict=True):
            np.testing.assert_allclose(found, np.full(shape, value), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name, arguments, reason",
    [("mvn", (np.array([2]), True, 0.1, "inside_sqrt"), "of type i32"), ("softmax", (1,), "i32")],
)
def test_unsupported_types(compute, name, arguments, reason):
    with pytest.raises(hetero.HeteroError, match=reason):
        run(compute, name, np.zeros((2, 3, 4), np.int32), *arguments)


# Few long rows, which are split into parts on GPUs, and short ones that share a work-group.
LONG = [
    ((2, 70001), 1),
    ((120000,), 0),
    ((60001, 3), 0),
    ((130, 11), 1),
    ((2, 130, 19), 1),
    ((3, 1), 1),
    ((40, 129), 1),
]


@pytest.mark.parametrize("kind, tolerance", [("f32", 2e-6), ("f16", 6e-4), ("bf16", 5e-3), ("f64", 1e-13)])
@pytest.mark.parametrize("shape, axis", LONG)
def test_softmax_of_long_rows(compute, shape, axis, kind, tolerance):
    dtype = hetero.Type(kind).to_dtype()
    data = (3 * normal(shape)).astype(dtype)
    data.reshape(-1)[::7] = -np.inf
    expected = softmax(data.astype(np.float64), axis)
    found = run(compute, "softmax", data, axis)
    assert found.dtype == dtype
    smallest = 1e-7 if kind == "f16" else 1e-30  # f16 has none below 6e-8
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=smallest)
    with np.errstate(divide="ignore"):
        logarithm = np.log(expected)
    found = run(compute, "log_softmax", data, axis).astype(np.float64)
    np.testing.assert_allclose(found, logarithm, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("length", [30, 70001])
def test_softmax_of_rows_that_are_not_finite(compute, value, length):
    """Such a row, and one without a finite number, is NaN as a whole; others are not."""
    data = normal((4, length))
    data[1, length // 2] = value
    data[2] = -np.inf
    data[3, : length - 1] = -np.inf
    found = run(compute, "softmax", data, 1)
    assert np.isnan(found[1:3]).any(axis=1).all()
    np.testing.assert_allclose(found[0], softmax(data[0], 0), rtol=5e-6)
    np.testing.assert_array_equal(found[3], np.arange(length) == length - 1)
    if np.isnan(value):
        assert np.isnan(found[1:3]).all()


@pytest.mark.parametrize("kind, tolerance", [("f32", 1e-5), ("f16", 6e-4), ("bf16", 5e-3), ("f64", 1e-13)])
@pytest.mark.parametrize(
    "shape, axes", [((2, 70001), (1,)), ((60001, 3), (0,)), ((3, 2, 40001), (0, 2)), ((130, 11), (1,)), ((3, 1), (1,))]
)
def test_long_rows(reference_agrees, shape, axes, kind, tolerance):
    data, axes = Data((normal(shape) + 1).astype(hetero.Type(kind).to_dtype())), np.array(axes, np.int64)
    reference_agrees("mvn", data, axes, True, 1e-3, "inside_sqrt", tolerance=tolerance)
    reference_agrees("mvn", data, axes, False, 1e-3, "inside_sqrt", tolerance=tolerance)
    reference_agrees("normalize_l2", data, axes, 0.1, "add", tolerance=tolerance)


def test_long_rows_of_channels(openvino_agrees):
    data, (scale, bias) = Data(normal((1, 6, 210, 190)) + np.float32(1)), normal((2, 6))
    for groups in (1, 3):
        openvino_agrees("group_normalization", data, Data(scale), Data(bias), groups, 1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("length", [40, 140000])
def test_normalization_of_numbers_that_are_not_finite(compute, value, length):
    """Only the row of the number has results that are not finite."""
    data = normal((2, length))
    data[1, length // 2] = value
    found = run(compute, "mvn", data, np.array([1]), True, 1e-3, "inside_sqrt")
    assert np.isnan(found[1]).all() and np.isfinite(found[0]).all()

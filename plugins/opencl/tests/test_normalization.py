"""Softmax, its logarithm and MVN on every OpenCL device, beside their formulas in 64 bits."""

import numpy as np
import pytest

import hetero
from hetero import opset13
from hetero.graph import Constant, Model, Parameter

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


def run(device, name, data, *arguments):
    parameter = Parameter(hetero.Type("f32" if data.dtype == np.float32 else "i32"), data.shape)
    inputs = [Constant(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    node = getattr(opset13, name)(parameter, *inputs)
    request = core.compile_model(Model([node], [parameter]), device).create_infer_request()
    request.infer([data])
    return request.get_output_tensor(0).data


def softmax(data, axis):
    power = np.exp(data.astype(np.float64) - data.max(axis, keepdims=True, initial=-1e4))
    return power / power.sum(axis, keepdims=True)


def normal(shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("shift", [0, 1000, -1000])
def test_softmax(device, shape, axis, shift):
    data = 5 * normal(shape) + np.float32(shift)
    expected = softmax(data, axis)
    np.testing.assert_allclose(run(device, "softmax", data, axis), expected, rtol=5e-6, atol=1e-30)
    np.testing.assert_allclose(run(device, "log_softmax", data, axis), np.log(expected), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("shape, axis", [((3, 40), 1), ((40, 3), 0), ((40, 21), 0)])
def test_softmax_of_masked_numbers(device, shape, axis):
    data = normal(shape)
    np.moveaxis(data, axis, -1)[:, ::3] = -np.inf
    expected = softmax(data, axis)
    np.testing.assert_allclose(run(device, "softmax", data, axis), expected, rtol=2e-6)
    with np.errstate(divide="ignore"):
        logarithm = np.log(expected)
    np.testing.assert_allclose(run(device, "log_softmax", data, axis), logarithm, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    "shape, axes", [((2, 3, 4, 5), (2, 3)), ((4, 100), (-1,)), ((2, 3, 33), (2, 1)), ((50,), (0,))]
)
@pytest.mark.parametrize("eps, mode", [(1e-5, "inside_sqrt"), (0.5, "inside_sqrt"), (0.5, "outside_sqrt")])
@pytest.mark.parametrize("normalize", [True, False])
def test_mvn(device, shape, axes, eps, mode, normalize):
    data = normal(shape) + np.float32(3)
    expected = data.astype(np.float64)
    expected = expected - expected.mean(axes, keepdims=True)
    if normalize:
        variance = np.square(expected).mean(axes, keepdims=True)
        expected /= np.sqrt(variance + eps) if mode == "inside_sqrt" else np.sqrt(variance) + eps
    found = run(device, "mvn", data, np.array(axes, np.int64), normalize, eps, mode)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    "name, dtype, arguments, reason",
    [
        ("mvn", np.float32, (np.array([1]), True, 0.1, "inside_sqrt"), r"\[1\] are not the last ones of 3"),
        ("mvn", np.int32, (np.array([2]), True, 0.1, "inside_sqrt"), "of type i32"),
        ("softmax", np.int32, (1,), "i32"),
    ],
)
def test_refusal_says_why(device, name, dtype, arguments, reason):
    with pytest.raises(hetero.HeteroError, match=reason):
        run(device, name, np.zeros((2, 3, 4), dtype), *arguments)

"""CumSum and CumProd, compared with OpenVINO or the reference."""

import numpy as np
import pytest

import hetero
from hetero import ops, opset13
from hetero.graph import Constant, Model, Parameter
from tests.ops.oracle import Data

MODES = [(False, False), (True, False), (False, True), (True, True)]
# Short rows, and long ones that are split into parts of which the last is shorter.
SHAPES = [((7,), 0), ((2, 3, 5), 1), ((3, 1000), -1), ((1500, 2), 0), ((4000, 9), 1), ((2, 0, 3), 2), ((), 0)]
SHAPES += [((2, 30011), 1), ((9001, 3), 0), ((3, 1), 1), ((4, 1025), 1)]


def numbers(shape, kind, seed=0):
    dtype, random = hetero.Type(kind).to_dtype(), np.random.default_rng(seed)
    if kind[0] in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.asarray(random.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("exclusive, reverse", MODES)
@pytest.mark.parametrize("shape, axis", [case for case in SHAPES if case[0]])
def test_sums(openvino_agrees, shape, axis, exclusive, reverse):
    openvino_agrees("cumsum", Data(numbers(shape, "f32")), np.array(axis), exclusive, reverse)


@pytest.mark.parametrize("exclusive, reverse", MODES)
@pytest.mark.parametrize("shape, axis", SHAPES)
def test_products(run, shape, axis, exclusive, reverse):
    """Numbers near 1. OpenVINO has no CumProd."""
    data = np.exp(numbers(shape, "f32") / 50)
    parameter = Parameter(hetero.Type.f32, shape)
    node = ops.CumProd(parameter, Constant(np.array(axis)), exclusive=exclusive, reverse=reverse)
    (found,) = run([node], [parameter], [data])
    (expected,) = hetero.reference.evaluate(node, [data.astype(np.float64), np.array(axis)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, strict=False)
    assert found.shape == expected.shape


@pytest.mark.parametrize("kind", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f64"])
@pytest.mark.parametrize("shape, axis", [((5, 20), 1), ((700,), 0), ((2, 5003), 1)])
def test_other_types(reference_agrees, kind, shape, axis):
    """Integers wrap around."""
    tolerance = {"f16": 5e-4, "bf16": 4e-3, "f64": 1e-13}.get(kind, 0)
    reference_agrees("cumsum", Data(numbers(shape, kind)), np.array([axis]), True, True, tolerance=tolerance)


def test_a_long_sum_is_accurate(device):
    data = np.random.default_rng(0).random((1, 100000), np.float32)
    parameter = Parameter(hetero.Type.f32, data.shape)
    model = Model([opset13.cumsum(parameter, Constant(np.array(1)))], [parameter])
    request = hetero.Core().compile_model(model, device).create_infer_request()
    np.testing.assert_allclose(request.infer([data])[0], data.cumsum(1, np.float64), rtol=2e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_numbers_that_are_not_finite(reference_agrees, reverse):
    """All sums after the number are not finite, and none before it."""
    data = np.ones((3, 9000), np.float32)
    data[0, 5000], data[1, 3] = np.nan, np.inf
    reference_agrees("cumsum", Data(data), np.array(1), False, reverse)

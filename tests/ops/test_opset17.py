"""The operations of opset17, on each device."""

import math

import numpy as np
import openvino
import pytest

import hetero
from hetero import Core, Model, Type, opset17
from hetero.graph import Constant, Parameter
from hetero.system.errors import GraphError
from tests.devices import GPUS

DEVICES = ["TEMPLATE", *GPUS]
RNG = np.random.default_rng(0)


def refined(x, guess):
    """Return the inverse of erf at x by Newton's method from a guess, in f64 with the C library's erfc."""
    if abs(x) >= 1:
        return np.copysign(np.inf, x) if abs(x) == 1 else np.nan
    y = abs(guess)
    for _ in range(4):
        y += (math.erfc(y) - (1 - abs(x))) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return math.copysign(y, x)


def run(device, node, parameters, inputs):
    return Core().compile_model(Model([node], parameters), device)(inputs)[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-3), (np.float32, 2e-6), (np.float64, 1e-14)])
def test_erfinv(device, dtype, tolerance):
    x = np.concatenate([[-1, 1, 0, 2, -0.85, 0.999, 0.01], RNG.uniform(-1, 1, 200)]).astype(dtype)
    x = np.append(x, np.nextafter(dtype(1), dtype(0)))
    node = Parameter(dtype, [len(x)])
    result = run(device, opset17.erfinv(node), [node], [x])
    assert result.dtype == dtype
    expected = [refined(float(value), float(guess)) for value, guess in zip(x, result)]
    np.testing.assert_allclose(result, expected, tolerance, 1e-30)


def test_erfinv_is_openvinos():
    x = np.linspace(-0.999, 0.999, 100, dtype=np.float32)
    theirs = openvino.opset1.parameter([100], np.float32)
    model = openvino.Model([openvino.opset17.erfinv(theirs)], [theirs])
    expected = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    node = Parameter(np.float32, [100])
    np.testing.assert_allclose(run("TEMPLATE", opset17.erfinv(node), [node], [x]), expected, 3e-3)


def grouped(a, b, ends):
    """Return the products of the groups of rows, each with its transposed matrix."""
    result = np.zeros([len(a), b.shape[1]], a.dtype)
    for begin, end, matrix in zip([0, *ends], ends, b):
        result[begin:end] = a[begin:end] @ matrix.T
    return result


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ends", [[2, 3, 6], [0, 0, 6], [1, 4, 4], [2, 2, 2]])
def test_grouped_matmul_with_offsets(device, ends):
    a, b = RNG.standard_normal([6, 4]).astype(np.float32), RNG.standard_normal([3, 5, 4]).astype(np.float32)
    parameters = [Parameter(np.float32, [6, 4]), Parameter(np.float32, [3, 5, 4]), Parameter(np.int64, [3])]
    result = run(device, opset17.grouped_matmul(*parameters), parameters, [a, b, np.array(ends)])
    np.testing.assert_allclose(result, grouped(a, b, ends), 1e-5, 1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_grouped_matmul_of_equal_groups(device, dtype):
    a, b = (RNG.integers(-4, 5, shape).astype(dtype) for shape in ([3, 2, 4], [3, 5, 4]))
    node = Parameter(dtype, [3, 2, 4])
    result = run(device, opset17.grouped_matmul(node, Constant(b)), [node], [a])
    np.testing.assert_array_equal(result, a @ b.swapaxes(1, 2))


SHAPES = [
    ([3, 2, 4], [3, 5, 4], None), ([6, 4], [3, 5, 4], 3), ([-1, 4], [3, 5, 4], 3), ([-1, -1], [-1, -1, -1], -1),
    ([-1, -1, -1], [-1, 3, -1], None), ([-1, 2, 4], [3, 5, -1], 3),
]  # fmt: skip
BAD = [
    ([6, 4], [3, 5, 4], None, "f32"), ([6, 4], [3, 5, 3], 3, "f32"), ([6, 4], [5, 4], 3, "f32"),
    ([3, 2, 4], [2, 5, 4], None, "f32"), ([3, 2, 4], [3, 5, 4], None, "f16"), ([4], [3, 5, 4], 3, "f32"),
]  # fmt: skip


def make(ov, a, b, groups, kind="f32"):
    ops = ov.opset13
    inputs = [ops.parameter(a, ov.Type.f32), ops.parameter(b, getattr(ov.Type, kind))]
    if groups is not None:
        inputs.append(ops.parameter([groups], ov.Type.i32))
    return ov.opset17.grouped_matmul(*inputs)


@pytest.mark.parametrize(("a", "b", "groups"), SHAPES)
def test_shapes_of_grouped_matmul(a, b, groups):
    mine, theirs = make(hetero, a, b, groups), make(openvino, a, b, groups)
    assert str(mine.get_output_partial_shape(0)) == str(theirs.get_output_partial_shape(0))
    assert mine.get_output_element_type(0) is Type.f32


@pytest.mark.parametrize(("a", "b", "groups", "kind"), BAD)
def test_bad_grouped_matmuls(a, b, groups, kind):
    with pytest.raises(RuntimeError):
        make(openvino, a, b, groups, kind)
    with pytest.raises(GraphError):
        make(hetero, a, b, groups, kind)

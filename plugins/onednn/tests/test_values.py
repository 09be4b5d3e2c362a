"""Device ONEDNN: results that depend on oneDNN's implementation, against formulas of numpy.

``test_instruction_sets.py`` runs this file once for each set of instructions, since each has its own implementations.
"""

import math
from itertools import permutations

import numpy as np
import pytest
from hetero_onednn.library.api import effective_isa

from hetero import Core, Model, Parameter, Type, ops

CORE = Core()
rng = np.random.default_rng(7)


def run(build, *arrays):
    """Return the results of an operation on f32 inputs."""
    parameters = [Parameter(Type.f32, array.shape) for array in arrays]
    node = build(*parameters)
    return list(CORE.compile_model(Model(node.outputs(), parameters), "ONEDNN")(list(arrays)).values())


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("operation", [(ops.Multiply, np.multiply), (ops.Add, np.add)], ids=["multiply", "add"])
@pytest.mark.parametrize("shape", [(2, 1, 2, 8), (4, 1, 3, 16), (1, 5, 1, 8), (3, 1, 1, 5), (17, 1, 8)], ids=str)
def test_moved_axes_of_length_1(operation, shape):
    """Axes of length 1 may have any strides; a primitive that takes them for large ones writes nothing."""
    make, formula = operation
    x = numbers(*shape)
    for order in permutations(range(len(shape))):
        moved = x.transpose(order)
        for keep in rng.integers(1 << len(shape), size=3):
            other = numbers(*(length if keep >> axis & 1 else 1 for axis, length in enumerate(moved.shape)))
            (found,) = run(lambda a, b, order=order: make(ops.Transpose(a, np.int64(order)), b), x, other)
            np.testing.assert_allclose(found, formula(moved, other), rtol=1e-6, err_msg=f"{order}, {other.shape}")


def test_reshape_to_axes_of_length_1():
    x, y = numbers(2, 16), numbers(2, 1, 1, 8)
    (found,) = run(lambda a, b: ops.Multiply(ops.Reshape(a, np.int64([2, 2, 1, 8]), False), b), x, y)
    np.testing.assert_allclose(found, x.reshape(2, 2, 1, 8) * y, rtol=1e-6)


@pytest.mark.parametrize(
    ("channels", "results", "size", "taps", "stride"),
    [(64, 64, 9, 4, 2), (512, 64, 28, 4, 2), (512, 16, 6, 9, 3), (1024, 32, 7, 2, 2)],
)
def test_strided_transposed_convolution(channels, results, size, taps, stride):
    """Bias and Relu after sums that are added up in several parts, which is so from some hundred channels on."""
    x, filters = numbers(1, channels, size, size), numbers(channels, results, taps, taps)
    bias, length = numbers(1, results, 1, 1), (size - 1) * stride + taps
    sums = np.zeros((1, results, length, length))
    products = np.einsum("nihw,iokl->nohwkl", x, filters, optimize=True)
    for i in range(taps):
        for j in range(taps):
            sums[:, :, i : i + stride * size : stride, j : j + stride * size : stride] += products[..., i, j]

    def convolution(a):
        return ops.ConvolutionBackpropData(
            a, filters, strides=[stride] * 2, pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1]
        )

    tolerance = {"atol": 1e-5 * math.sqrt(channels) * taps}
    for build, expected in (
        (convolution, sums),
        (lambda a: ops.Add(convolution(a), bias), sums + bias),
        (lambda a: ops.Relu(convolution(a)), np.maximum(sums, 0)),
        (lambda a: ops.Relu(ops.Add(convolution(a), bias)), np.maximum(sums + bias, 0)),
    ):
        np.testing.assert_allclose(run(build, x)[0], expected, **tolerance)


def implementations(build, *arrays):
    """Return the implementations of the primitives of an operation on f32 inputs."""
    parameters = [Parameter(Type.f32, array.shape) for array in arrays]
    compiled = CORE.compile_model(Model(build(*parameters).outputs(), parameters), "ONEDNN", {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    request.infer(list(arrays))
    return [info.exec_type for info in request.get_profiling_info() if info.node_type not in ("Stage", "reorder")]


@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 33, 64), (1, 1, 384), (4, 16)], ids=str)
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("affine", ["scale", "shift", "scale and shift", "shift and scale"])
def test_normalization_with_scale_and_shift(shape, axes, affine):
    x, mask = 2 + 3 * numbers(*shape), numbers(*shape[:-1], 1)
    scale, shift = numbers(*shape[-axes:]), numbers(*shape[-axes:])
    last = tuple(range(-axes, 0))
    expected = (x - x.mean(last, keepdims=True)) / np.sqrt(x.var(last, keepdims=True) + 1e-5)
    for part in affine.split(" and "):
        expected = expected * scale if part == "scale" else expected + shift

    def build(a, mask):
        node = ops.MVN(a, np.int64(last), True, 1e-5, "inside_sqrt")
        for part in affine.split(" and "):
            node = ops.Multiply(scale, node) if part == "scale" else ops.Add(node, shift)
        return ops.Multiply(ops.Relu(node), mask)

    np.testing.assert_allclose(run(build, x, mask)[0], np.maximum(expected, 0) * mask, rtol=1e-4, atol=1e-5)
    if affine == "scale and shift" and axes == 1:
        assert len(implementations(lambda a: build(a, mask).input_value(0).node.input_value(0).node, x)) == 1


def test_vectors_along_two_axes():
    x, rows, columns = numbers(1, 24, 64), numbers(1, 24, 1), numbers(64)

    def build(a, rows):
        return ops.Multiply(ops.Add(ops.Multiply(a, columns), columns), rows)

    np.testing.assert_allclose(run(build, x, rows)[0], (x * columns + columns) * rows, rtol=1e-5, atol=1e-6)
    assert not [name for name in implementations(build, x, rows) if name.startswith("ref")]


def gelu(x):
    return 0.5 * x * np.vectorize(math.erfc)(-x / math.sqrt(2))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# oneDNN's exponential is less exact on processors without AVX2, which have no fused multiplication and addition.
EXP_UNITS = 7 if effective_isa() & 4 else 80
# How to build an operation, its formula, the largest error in units in the last place, and the largest error that is
# allowed instead: docs/troubleshooting.md has these numbers.
FUNCTIONS = {
    "Log": (ops.Log, np.log, 4, 0),
    "Exp": (ops.Exp, np.exp, EXP_UNITS, 2e-38),
    "Sqrt": (ops.Sqrt, np.sqrt, 1, 0),
    "Tanh": (ops.Tanh, np.tanh, 4, 0),
    "Sigmoid": (ops.Sigmoid, sigmoid, EXP_UNITS, 2e-38),
    "Erf": (ops.Erf, np.vectorize(math.erf), 4, 0),
    "Power": (lambda x: ops.Power(x, np.float32(1.7)), lambda x: np.power(x, float(np.float32(1.7))), 16, 1e-37),
    "square": (lambda x: ops.Power(x, np.float32(2)), np.square, 1, 1e-37),
    "Elu": (lambda x: ops.Elu(x, 1.0), lambda x: np.where(x > 0, x, np.expm1(x)), 4, 2e-7),
    "Gelu": (lambda x: ops.Gelu(x, "erf"), gelu, 6, 1e-6),
    "Swish": (ops.Swish, lambda x: x * sigmoid(x), 4, 2e-7),
    "Mish": (ops.Mish, lambda x: x * np.tanh(np.logaddexp(0, x)), 4, 2e-6),
    "HSwish": (ops.HSwish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 4, 4e-7),
    "HSigmoid": (ops.HSigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1), 4, 1e-7),
    "LogSoftmax": (
        lambda x: ops.LogSoftmax(x, 0), lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum()), 4, 4e-6,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_precision(name):
    """Near special points, at all magnitudes, and in between."""
    build, formula, units, least = FUNCTIONS[name]
    special = np.float32([0.125, 0.25, 0.5, 1, 2, 3, 4, 8, 9, 20, 80, 86, 87, 88, 1e-3, 1e-6, 1e-20, 1e-37])
    around = (special.view(np.int32)[:, None] + np.arange(-50, 50, dtype=np.int32)).view(np.float32).reshape(-1)
    x = np.concatenate([around, -around, rng.uniform(-10, 10, 5000), rng.uniform(-88, 88, 2000)]).astype(np.float32)
    x = np.concatenate([x, np.geomspace(1e-37, 1e37, 5000, dtype=np.float32) if name in ("Log", "Sqrt") else x[:1]])
    (found,) = run(build, x)
    expected = formula(x.astype(np.float64))
    allowed = np.maximum(units * np.spacing(np.abs(expected.astype(np.float32))), least)
    wrong = ~(np.abs(found - expected) <= allowed) & ~(np.isnan(found) & np.isnan(expected))
    assert not wrong.any(), list(zip(x[wrong], found[wrong], expected[wrong]))[:5]

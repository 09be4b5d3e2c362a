"""Device ONEDNN: results that depend on oneDNN's implementation, against formulas of numpy.

``test_instruction_sets.py`` runs this file once for each set of instructions, since each has its own implementations.
"""

import math
from itertools import permutations

import numpy as np
import pytest

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

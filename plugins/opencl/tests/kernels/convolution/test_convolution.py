"""Convolutions, compared with OpenVINO: strides, pads, dilations, groups, one and two dimensions, and biases."""

import numpy as np
import openvino
import pytest
from openvino import opset13

from hetero import Constant, Parameter, Type, ops
from tests.ops import oracle
from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


# Image, filters, strides, pads_begin, pads_end, dilations, auto_pad.
DENSE = [
    ((1, 3, 9, 11), (5, 3, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1], "explicit"),
    ((2, 3, 9, 11), (5, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "explicit"),
    ((1, 16, 7, 7), (32, 16, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "explicit"),
    ((1, 16, 6, 6), (13, 16, 1, 1), [2, 2], [0, 0], [0, 0], [1, 1], "explicit"),
    ((1, 16, 6, 6), (24, 16, 1, 1), [1, 1], [0, 0], [2, 0], [1, 1], "explicit"),
    ((2, 20, 6, 9), (24, 20, 1, 1), [2, 2], [0, 0], [0, 0], [1, 1], "explicit"),
    ((2, 4, 10, 9), (6, 4, 5, 3), [2, 3], [2, 0], [1, 2], [1, 1], "explicit"),
    ((1, 4, 12, 12), (6, 4, 3, 3), [1, 1], [2, 2], [2, 2], [2, 2], "explicit"),
    ((1, 4, 12, 12), (6, 4, 3, 2), [2, 1], [0, 4], [3, 0], [3, 2], "explicit"),
    ((1, 3, 8, 9), (4, 3, 3, 4), [1, 1], [0, 0], [0, 0], [1, 1], "same_upper"),
    ((1, 3, 8, 9), (4, 3, 3, 4), [2, 2], [0, 0], [0, 0], [1, 1], "same_lower"),
    ((1, 3, 8, 9), (4, 3, 3, 4), [1, 2], [1, 1], [1, 1], [1, 1], "valid"),
    ((3, 4, 17), (6, 4, 5), [2], [1], [2], [2], "explicit"),
    ((1, 5, 3, 3), (7, 5, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1], "explicit"),
    ((1, 1, 40, 50), (3, 1, 7, 7), [2, 2], [3, 3], [3, 3], [1, 1], "explicit"),
    ((1, 2, 3, 3), (2, 2, 3, 3), [1, 1], [5, 5], [5, 5], [1, 1], "explicit"),
]
GROUPED = [
    ((2, 6, 8, 9), (6, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "explicit"),
    ((1, 6, 8, 9), (6, 2, 1, 3, 5), [2, 2], [1, 2], [1, 2], [1, 1], "explicit"),
    ((1, 6, 30, 41), (6, 1, 1, 5, 5), [2, 1], [2, 2], [2, 2], [1, 2], "explicit"),
    ((1, 3, 20, 70), (3, 1, 1, 3, 3), [3, 3], [0, 0], [0, 0], [1, 1], "explicit"),
    ((1, 3, 20, 20), (3, 1, 1, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1], "explicit"),
    ((2, 6, 8, 9), (2, 4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "explicit"),
    ((2, 6, 8, 9), (3, 5, 2, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1], "explicit"),
    ((1, 4, 20), (4, 1, 1, 4), [2], [1], [1], [1], "explicit"),
    ((1, 4, 8, 8), (1, 6, 4, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "same_upper"),
    ((1, 1, 8, 8), (1, 3, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], "explicit"),
]


@pytest.mark.parametrize(("image", "filters", "strides", "begin", "end", "dilations", "auto_pad"), DENSE)
def test_dense(openvino_agrees, image, filters, strides, begin, end, dilations, auto_pad):
    arguments = (strides, begin, end, dilations, auto_pad)
    openvino_agrees("convolution", Data(numbers(*image)), numbers(*filters), *arguments)


@pytest.mark.parametrize(("image", "filters", "strides", "begin", "end", "dilations", "auto_pad"), GROUPED)
def test_grouped(openvino_agrees, image, filters, strides, begin, end, dilations, auto_pad):
    arguments = (strides, begin, end, dilations, auto_pad)
    openvino_agrees("group_convolution", Data(numbers(*image)), numbers(*filters), *arguments)


@pytest.mark.parametrize(
    ("name", "image", "filters", "strides", "keywords"),
    [
        ("convolution_backprop_data", (1, 3, 5, 6), (3, 4, 2, 2), [2, 2], {}),
        ("convolution_backprop_data", (2, 3, 5, 6), (3, 4, 3, 4), [2, 3], {"pads_begin": [1, 0], "pads_end": [0, 2]}),
        ("convolution_backprop_data", (1, 3, 5, 6), (3, 4, 3, 3), [2, 2],
         {"pads_begin": [1, 1], "pads_end": [1, 1], "output_padding": [1, 1]}),
        ("convolution_backprop_data", (1, 3, 5, 6), (3, 4, 3, 3), [1, 1], {"dilations": [2, 2]}),
        ("convolution_backprop_data", (1, 3, 5, 6), (3, 4, 3, 3), [2, 2],
         {"output_shape": np.array([10, 11]), "auto_pad": "same_upper"}),
        ("convolution_backprop_data", (1, 3, 9), (3, 4, 4), [2], {}),
        ("convolution_backprop_data", (1, 3, 5, 6), (3, 4, 1, 1), [1, 1], {}),
        ("group_convolution_backprop_data", (2, 4, 5, 6), (2, 2, 3, 3, 3), [2, 2], {}),
        ("group_convolution_backprop_data", (1, 4, 5, 6), (4, 1, 1, 4, 4), [2, 2],
         {"pads_begin": [1, 1], "pads_end": [1, 1]}),
    ],
)  # fmt: skip
def test_transposed(openvino_agrees, name, image, filters, strides, keywords):
    openvino_agrees(name, Data(numbers(*image)), numbers(*filters), strides, **keywords)


@pytest.mark.parametrize("activation", [None, "Relu", "Sigmoid"])
@pytest.mark.parametrize("bias", [(1, 6, 1, 1), (6, 1, 1), (1,), (1, 6, 4, 5), (2, 1, 1, 1)])
@pytest.mark.parametrize(("filters", "groups"), [((6, 3, 3, 3), 0), ((3, 2, 1, 3, 3), 3)])
def test_biases_and_activations(run, activation, bias, filters, groups):
    x, weights, added = numbers(2, 3, 4, 5), numbers(*filters), numbers(*bias)
    arguments = ([1, 1], [1, 1], [1, 1], [1, 1])

    def graph(library, data, constant):
        kind = library.GroupConvolution if groups else library.Convolution
        node = library.Add(kind(data, constant(weights), *arguments), constant(added))
        return node if activation is None else getattr(library, activation)(node)

    class OpenVINO:
        Convolution, GroupConvolution = opset13.convolution, opset13.group_convolution
        Add, Relu, Sigmoid = opset13.add, opset13.relu, opset13.sigmoid

    parameter = opset13.parameter(x.shape, np.float32)
    model = openvino.Model([graph(OpenVINO, parameter, opset13.constant)], [parameter])
    expected = oracle.core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    data = Parameter(Type.f32, x.shape)
    (found,) = run([graph(ops, data, Constant)], [data], [x])
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_fused_convolution_with_other_readers(run):
    """The values before the bias and before the activation are outputs too."""
    x, weights, added = numbers(1, 3, 4, 5), numbers(6, 3, 1, 1), numbers(1, 6, 1, 1)
    data = Parameter(Type.f32, x.shape)
    product = ops.Convolution(data, Constant(weights), [1, 1], [0, 0], [0, 0], [1, 1])
    biased = ops.Add(product, Constant(added))
    plain = np.einsum("oi,nihw->nohw", weights[:, :, 0, 0], x)
    found = run([product, biased, ops.Relu(biased)], [data], [x])
    for array, expected in zip(found, (plain, plain + added, np.maximum(plain + added, 0))):
        np.testing.assert_allclose(array, expected, atol=1e-5)

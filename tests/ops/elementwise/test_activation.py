"""Activation functions, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.graph import Constant
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(7)
SIGNED = np.float32([-np.inf, -100, -3.5, -2.5, -1, -0.3, -0.0, 0, 1e-3, 0.5, 1, 1.5, 2.5, 7, 88, np.inf])
WIDE = np.linspace(-9, 9, 1001, dtype=np.float32)

PLAIN = [
    ("relu", SIGNED, {}), ("sigmoid", SIGNED, {}), ("mish", WIDE, {}), ("softplus", WIDE, {}), ("hswish", WIDE, {}),
    ("hsigmoid", WIDE, {}), ("softsign", WIDE, {}), ("gelu", WIDE, {"approximation_mode": "erf"}),
    ("gelu", WIDE, {"approximation_mode": "tanh"}), ("elu", WIDE, {"alpha": 0.7}), ("swish", WIDE, {}),
    ("relu", np.int32([-3, 4]), {}), ("relu", np.float32(-2).reshape(()), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "array", "attributes"), PLAIN)
def test_activation(name, array, attributes):
    same_results(name, Data(array), **attributes)


def test_a_sigmoid_is_as_exact_near_0_as_near_1():
    x = np.linspace(-87, 20, 1001, dtype=np.float32)
    (found,) = evaluate(ops.Sigmoid(Constant(x)), [x])
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("hard_sigmoid", [np.float32(0.2), np.float32(0.5)]),
        ("selu", [np.float32([1.67]), np.float32([1.05])]),
        ("swish", [np.float32(1.5)]),
        ("prelu", [np.float32([0.25])]),
    ],
)
def test_unary_with_parameters(name, others):
    same_results(name, Data(WIDE.reshape(7, 143)), *others)


@pytest.mark.parametrize(
    ("data", "slope"), [([2, 3, 4, 4], [3]), ([2, 3, 4], [4]), ([2, 3, 3], [3]), ([2, 3], [3]), ([2, 3, 4], [3, 1])]
)
def test_slopes_of_prelu(data, slope):
    same_results("prelu", *[Data(rng.standard_normal(shape).astype(np.float32)) for shape in (data, slope)])


def test_elu_of_integers():
    same_results("elu", Data(np.int32([-7, -1, 0, 2])), 1.0)


@pytest.mark.parametrize("name", ["hsigmoid", "hswish", "sigmoid"])
def test_of_integers(name):
    same_results(name, Data(np.int32([-7, -1, 0, 1, 2, 5])))


# OpenVINO's CPU device and its reference differ here, so the results are compared with the definitions.
DEFINED = [
    (ops.Gelu, {"approximation_mode": "erf"}, np.float32([-1000, -20, np.inf]), [0, 0, np.inf]),
    (ops.Relu, {}, np.float32([np.nan]), [np.nan]),
    (ops.SoftPlus, {}, np.float32([-np.inf, np.inf, np.nan, 1000, -1000]), [0, np.inf, np.nan, 1000, 0]),
    (ops.Mish, {}, np.float32([np.inf, np.nan, 1000, -1000, 0]), [np.inf, np.nan, 1000, 0, 0]),
    (ops.Elu, {"alpha": 0.5}, np.float32([-np.inf, np.inf, np.nan]), [-0.5, np.inf, np.nan]),
]


@pytest.mark.parametrize(("operation", "attributes", "array", "expected"), DEFINED)
def test_where_devices_differ(operation, attributes, array, expected):
    found = evaluate(operation(array, **attributes), [array])[0]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, np.array(expected, array.dtype))


@pytest.mark.parametrize("shape", ["[?,2..3]", "[...]"])
def test_partial_shapes(shape):
    same_shapes("relu", Unknown(shape))


@pytest.mark.parametrize(
    ("name", "arguments", "attributes"),
    [
        ("gelu", [Unknown([2])], {"approximation_mode": "guess"}),
        ("gelu", [Unknown([2], np.int32)], {"approximation_mode": "erf"}),
        ("softplus", [Unknown([2], np.int32)], {}),
        ("swish", [Unknown([2]), Unknown([3])], {}),
        ("hard_sigmoid", [Unknown([2]), Unknown([1]), Unknown([])], {}),
        ("selu", [Unknown([2]), Unknown([], np.float16), Unknown([])], {}),
    ],
)
def test_refused(name, arguments, attributes):
    both_refuse(name, *arguments, **attributes)

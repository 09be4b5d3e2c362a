"""Weights that are stored in a smaller type are folded, and other constants are not."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.passes import fold_constants, fold_weights

NUMBERS = np.random.default_rng(0).integers(-127, 128, (1024, 512)).astype(np.int8)
X = [3, 512]


def scaled(kind=Type.f32, numbers=NUMBERS):
    return ops.Multiply(ops.Convert(numbers, kind), Constant(np.array(0.5, kind.to_dtype())))


def product(weights, kind=Type.f32, shape=X):
    x = Parameter(kind, shape)
    return Model(ops.MatMul(x, weights, False, True), [x])


def convolution(filters):
    x = Parameter(Type.i32, [1, 512, 2, 2])
    filters = ops.Reshape(filters, np.int64([1024, 512, 1, 1]), False)
    return Model(ops.Convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1]), [x])


def lookup(table):
    places = Parameter(Type.i32, [4])
    return Model(ops.Gather(table, places, np.int64(0)), [places])


def operations(model):
    return [node.get_type_name() for node in model.get_ordered_ops()[:-1] if node.get_input_size()]


@pytest.mark.parametrize(
    ("model", "left"),
    [
        (product(scaled()), ["MatMul"]),
        (product(ops.Convert(NUMBERS.astype(np.float16), Type.f32)), ["MatMul"]),
        (convolution(ops.Convert(NUMBERS, Type.i32)), ["Convolution"]),
        (product(ops.Convert(NUMBERS, Type.i32), Type.i32), ["Convert", "MatMul"]),
        (lookup(scaled()), ["Convert", "Multiply", "Gather"]),
    ],
    ids=["scaled integers", "f16", "integers of a convolution", "integers of a product", "a table"],
)
def test_which_operations_are_folded(model, left):
    fold_constants(model)
    assert len(operations(model)) > 1
    assert fold_weights(model) == (len(left) == 1)
    assert operations(model) == left


def test_folded_weights_are_equal():
    model = product(scaled())
    fold_weights(model)
    (weights,) = [node.data for node in model.get_ordered_ops() if isinstance(node, Constant)]
    np.testing.assert_array_equal(weights, NUMBERS * np.float32(0.5))


def test_weights_that_depend_on_an_input_stay():
    x, scale = Parameter(Type.f32, X), Parameter(Type.f32, [])
    weights = ops.Multiply(ops.Convert(NUMBERS, Type.f32), scale)
    model = Model(ops.MatMul(x, weights, False, True), [x, scale])
    assert not fold_weights(model)
    assert operations(model) == ["Convert", "Multiply", "MatMul"]

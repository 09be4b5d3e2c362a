"""Denormal weights become zero; everything else stays as it is."""

import numpy as np
import pytest

from hetero import Constant, Model, Parameter, Type, ops
from hetero.passes import flush_denormal_weights

TINY = np.finfo(np.float32).tiny  # the smallest normal number


def weights_of(model: Model) -> np.ndarray:
    (node,) = [one for one in model.get_ordered_ops() if isinstance(one, ops.MatMul)]
    return node.input_value(1).node.data


def product(weights: np.ndarray) -> Model:
    x = Parameter(Type.f32, [2, len(weights)])
    return Model(ops.MatMul(x, Constant(weights), False, False), [x])


@pytest.mark.parametrize("size", [1, 1 << 18, (1 << 18) + 1])
@pytest.mark.parametrize("number", [1e-45, -1e-45, TINY / 2, -TINY * (1 - 2**-23)])
def test_denormal(number, size):
    weights = np.ones((size, 1), np.float32)
    weights[-1] = number
    model = product(weights)
    assert flush_denormal_weights(model)
    assert weights_of(model)[-1] == 0 and (weights_of(model)[:-1] == 1).all()
    assert weights[-1] == np.float32(number)
    assert not flush_denormal_weights(model)


@pytest.mark.parametrize("number", [0.0, -0.0, TINY, -TINY, 1.0, np.inf, -np.inf, np.nan])
def test_other_numbers(number):
    weights = np.array([[1], [number], [2]], np.float32)
    model = product(weights)
    assert not flush_denormal_weights(model) and weights_of(model) is not None
    np.testing.assert_array_equal(weights_of(model), weights)


def test_other_readers_keep_them():
    x = Parameter(Type.f32, [1, 1])
    constant = Constant(np.array([[1e-45]], np.float32))
    model = Model([ops.MatMul(x, constant, False, False), ops.Add(x, constant)], [x])
    assert flush_denormal_weights(model)
    added = model.results[1].input_value(0).node
    assert weights_of(model) == 0 and added.input_value(1).node.data == np.float32(1e-45)


def test_other_types():
    x = Parameter(Type.f64, [1, 1])
    model = Model(ops.MatMul(x, Constant(np.array([[1e-310]])), False, False), [x])
    assert not flush_denormal_weights(model)

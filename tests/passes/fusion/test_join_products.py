"""Products of one row with several constant matrices become one, if their results only move."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph.rt_info import original_names
from hetero.passes import join_products
from tests.passes.test_passes import operations, run

GENERATOR = np.random.default_rng(0)
ROW = GENERATOR.standard_normal((1, 1, 8)).astype(np.float32)
MATRICES = [GENERATOR.standard_normal((8, width)).astype(np.float32) for width in (4, 6, 4)]


def product(value, matrix, transposed=False, name="product"):
    return ops.MatMul(value, matrix.T.copy() if transposed else matrix, False, transposed, name=name)


def moved(value):
    return ops.Unsqueeze(value, np.int64(0))


def biased(value, matrix):
    return ops.Add(np.arange(matrix.shape[1], dtype=np.float32), product(value, matrix))


JOINED = {
    "plain": (lambda x: [product(x, one) for one in MATRICES], ["MatMul", "VariadicSplit"]),
    "transposed": (lambda x: [product(x, one, True) for one in MATRICES], ["MatMul", "VariadicSplit"]),
    "biases": (lambda x: [biased(x, one) for one in MATRICES], ["MatMul", "Add", "VariadicSplit"]),
}
KEPT = {
    "one": lambda x: [product(x, MATRICES[0])],
    "one of each kind": lambda x: [product(x, MATRICES[0]), product(x, MATRICES[1], True), biased(x, MATRICES[2])],
    "other rows": lambda x: [product(ops.Relu(x), MATRICES[0]), product(x, MATRICES[1])],
    "a computed matrix": lambda x: [product(x, MATRICES[0]), ops.MatMul(x, x, False, True)],
    "columns": lambda x: [ops.Add(product(x, one), np.ones((one.shape[1], 1), np.float32)) for one in MATRICES],
    "element-wise readers": lambda x: [ops.Tanh(product(x, one)) for one in MATRICES],
}


def model(make, shape=ROW.shape):
    x = Parameter(Type.f32, shape)
    return Model([moved(value) for value in make(x)], [x])


@pytest.mark.parametrize(("make", "expected"), JOINED.values(), ids=JOINED)
def test_joined(make, expected):
    joined = model(make)
    assert join_products(joined)
    assert operations(joined) == [*expected, *["Unsqueeze"] * 3]
    (node,) = (node for node in joined.get_ordered_ops() if isinstance(node, ops.MatMul))
    assert "product" in original_names(node)
    for found, wanted in zip(run(joined, ROW), run(model(make), ROW)):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", KEPT.values(), ids=KEPT)
def test_kept(make):
    assert not join_products(model(make))


@pytest.mark.parametrize("shape", [(1, 2, 8), (-1, 1, 8)])
def test_several_rows_are_kept(shape):
    assert not join_products(model(JOINED["plain"][0], shape))


def test_results_are_kept():
    x = Parameter(Type.f32, ROW.shape)
    assert not join_products(Model([product(x, one) for one in MATRICES], [x]))

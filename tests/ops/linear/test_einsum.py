"""Einsum, compared with OpenVINO, or with numpy for equations that OpenVINO's CPU device does not support."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(1)

EQUATIONS = [
    ("ij,jk->ik", [[2, 3], [3, 4]]),
    ("bij,bjk->bik", [[5, 2, 3], [5, 3, 4]]),
    ("bhid,bhjd->bhij", [[2, 3, 4, 5], [2, 3, 6, 5]]),
    ("ij->ji", [[2, 3]]),
    ("ij->i", [[2, 3]]),
    ("ij->", [[2, 3]]),
    ("i,j->ij", [[2], [3]]),
    ("i,i->", [[3], [3]]),
    ("ijk,ik->jk", [[2, 3, 4], [2, 4]]),
    ("ab,bc,cd->ad", [[2, 3], [3, 4], [4, 5]]),
    ("ii->i", [[3, 3]]),
    ("kii->k", [[2, 3, 3]]),
    ("a...b,b...->a...", [[2, 3, 4], [4, 3]]),
    ("...ij,...jk->...ik", [[2, 5, 2, 3], [5, 3, 4]]),
    ("abc,d->cdba", [[2, 3, 4], [5]]),
    ("ij,jk", [[2, 3], [3, 4]]),
    ("abcd,bd->a", [[2, 3, 1, 4], [3, 4]]),
    ("ij,ij,jk->k", [[2, 3], [2, 3], [3, 4]]),
    ("b...i,...ki->b...k", [[2, 3, 5], [3, 4, 5]]),
    ("...ab,...bc->...ac", [[2, 1, 3, 4], [5, 4, 6]]),
    ("Ab,bc", [[2, 3], [3, 4]]),
    ("ij,jk->ik", [[2, 0], [0, 4]]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_equations(equation, shapes):
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    node = ops.Einsum(arrays, equation)
    found = evaluate(node, arrays)[0]
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-5, atol=1e-6)
    assert node.output(0).shape == found.shape
    if 0 not in arrays[0].shape:  # OpenVINO's CPU device cannot
        same_results("einsum", [Data(array) for array in arrays], equation)


@pytest.mark.parametrize(("equation", "shapes"), [
    ("ij,jk->ik", ["[?,3]", "[?,4]"]), ("...i->...", ["[...]"]), ("a...,a...->a...", ["[2,?,3]", "[?,4,1]"]),
    ("ij,jk->ik", ["[...]", "[2..3,4]"]), ("ij->j", ["[?,1..5]"]),
])  # fmt: skip
def test_partial_shapes(equation, shapes):
    same_shapes("einsum", [Unknown(shape) for shape in shapes], equation)


@pytest.mark.parametrize(("equation", "shapes"), [
    ("ij,jk->ik", [[2, 3], [4, 5]]), ("ij->ik", [[2, 3]]), ("ij", [[2, 3], [3]]), ("i1->i", [[2, 2]]),
    ("ijk->i", [[2, 3]]), ("i->i", [[2, 3]]), ("......->", [[2]]), ("...i,...->i...", [[2, 3], [3]]),
])  # fmt: skip
def test_refused(equation, shapes):
    both_refuse("einsum", [Unknown(shape) for shape in shapes], equation)


def test_dimensions_of_1_are_repeated():
    a, b = rng.standard_normal([2, 1]).astype(np.float32), rng.standard_normal([3, 4]).astype(np.float32)
    for equation in ("ij,jk->ik", "ij,jk->ijk"):
        node = ops.Einsum([a, b], equation)
        found = evaluate(node, [a, b])[0]
        np.testing.assert_allclose(found, np.einsum(equation, a, b), rtol=1e-5)
        assert node.output(0).shape == found.shape


def test_an_output_that_names_a_letter_twice():
    with pytest.raises(GraphError, match="some of them once"):
        ops.Einsum([np.zeros([2, 2], np.float32)], "ij->ii")


def test_whole_numbers_stay_whole():
    a, b = np.int64([[2**60, 1], [3, 4]]), np.int64([[1, 0], [5, 6]])
    assert evaluate(ops.Einsum([a, b], "ij,jk->ik"), [a, b])[0].tolist() == (a @ b).tolist()

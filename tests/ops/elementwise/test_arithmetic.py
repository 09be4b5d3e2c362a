"""Arithmetic of two tensors and Select, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(7)
SHAPES = [([2, 3], [2, 3]), ([2, 3], [3]), ([2, 1, 4], [3, 1]), ([], [2]), ([0, 3], [1, 3])]
ARITHMETIC = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "mod", "floor_mod", "squared_difference"]


@pytest.mark.parametrize("broadcast", ["NUMPY", "none", "explicit"])
def test_how_shapes_are_broadcast(broadcast):
    data = Data(rng.uniform(1, 2, [2, 3]).astype(np.float32))
    same_results("add", data, data, broadcast)
    if broadcast != "NUMPY":
        both_refuse("add", data, Unknown([3]), broadcast)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", [*ARITHMETIC, "power"])
def test_arithmetic_of_floats(name, shapes):
    a, b = (rng.uniform(0.5, 4, shape).astype(np.float32) for shape in shapes)
    same_results(name, Data(a), Data(b))
    if name != "power":
        same_results(name, Data(-a), Data(b))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_integers(name, dtype):
    # OpenVINO's CPU device computes i64 in i32, and divides them rounding toward zero.
    a, b = np.array([7, 7, 6, 5, 0], dtype), np.array([2, 7, 3, 9, 1], dtype)
    same_results(name, Data(a), Data(b))


@pytest.mark.parametrize(
    ("a", "b", "pythonic", "expected"),
    [(7, 2, True, 3), (-7, 2, True, -4), (7, -2, True, -4), (-7, 2, False, -3), (7, -2, False, -3), (-6, 2, True, -3)],
)
def test_division_of_integers_rounds_as_the_attribute_says(a, b, pythonic, expected):
    """Rounded like Python's // or C's /, as in OpenVINO's reference; its CPU device always rounds toward zero."""
    node = ops.Divide(np.int32([a]), np.int32([b]), m_pythondiv=pythonic)
    assert evaluate(node, [np.int32([a]), np.int32([b])])[0].tolist() == [expected]
    assert node.output(0).value.tolist() == [expected]


@pytest.mark.parametrize("exponent", [2, 0.5, -0.5, 1, 3, 4, -1, 2.5])
def test_powers_that_models_use(exponent):
    same_results("power", Data(np.float32([0.5, 1, 2, 9])), np.float32(exponent))


@pytest.mark.parametrize("shapes", [([2, 3], [2, 3], [2, 3]), ([3], [2, 1], [2, 3]), ([], [2], [1])], ids=str)
def test_select(shapes):
    condition = rng.integers(0, 2, shapes[0]).astype(bool)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes[1:])
    same_results("select", Data(condition), Data(a), Data(b))


PARTIAL = [
    ("add", ["[?,3]", "[1,3]"]),
    ("add", ["[?]", "[?]"]),
    ("add", ["[...]", "[3]"]),
    ("add", ["[2..4,1]", "[5]"]),
    ("multiply", ["[1..4]", "[1..4]"]),
    ("maximum", ["[3..8]", "[?]"]),
    ("subtract", ["[]", "[?,7]"]),
]


@pytest.mark.parametrize(("name", "shapes"), PARTIAL, ids=str)
def test_partial_shapes(name, shapes):
    same_shapes(name, *[Unknown(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add", [Unknown([2]), Unknown([3])]),
        ("add", [Unknown([2]), Unknown([2], np.int32)]),
        ("add", [Unknown([2], np.bool_), Unknown([2], np.bool_)]),
        ("select", [Unknown([2]), Unknown([2]), Unknown([2])]),
        ("select", [Unknown("[...]", np.bool_), Unknown([2]), Unknown([3])]),
    ],
)
def test_refused(name, arguments):
    both_refuse(name, *arguments)

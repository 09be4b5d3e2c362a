"""Scatter and gather of elements, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype))


def ints(*values):
    return np.array(values, np.int64)


def picks(limit, *shape):
    return Data(np.random.default_rng(1).integers(0, limit, shape))


REDUCTIONS = ("sum", "prod", "min", "max", "mean")
RESULTS = [
    ("gather", 7, random(3, 4), picks(4, 3, 2), ints(1), 1),
    ("gather", 1, random(3, 4), picks(3, 2), ints(0)),
    *[("gather_elements", 6, random(3, 4, 5), picks(3, *[3 if a == axis % 3 else n for a, n in enumerate((3, 4, 5))]),
       axis) for axis in (0, 1, -1)],
    ("gather_elements", 6, random(3, 4), Data(np.array([[-1], [0], [3]], np.int32)), 1),
    ("gather_elements", 6, random(3, 4), Data(np.zeros((3, 0), np.int32)), 1),
    *[("gather_nd", opset, random(2, 3, 4, 5), picks(2, 2, 3, k), batch)
      for opset in (5, 8) for k, batch in ((1, 0), (2, 0), (4, 0), (1, 1), (2, 2), (1, 2))],
    ("gather_nd", 8, random(3, 4), picks(3, 2)),
    ("gather_nd", 8, random(3, 4), Data(np.array([[-1, 0], [2, -4]]))),
    ("gather_nd", 8, random(3, 4), Data(np.zeros((0, 2), np.int64))),
    ("scatter_update", 3, random(3, 4, 5), ints(2, 0), random(3, 2, 5), ints(1)),
    ("scatter_update", 3, random(3, 4), Data(np.array([[1, 0]])), random(3, 1, 2), ints(-1)),
    ("scatter_update", 3, random(4, dtype=np.int32), Data(np.array([1, 3])), random(2, dtype=np.int32), ints(0)),
    ("scatter_elements_update", 3, random(3, 4), Data(np.array([[3, 1], [0, 2]])), random(2, 2), ints(1)),
    ("scatter_elements_update", 3, random(3, 4), Data(np.array([[2, 0]])), random(1, 2), ints(0)),
    ("scatter_elements_update", 3, random(3, 4), Data(np.zeros((0, 2), np.int64)), random(0, 2), ints(0)),
    *[("scatter_elements_update", 12, random(3, 4, dtype=dtype), picks(4, 3, 7), random(3, 7, dtype=dtype), ints(1),
       reduction, init) for dtype in (np.float32, np.int32) for reduction in REDUCTIONS for init in (True, False)],
    ("scatter_elements_update", 12, random(3, 4), Data(np.array([[-1, 1]])), random(1, 2), ints(1), "sum"),
    *[("scatter_nd_update", 4, random(3, 4, 5), Data(np.array(where)), random(*shape))
      for where, shape in (([[1], [0]], (2, 4, 5)), ([[1, 2]], (1, 5)), ([[1, 2, 3], [0, 0, 4]], (2,)))],
    *[("scatter_nd_update", 15, random(3, 4, dtype=dtype), picks(3, 5, 1), random(5, 4, dtype=dtype), reduction)
      for dtype in (np.float32, np.int32) for reduction in ("sum", "sub", "prod", "min", "max")],
    ("scatter_nd_update", 15, random(3, 0), Data(np.array([[0], [0]])), random(2, 0)),
    ("scatter_nd_update", 15, random(3, 4), Data(np.array([[-1, 1], [-3, -4]])), random(2)),
    *[("one_hot", 1, Data(np.array([[0, 3], [-1, 4]], np.int64)), np.array(4), np.float32(2), np.float32(-1), axis)
      for axis in (0, 1, -1)],
    ("one_hot", 1, Data(np.array(2, np.int32)), np.array(3, np.int32), np.array(1), np.array(0), -1),
    ("one_hot", 1, Data(np.zeros((2, 0), np.int32)), np.array(3), np.array(1), np.array(0), 1),
    ("slice_scatter", 15, random(5, 6), random(5, 2), ints(1), ints(5), ints(2), ints(1)),
    ("slice_scatter", 15, random(5, 6), random(2, 6), ints(4), ints(0), ints(-2)),
    ("slice_scatter", 15, random(5, 6), random(2, 1), ints(0, -1), ints(2, 9), ints(1, 1), ints(0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def test_strings_may_be_longer_than_those_that_they_replace():
    data, updates = np.array([["a", "b"]]), np.array([["longer"]])
    inputs = data, np.array([[1]]), updates, np.array(1)
    assert evaluate(ops.ScatterElementsUpdate(*inputs), inputs)[0].tolist() == [["a", "longer"]]
    inputs = np.array([1]), np.array(2), np.array("longer"), np.array("a")
    assert evaluate(ops.OneHot(*inputs, 0), inputs)[0].tolist() == [["a"], ["longer"]]


@pytest.mark.parametrize("reduction", [None, "sum"])
def test_data_that_is_a_view_of_transposed_data(reduction):
    data, updates = np.arange(12.0).reshape(3, 4).T, np.full((1, 3), 100.0)
    expected = data.copy()
    expected[2] = 100 if reduction is None else data[2] + 100
    inputs = data, np.array([[2]]), updates
    np.testing.assert_array_equal(evaluate(ops.ScatterNDUpdate(*inputs, reduction), inputs)[0], expected)
    inputs = data, np.array([[2, 2, 2]]), updates, np.array(0)
    made = ops.ScatterElementsUpdate(*inputs, reduction or "none")
    np.testing.assert_array_equal(evaluate(made, inputs)[0], expected)


def test_the_sequences_of_a_beam_search():
    # At least one step, as OpenVINO's CPU device returns uninitialized memory for none.
    random = np.random.default_rng(3)
    steps, parents = random.integers(0, 6, (5, 3, 4)), random.integers(0, 4, (5, 3, 4))
    for dtype in (np.int32, np.float32):
        arrays = [array.astype(dtype) for array in (steps, parents, np.array([5, 3, 1]), np.array(2))]
        same_results("gather_tree", *map(Data, arrays), opset=1)


I64 = np.int64


@pytest.mark.parametrize(("mode", "last"), [("normalize", 1), ("ignore_negative", 0)])
def test_one_hot_of_negative_indices(mode, last):
    """Compare with the formula, as OpenVINO's CPU device does not support normalize."""
    indices = np.array([-1, -4, 1])
    inputs = indices, np.array(3), np.array(1), np.array(0)
    same_shapes("one_hot", Unknown([3], I64), *inputs[1:], -1, mode, opset=16)
    found = evaluate(ops.OneHot(*inputs, -1, mode), inputs)[0]
    np.testing.assert_array_equal(found, [[0, 0, last], [0, 0, 0], [0, 1, 0]])


SHAPES = [
    ("one_hot", 1, Unknown([2, (3, 5)], I64), Unknown([], I64), np.array(1), np.array(0), 1),
    ("one_hot", 1, Unknown("[...]", I64), np.array(3), np.array(1), np.array(0), 1),
    ("gather_elements", 6, Unknown([3, -1, (2, 5)]), Unknown([-1, 7, (3, 9)], I64), 1),
    ("gather_elements", 6, Unknown("[...]"), Unknown([-1, 7], I64), 1),
    ("gather_elements", 6, Unknown([3, 4]), Unknown("[...]", I64), 0),
    ("gather_nd", 8, Unknown([3, -1, 5]), Unknown([-1, 7, 1], I64), 1),
    ("gather_nd", 5, Unknown([3, 4, 5]), Unknown([3, 4, 1], I64), 2),
    ("gather_nd", 8, Unknown([3, -1, 5]), Unknown([-1, -1], I64)),
    ("gather_nd", 8, Unknown("[...]"), Unknown([2, 1], I64)),
    ("scatter_update", 3, Unknown([3, -1]), Unknown([2], I64), Unknown("[...]"), ints(0)),
    ("scatter_elements_update", 12, Unknown([3, (1, 4)]), Unknown("[...]", I64), Unknown([1, 1]), ints(0)),
    ("scatter_nd_update", 15, Unknown("[...]"), Unknown([2, 1], I64), Unknown([2])),
    ("slice_scatter", 15, Unknown([-1, 6]), Unknown([2, 6]), ints(0), ints(2), ints(1)),
    ("slice_scatter", 15, Unknown("[...]"), Unknown([2, -1]), ints(0), ints(2), ints(1)),
    ("gather_tree", 1, Unknown([-1, 2, 3]), Unknown([4, -1, 3]), Unknown([-1]), Unknown([])),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    ("scatter_update", 3, Unknown([]), Unknown([], I64), Unknown([]), Unknown([], I64)),
    ("gather_elements", 6, Unknown("[...]"), Unknown([], I64), 0),
    ("scatter_update", 3, Unknown([3, 4]), Unknown([2, 2], I64), Unknown([3, 4]), Unknown([], I64)),
    ("scatter_nd_update", 4, Unknown([]), Unknown([1], I64), Unknown("[...]")),
    ("slice_scatter", 15, Unknown("[...]"), Unknown([]), ints(0), ints(2), ints(1)),
    ("one_hot", 1, Unknown([2]), np.array(3), np.array(1), np.array(0), 1),
    ("one_hot", 1, Unknown([2], I64), ints(3, 2), np.array(1), np.array(0), 1),
    ("one_hot", 1, Unknown([2], I64), np.array(3), np.array(1), np.array(0, np.int32), 1),
    ("one_hot", 1, Unknown([2], I64), np.array(3), np.array(1), np.array(0), 2),
    ("gather_elements", 6, Unknown([3, 4]), Unknown([2, 4], I64), 1),
    ("gather_elements", 6, Unknown([3, 4]), Unknown([2], I64), 1),
    ("gather_elements", 6, Unknown([3, 4]), Unknown([3, 4]), 1),
    ("gather_elements", 6, Unknown([3, 4]), Unknown([3, 4], I64), 2),
    ("gather_nd", 8, Unknown([3, 4]), Unknown([2, 3], I64)),
    ("gather_nd", 8, Unknown([3, 4]), Unknown([2, 1], I64), 1),
    ("gather_nd", 8, Unknown([3, 4]), Unknown([3, 1], I64), 2),
    ("scatter_update", 3, Unknown([3, 4]), Unknown([2], I64), Unknown([3, 4]), ints(0)),
    ("scatter_update", 3, Unknown([3, 4]), Unknown([2], I64), Unknown([2, 4], np.int32), ints(0)),
    ("scatter_elements_update", 12, Unknown([3, 4]), Unknown([1, 2], I64), Unknown([2, 1]), ints(0)),
    ("scatter_elements_update", 12, Unknown([3, 4]), Unknown([2], I64), Unknown([2]), ints(0)),
    ("scatter_elements_update", 12, Unknown([3, 4]), Unknown([2, 2], I64), Unknown([2, 2]), ints(2)),
    ("scatter_nd_update", 15, Unknown([3, 4]), Unknown([2, 3], I64), Unknown([2])),
    ("scatter_nd_update", 15, Unknown([3, 4]), Unknown([2, 1], I64), Unknown([2, 3])),
    ("slice_scatter", 15, Unknown([3, 4]), Unknown([2, 3]), ints(0), ints(2), ints(1)),
    ("gather_tree", 1, Unknown([1, 2, 3]), Unknown([1, 2, 4]), Unknown([2]), Unknown([])),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)

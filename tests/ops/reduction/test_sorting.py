"""TopK, Unique, Bucketize and SearchSorted, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import HeteroError, ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

I64 = np.int64
DTYPES = (np.float32, np.float16, np.int32, np.int64, np.int8, np.uint8)


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype))


def distinct(*shape, dtype=np.float32):
    count = int(np.prod(shape))
    return Data((np.random.default_rng(1).permutation(count) - 40).astype(dtype).reshape(shape))


def ints(*values):
    return np.array(values, I64)


def number(value):
    return np.array(value, I64)


RESULTS = [
    *[("topk", 11, distinct(4, 5, 6), number(k), axis, mode, sort)
      for k, axis in ((3, -1), (1, 0), (5, 1)) for mode in ("max", "min") for sort in ("value", "index")],
    *[("topk", 11, random(3, 9, dtype=dtype), number(4), 1, "max", "value", "i64", True)
      for dtype in (np.float32, np.int32, np.int8, np.uint8)],
    *[("topk", 11, random(3, 9, dtype=dtype), number(4), 1, "min", "value", "i64", True)
      for dtype in (np.float32, np.int32, np.int8, np.uint8)],
    ("topk", 3, distinct(4, 5), number(2), 0, "max", "value", "i64"),
    ("topk", 1, distinct(4, 5), number(2), 1, "max", "value"),
    *[("unique", 10, random(3, 8, dtype=dtype), None, order) for dtype in (np.int32, np.int8, np.float32)
      for order in (True, False)],
    ("unique", 10, random(3, 8, dtype=np.int32), None, True, "i32", "i32"),
    *[("bucketize", 3, Data(np.float32([[0, 1, 2.5], [7, 3, 9]])), Data(np.float32([1, 3, 7])), kind, right)
      for kind in ("i64", "i32") for right in (True, False)],
    ("bucketize", 3, random(2, 3, dtype=np.int32), Data(np.float32([-5, 0, 7]))),
    ("unique", 10, Data(np.float32([[5]]))),
    ("bucketize", 3, random(2, 3), Data(np.zeros(0, np.float32))),
    *[("search_sorted", 15, Data(np.sort(random(4, 6).array.round(0))), random(4, 9), right)
      for right in (False, True)],
    ("search_sorted", 15, Data(np.float32([1, 3, 3, 7])), Data(np.float32([[0, 1, 3], [4, 7, 8]])), True),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("k", [0, 1, 5, 40])
def test_the_first_of_equal_elements_is_taken(k, mode, dtype):
    """OpenVINO guarantees this only with ``stable``, ONNX always."""
    data = np.random.default_rng(2).integers(0, 9, (3, 40)).astype(dtype)
    node = ops.TopK(data, np.array(k), 1, mode, "value", "i64")
    values, places = evaluate(node, [data, np.array(k)])
    ranked = data.astype(np.float64) * (-1 if mode == "max" else 1)
    expected = np.argsort(ranked, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(data, expected, 1))


def test_zeros_of_both_signs_are_equal_and_the_ends_of_the_range_in_order():
    data = np.float32([0.0, -0.0, np.inf, -np.inf, -1e-45, 1e-45])
    node = ops.TopK(data, np.array(6), 0, "max", "value")
    assert evaluate(node, [data, np.array(6)])[1].tolist() == [2, 5, 0, 1, 4, 3]
    data = np.array([-(2**63), 2**63 - 1, 0, -1], np.int64)
    assert evaluate(ops.TopK(data, np.array(4), 0, "max", "value"), [data, np.array(4)])[1].tolist() == [1, 2, 3, 0]
    data = np.array([-(2**31), 2**31 - 1, 0, -1], np.int32)
    assert evaluate(ops.TopK(data, np.array(4), 0, "min", "value"), [data, np.array(4)])[1].tolist() == [0, 3, 2, 1]


SHAPES = [
    ("topk", 11, Unknown([-1, (2, 7)]), number(2), 1, "max", "value"),
    ("topk", 11, Unknown([3, (2, 7)]), Unknown([], I64), 1, "max", "value"),
    ("topk", 11, Unknown([3, (2, 7)]), Unknown([], I64), 0, "max", "value"),
    ("topk", 11, Unknown("[...]"), number(2), 1, "max", "value"),
    ("unique", 10, Unknown("[...]")),
    ("unique", 10, Unknown("[...]"), number(1)),
    ("unique", 10, Unknown([2, 3])),
    ("bucketize", 3, Unknown([2, -1]), Unknown([-1])),
    ("search_sorted", 15, Unknown([2, -1, 5]), Unknown([-1, 4, (2, 9)])),
    ("search_sorted", 15, Unknown([5]), Unknown("[...]")),
    ("search_sorted", 15, Unknown("[...]"), Unknown([2, 3])),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        (["[..14]"] * 4, (Unknown([2, (0, 7)]),)),
        (["[2,1..3]", "[1..3]", "[3]", "[1..3]"], (Unknown([2, 3]), number(1))),
        (["[2,1..7]", "[1..7]", "[3..7]", "[1..7]"], (Unknown([2, (3, 7)]), number(1))),
    ],
    ids=str,
)
def test_there_are_no_more_different_ones_than_elements(expected, case):
    """hetero infers more than OpenVINO, which uses all elements for a known axis, and nothing for an unknown length."""
    same_shapes("unique", *case, opset=10, expected=expected)


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("axis", [0, 2, -2])
def test_unique_slices(axis, order):
    """Check the outputs against each other, as OpenVINO's shapes are wider (see above)."""
    data = np.random.default_rng(0).integers(0, 2, (4, 3, 2), np.int32)
    values, first, places, counts = evaluate(ops.Unique(data, number(axis), order), [data, number(axis)])
    np.testing.assert_array_equal(values, np.take(data, first, axis))
    np.testing.assert_array_equal(np.take(values, places, axis), data)
    np.testing.assert_array_equal(counts, np.bincount(places))
    slices = [tuple(part.reshape(-1)) for part in np.moveaxis(values, axis, 0)]
    assert len(set(slices)) == len(slices)
    assert slices == sorted(slices) if order else first.tolist() == sorted(first)


def test_more_elements_than_there_are():
    """OpenVINO detects this only at run time."""
    with pytest.raises(HeteroError, match="k must be from 0 to 3"):
        ops.TopK(np.zeros((2, 3), np.float32), np.array(4), 1, "max", "value")


REFUSED = [
    ("unique", 10, Unknown([]), number(0)),
    ("topk", 11, Unknown([2, 3]), number(-1), 1, "max", "value"),
    ("topk", 11, Unknown([2, 3]), ints(1, 2), 1, "max", "value"),
    ("topk", 11, Unknown([2, 3]), number(1), 2, "max", "value"),
    ("topk", 11, Unknown([2, 3]), number(1), 1, "max", "best"),
    ("topk", 11, Unknown([2, 3]), number(1), 1, "max", "value", "f32"),
    ("topk", 11, Unknown([2, 3]), Unknown([]), 1, "max", "value"),
    ("unique", 10, Unknown([2, 3]), number(2)),
    ("unique", 10, Unknown([2, 3]), None, True, "i16"),
    ("bucketize", 3, Unknown([2, 3]), Unknown([2, 3])),
    ("bucketize", 3, Unknown([2, 3]), Unknown([3]), "f32"),
    ("search_sorted", 15, Unknown([2, 3]), Unknown([3, 3])),
    ("search_sorted", 15, Unknown([2, 3]), Unknown([3])),
    ("search_sorted", 15, Unknown([2, 3]), Unknown([2, 3], np.int32)),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)

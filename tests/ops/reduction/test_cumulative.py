"""CumSum, compared with OpenVINO, and CumProd, compared with numpy."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(4)
MODES = [(False, False), (True, False), (False, True), (True, True)]


def axis_of(value):
    return np.array(value, np.int64)


@pytest.mark.parametrize(("exclusive", "reverse"), MODES)
@pytest.mark.parametrize(("shape", "axis"), [([7], 0), ([2, 3, 4], 1), ([2, 3, 4], -1), ([2, 3], 0), ([3, 1], 1)])
def test_sums(shape, axis, exclusive, reverse):
    same_results("cumsum", Data(rng.standard_normal(shape).astype(np.float32)), axis_of(axis), exclusive, reverse)


@pytest.mark.parametrize("shape", [[0], [2, 0, 3]], ids=str)
def test_sums_of_nothing(shape):
    same_results("cum_sum", Data(np.zeros(shape, np.float32)), axis_of(0), True)


def test_sums_of_integers_stay_exact():
    numbers = np.int64([2**60, 1, 1])
    found = evaluate(ops.CumSum(numbers, axis_of(0)), [numbers, axis_of(0)])[0]
    assert found.tolist() == [2**60, 2**60 + 1, 2**60 + 2]


def test_of_small_types():
    same_results("cum_sum", Data(np.int32([1, 2, 3])), axis_of(0))


@pytest.mark.parametrize(("exclusive", "reverse", "expected"), [
    (False, False, [2, 6, 24]), (True, False, [1, 2, 6]), (False, True, [24, 12, 4]), (True, True, [12, 4, 1]),
])  # fmt: skip
def test_products(exclusive, reverse, expected):
    numbers = np.float32([[2, 3, 4]])
    found = evaluate(ops.CumProd(numbers, axis_of(1), exclusive, reverse), [numbers, axis_of(1)])[0]
    assert found.tolist() == [expected]


def test_shapes():
    same_shapes("cum_sum", Unknown("[?,2..3]"), axis_of(1))
    same_shapes("cum_sum", Unknown("[...]"), axis_of(4))
    same_shapes("cum_sum", Unknown([2]), Unknown([], np.int32))


def test_refused():
    both_refuse("cum_sum", Unknown([2]), Unknown([]))

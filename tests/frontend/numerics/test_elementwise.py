import math

import numpy as np
import pytest

from hetero import ops
from hetero.frontend.numerics import elementwise
from tests.frontend.numerics.evaluate import evaluate

INF, NAN = math.inf, math.nan
SMALL = np.concatenate([np.logspace(-30, 0, 61), [0.0]]).astype(np.float32)
# numpy's functions of f64 are the reference for those of f32.
EXACT = {"rtol": 1e-6, "atol": 0}


def test_log1p_keeps_the_digits_of_small_numbers():
    values = np.concatenate([SMALL, -SMALL[:-2], [-1, -2, 3e38, INF, NAN]]).astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log1p(values.astype(np.float64))
    np.testing.assert_allclose(evaluate(elementwise.log1p, values), expected, **EXACT)


def test_expm1_keeps_the_digits_of_small_numbers():
    values = np.concatenate([SMALL, -SMALL, [-1000, -20, 20, 88, INF, -INF, NAN]]).astype(np.float32)
    np.testing.assert_allclose(evaluate(elementwise.expm1, values), np.expm1(values.astype(np.float64)), **EXACT)


def test_zero_keeps_its_sign():
    zeros = np.array([-0.0, 0.0], np.float32)
    for function in (elementwise.log1p, elementwise.expm1):
        assert np.signbit(evaluate(function, zeros)).tolist() == [True, False]


@pytest.mark.parametrize("x", [1.0, -1.0, 0.0, -0.0, INF, -INF, 1e30, 3e-39])
def test_atan2(x):
    y = np.array([1.0, -1.0, 0.0, -0.0, INF, -INF, 1e-30, 3e38, NAN], np.float32)
    x = np.full_like(y, x)
    expected = np.float32([math.atan2(*point) for point in zip(y.tolist(), x.tolist())])
    np.testing.assert_allclose(evaluate(elementwise.atan2, y, x), expected, **EXACT)
    assert np.signbit(evaluate(elementwise.atan2, y, x))[:-1].tolist() == np.signbit(y)[:-1].tolist()


def test_floor_divide_agrees_with_python():
    pairs = [(1, 0.1), (-1, 0.1), (1, -0.1), (7.5, 2), (-7.5, 2), (7.5, -2), (6, 3), (-1, INF), (0.5, 1), (-0.5, 1)]
    left, right = np.array(pairs).T
    assert 1 // 0.1 == 9
    assert evaluate(elementwise.floor_divide, left, right).tolist() == [x // y for x, y in pairs]
    integers = [np.array(numbers, np.int32) for numbers in ([7, -7, 7, -7], [2, 2, -2, -2])]
    assert evaluate(elementwise.floor_divide, *integers).tolist() == [3, -4, -4, 3]
    by_zero = evaluate(elementwise.floor_divide, np.array([1.0, -1.0, 0.0]), np.zeros(3))
    np.testing.assert_equal(by_zero, [INF, -INF, NAN])


def test_truncate_divide():
    integers = [np.array(numbers, np.int32) for numbers in ([7, -7, 7, -7], [2, 2, -2, -2])]
    assert evaluate(elementwise.truncate_divide, *integers).tolist() == [3, -3, -3, 3]


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -3])
def test_round_to_decimals_agrees_with_numpy(decimals):
    values = np.array([0.25, 0.35, 0.3, 2.5, -2.5, 12345.6789, -1500, 2500, 15])
    found = evaluate(lambda value: elementwise.round_to_decimals(value, decimals), values)
    assert found.tolist() == np.round(values, decimals).tolist()


@pytest.mark.parametrize("base", [2, 10])
def test_logarithm_of_powers_is_exact(base):
    powers = np.float64(base) ** np.arange(3, dtype=np.float64)
    assert evaluate(lambda value: elementwise.logarithm(value, base), powers).tolist() == [0, 1, 2]


def test_truncate():
    values = np.array([2.7, -2.7, 0.0, INF, -INF], np.float32)
    assert evaluate(elementwise.truncate, values).tolist() == np.trunc(values).tolist()
    assert evaluate(elementwise.truncate, np.array([-3, 4])).tolist() == [-3, 4]


def test_logit():
    values = np.array([0.0, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(evaluate(elementwise.logit, values), [-INF, math.log(1 / 3), 0, INF])
    clamped = evaluate(lambda value: elementwise.logit(value, 0.25), values)
    np.testing.assert_allclose(clamped, np.log([1 / 3, 1 / 3, 1, 3]), atol=1e-15)


def test_heaviside():
    values = np.array([-2.0, -0.0, 0.0, 3.0])
    assert evaluate(elementwise.heaviside, values, np.full(4, 0.5)).tolist() == np.heaviside(values, 0.5).tolist()


def test_ignore_nan():
    left, right = np.array([1, NAN, 3, NAN]), np.array([2, 2, NAN, NAN])
    np.testing.assert_equal(evaluate(elementwise.ignore_nan(ops.Maximum), left, right), np.fmax(left, right))


def test_reciprocals_and_erfc():
    values = np.array([0.25, 4.0, 100.0])
    assert evaluate(elementwise.reciprocal, values).tolist() == [4, 0.25, 0.01]
    assert evaluate(elementwise.reciprocal_square_root, values).tolist() == [2, 0.5, 0.1]
    np.testing.assert_allclose(evaluate(elementwise.erfc, values), [math.erfc(x) for x in values], atol=1e-7)


def test_on_booleans():
    add = elementwise.on_booleans(ops.Add, ops.LogicalOr)
    for left, right in (([1, 2], [3, 4]), ([True, False], [True, True])):
        assert evaluate(add, np.array(left), np.array(right)).tolist() == (np.array(left) + np.array(right)).tolist()

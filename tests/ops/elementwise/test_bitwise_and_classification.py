"""Bitwise operations, IsNaN, IsInf and IsFinite, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

A = np.array([[5, -3, 0], [127, -128, 77]])
B = np.array([3, 1, 6])
BINARY = ["bitwise_and", "bitwise_or", "bitwise_xor"]
SPECIAL = np.float32([1, np.inf, -np.inf, np.nan, 0])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.int64])
@pytest.mark.parametrize("name", BINARY)
def test_bits_of_two(name, dtype):
    same_results(name, Data(A.astype(dtype)), Data(B.astype(dtype)))


@pytest.mark.parametrize("name", BINARY)
def test_bits_of_booleans_and_of_nothing(name):
    same_results(name, Data(A > 0), Data(B > 2))
    same_results(name, Data(np.zeros((0, 3), np.int32)), Data(B.astype(np.int32)))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.bool_])
def test_not(dtype):
    same_results("bitwise_not", Data(A.astype(dtype)))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts(name, dtype):
    same_results(name, Data(np.abs(A % 100).astype(dtype)), Data((B % 4).astype(dtype)), opset=15)


@pytest.mark.parametrize("name", ["is_finite", "is_nan"])
def test_kinds(name):
    same_results(name, Data(SPECIAL))
    same_results(name, Data(SPECIAL.astype(np.float16).reshape(1, 5)))


@pytest.mark.parametrize("attributes", [{}, {"detect_negative": False}, {"detect_positive": False}], ids=str)
def test_infinite(attributes):
    same_results("is_inf", Data(SPECIAL), attributes)


def test_refused():
    for name in BINARY:
        both_refuse(name, Unknown([2]), Unknown([2]))
    both_refuse("bitwise_not", Unknown([2]))
    both_refuse("bitwise_left_shift", Unknown([2], np.bool_), Unknown([2], np.bool_), opset=15)
    for name in ("is_finite", "is_nan", "is_inf"):
        both_refuse(name, Unknown([2], np.int32))


def test_shapes():
    same_shapes("bitwise_or", Unknown([-1, 3], np.int32), Unknown([2, 1], np.int32))
    same_shapes("is_nan", Unknown([-1, (2, 4)]))

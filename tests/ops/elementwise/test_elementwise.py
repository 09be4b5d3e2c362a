"""Element-wise operations with one input, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(7)
SIGNED = np.float32([-np.inf, -100, -3.5, -2.5, -1, -0.3, -0.0, 0, 1e-3, 0.5, 1, 1.5, 2.5, 7, 88, np.inf])
WIDE = np.linspace(-9, 9, 1001, dtype=np.float32)
UNIT = np.linspace(-1, 1, 101, dtype=np.float32)
POSITIVE = np.float32([0, 1e-6, 0.1, 1, 2, 1000])

UNARY = [
    ("acosh", 1 + POSITIVE, {}), ("asinh", WIDE, {}), ("atanh", UNIT[1:-1], {}),
    ("absolute", SIGNED, {}), ("ceil", WIDE, {}), ("abs", SIGNED, {}), ("acos", UNIT, {}),
    ("asin", UNIT, {}), ("atan", WIDE, {}), ("ceiling", WIDE, {}),
    ("cos", WIDE, {}), ("cosh", UNIT, {}), ("erf", WIDE, {}), ("exp", WIDE, {}), ("floor", WIDE, {}),
    ("log", POSITIVE, {}), ("negative", SIGNED, {}), ("sign", WIDE, {}), ("sin", WIDE, {}), ("sinh", UNIT, {}),
    ("sqrt", POSITIVE, {}), ("tan", UNIT, {}), ("tanh", SIGNED, {}), ("round", WIDE, {}),
    ("round", SIGNED[1:-1], {"mode": "half_away_from_zero"}), ("clamp", SIGNED, {"min_value": -1.5, "max_value": 6}),
    ("abs", np.int32([-3, 0, 3]), {}), ("negative", np.int64([-3, 4]), {}), ("sign", np.int32([-3, 0, 4]), {}),
    ("clamp", np.int32([-9, 0, 9]), {"min_value": -1.5, "max_value": 2.5}), ("exp", np.zeros([2, 0], np.float32), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "array", "attributes"), UNARY)
def test_unary(name, array, attributes):
    same_results(name, Data(array), **attributes)


REALS = ["acos", "asin", "atan", "cos", "cosh", "erf", "exp", "sin", "sinh", "sqrt"]


@pytest.mark.parametrize("name", [*REALS, "tan", "tanh", "floor", "ceiling", "round"])
def test_real_functions_of_integers(name):
    same_results(name, Data(np.int32([0, 1]) if name in ("acos", "asin", "sqrt") else np.int32([-7, -1, 0, 1, 2, 5])))


# OpenVINO's CPU device and its reference differ here, so the results are compared with the definitions.
DEFINED = [
    (ops.Round, {"mode": "half_away_from_zero"}, np.float32([0.49999997, -0.5, 2.5, 8388609]), [0, -1, 3, 8388609]),
    (ops.Round, {"mode": "half_away_from_zero"}, np.float32([4194304.5, -np.inf]), [4194305, -np.inf]),
    (ops.Round, {}, np.int64([2**60 + 1]), [2**60 + 1]),
    (ops.Clamp, {"min_value": 3e9, "max_value": 4e9}, np.int32([5]), [2**31 - 1]),
    (ops.Clamp, {"min_value": -5, "max_value": -1}, np.uint8([0, 7]), [0, 0]),
    (ops.Clamp, {"min_value": -np.inf, "max_value": np.inf}, np.int64([-(2**63), 2**63 - 1]), [-(2**63), 2**63 - 1]),
]


@pytest.mark.parametrize(("operation", "attributes", "array", "expected"), DEFINED)
def test_where_devices_differ(operation, attributes, array, expected):
    found = evaluate(operation(array, **attributes), [array])[0]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, np.array(expected, array.dtype))


PARTIAL = [("abs", ["[?,2..3]"]), ("round", ["[...]"])]


@pytest.mark.parametrize(("name", "shapes"), PARTIAL, ids=str)
def test_partial_shapes(name, shapes):
    same_shapes(name, *[Unknown(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("name", "arguments", "attributes"),
    [
        ("clamp", [Unknown([2])], {"min_value": 2, "max_value": 1}),
        ("sqrt", [Unknown([2], np.bool_)], {}),
    ],
)
def test_refused(name, arguments, attributes):
    both_refuse(name, *arguments, **attributes)

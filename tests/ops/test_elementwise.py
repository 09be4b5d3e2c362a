"""Element-wise operations, comparisons and logic beside OpenVINO."""

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
    ("abs", SIGNED, {}), ("acos", UNIT, {}), ("asin", UNIT, {}), ("atan", WIDE, {}), ("ceiling", WIDE, {}),
    ("cos", WIDE, {}), ("cosh", UNIT, {}), ("erf", WIDE, {}), ("exp", WIDE, {}), ("floor", WIDE, {}),
    ("log", POSITIVE, {}), ("negative", SIGNED, {}), ("relu", SIGNED, {}), ("sigmoid", SIGNED, {}), ("sign", WIDE, {}),
    ("sin", WIDE, {}), ("sinh", UNIT, {}), ("sqrt", POSITIVE, {}), ("tan", UNIT, {}), ("tanh", SIGNED, {}),
    ("mish", WIDE, {}), ("softplus", WIDE, {}), ("hswish", WIDE, {}), ("hsigmoid", WIDE, {}), ("softsign", WIDE, {}),
    ("round", WIDE, {}), ("round", SIGNED[1:-1], {"mode": "half_away_from_zero"}),
    ("gelu", WIDE, {"approximation_mode": "erf"}), ("gelu", WIDE, {"approximation_mode": "tanh"}),
    ("clamp", SIGNED, {"min_value": -1.5, "max_value": 6}), ("elu", WIDE, {"alpha": 0.7}), ("swish", WIDE, {}),
    ("abs", np.int32([-3, 0, 3]), {}), ("negative", np.int64([-3, 4]), {}), ("relu", np.int32([-3, 4]), {}),
    ("sign", np.int32([-3, 0, 4]), {}), ("clamp", np.int32([-9, 0, 9]), {"min_value": -1.5, "max_value": 2.5}),
    ("exp", np.zeros([2, 0], np.float32), {}), ("relu", np.float32(-2).reshape(()), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "array", "attributes"), UNARY)
def test_unary(name, array, attributes):
    same_results(name, Data(array), **attributes)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("hard_sigmoid", [np.float32(0.2), np.float32(0.5)]),
        ("selu", [np.float32([1.67]), np.float32([1.05])]),
        ("swish", [np.float32(1.5)]),
        ("prelu", [np.float32([0.25])]),
    ],
)
def test_unary_with_parameters(name, others):
    same_results(name, Data(WIDE.reshape(7, 143)), *others)


@pytest.mark.parametrize(
    ("data", "slope"), [([2, 3, 4, 4], [3]), ([2, 3, 4], [4]), ([2, 3, 3], [3]), ([2, 3], [3]), ([2, 3, 4], [3, 1])]
)
def test_slopes_of_prelu(data, slope):
    same_results("prelu", *[Data(rng.standard_normal(shape).astype(np.float32)) for shape in (data, slope)])


REALS = ["acos", "asin", "atan", "cos", "cosh", "erf", "exp", "hsigmoid", "hswish", "sigmoid", "sin", "sinh", "sqrt"]


@pytest.mark.parametrize("name", [*REALS, "tan", "tanh", "floor", "ceiling", "round"])
def test_real_functions_of_integers(name):
    same_results(name, Data(np.int32([0, 1]) if name in ("acos", "asin", "sqrt") else np.int32([-7, -1, 0, 1, 2, 5])))


# Of these OpenVINO's two implementations say different things: what is expected are the definitions.
DEFINED = [
    (ops.Round, {"mode": "half_away_from_zero"}, np.float32([0.49999997, -0.5, 2.5, 8388609]), [0, -1, 3, 8388609]),
    (ops.Round, {}, np.int64([2**60 + 1]), [2**60 + 1]),
    (ops.Clamp, {"min_value": 3e9, "max_value": 4e9}, np.int32([5]), [2**31 - 1]),
    (ops.Clamp, {"min_value": -5, "max_value": -1}, np.uint8([0, 7]), [0, 0]),
    (ops.Clamp, {"min_value": -np.inf, "max_value": np.inf}, np.int64([-(2**63), 2**63 - 1]), [-(2**63), 2**63 - 1]),
    (ops.Gelu, {"approximation_mode": "erf"}, np.float32([-1000, -20, np.inf]), [0, 0, np.inf]),
    (ops.Relu, {}, np.float32([np.nan]), [np.nan]),
]


@pytest.mark.parametrize(("operation", "attributes", "array", "expected"), DEFINED)
def test_where_devices_differ(operation, attributes, array, expected):
    found = evaluate(operation(array, **attributes), [array])[0]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, np.array(expected, array.dtype))


SHAPES = [([2, 3], [2, 3]), ([2, 3], [3]), ([2, 1, 4], [3, 1]), ([], [2]), ([0, 3], [1, 3])]
ARITHMETIC = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "mod", "floor_mod", "squared_difference"]


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
    """As Python's // and C's / do. OpenVINO's CPU device rounds toward zero either way; its reference does as here."""
    node = ops.Divide(np.int32([a]), np.int32([b]), m_pythondiv=pythonic)
    assert evaluate(node, [np.int32([a]), np.int32([b])])[0].tolist() == [expected]
    assert node.output(0).value.tolist() == [expected]


@pytest.mark.parametrize("exponent", [2, 0.5, 3, -1])
def test_powers_that_models_use(exponent):
    same_results("power", Data(np.float32([0.5, 1, 2, 9])), np.float32(exponent))


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("name", ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"])
def test_comparisons(name, dtype, shapes):
    a, b = (rng.integers(0, 3, shape).astype(dtype) for shape in shapes)
    same_results(name, Data(a), Data(b))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(name):
    same_results(name, Data(np.array([False, False, True, True])), Data(np.array([False, True, False, True])))


def test_not():
    same_results("logical_not", Data(np.array([[False, True]])))


@pytest.mark.parametrize("shapes", [([2, 3], [2, 3], [2, 3]), ([3], [2, 1], [2, 3]), ([], [2], [1])], ids=str)
def test_select(shapes):
    condition = rng.integers(0, 2, shapes[0]).astype(bool)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes[1:])
    same_results("select", Data(condition), Data(a), Data(b))


@pytest.mark.parametrize("to", ["f32", "i32", "i64", "u8", "boolean", "f16"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
def test_convert(dtype, to):
    same_results("convert", Data(np.array([0, 1, 3, 100]).astype(dtype)), to)


PARTIAL = [
    ("add", ["[?,3]", "[1,3]"]), ("add", ["[?]", "[?]"]), ("add", ["[...]", "[3]"]), ("add", ["[2..4,1]", "[5]"]),
    ("multiply", ["[1..4]", "[1..4]"]), ("less", ["[?,2]", "[2]"]), ("relu", ["[?,2..3]"]), ("relu", ["[...]"]),
    ("maximum", ["[3..8]", "[?]"]), ("subtract", ["[]", "[?,7]"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes"), PARTIAL, ids=str)
def test_partial_shapes(name, shapes):
    same_shapes(name, *[Unknown(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("name", "arguments", "attributes"),
    [
        ("add", [Unknown([2]), Unknown([3])], {}),
        ("add", [Unknown([2]), Unknown([2], np.int32)], {}),
        ("less", [Unknown([2]), Unknown([2], np.int32)], {}),
        ("logical_and", [Unknown([2]), Unknown([2])], {}),
        ("clamp", [Unknown([2])], {"min_value": 2, "max_value": 1}),
        ("select", [Unknown([2]), Unknown([2]), Unknown([2])], {}),
        ("gelu", [Unknown([2])], {"approximation_mode": "guess"}),
        ("gelu", [Unknown([2], np.int32)], {"approximation_mode": "erf"}),
        ("softplus", [Unknown([2], np.int32)], {}),
        ("sqrt", [Unknown([2], np.bool_)], {}),
        ("add", [Unknown([2], np.bool_), Unknown([2], np.bool_)], {}),
        ("swish", [Unknown([2]), Unknown([3])], {}),
        ("hard_sigmoid", [Unknown([2]), Unknown([1]), Unknown([])], {}),
        ("selu", [Unknown([2]), Unknown([], np.float16), Unknown([])], {}),
        ("select", [Unknown("[...]", np.bool_), Unknown([2]), Unknown([3])], {}),
    ],
)
def test_refused(name, arguments, attributes):
    both_refuse(name, *arguments, **attributes)

"""Element-wise operations: floating-point types compared with OpenVINO, integers with numpy."""

import numpy as np
import pytest

from hetero import Constant, Parameter, PartialShape, Type, ops
from tests.ops.oracle import Data

# Repeated, as few elements are not computed in vectors.
FLOATS = np.array([0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, 30, -30, 80, -80] * 40, np.float32)
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, -1.5, 2.5, np.inf, -np.inf, np.nan] * 52, np.float32)
SMALL = np.linspace(-0.95, 0.95, 576, dtype=np.float32).reshape(2, 3, 96)
CUBE = np.random.default_rng(0).standard_normal((2, 3, 96)).astype(np.float32)
SLOPES = np.array([0.1, -2, 3], np.float32)


def f32(value):
    return np.float32(value)


@pytest.mark.parametrize(
    "name",
    ["acos", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "sin", "sinh", "tan", "tanh", "sigmoid",
     "mish", "abs", "negative", "relu", "sign", "ceiling", "floor", "is_finite", "hsigmoid", "softsign"],
)  # fmt: skip
def test_functions(openvino_agrees, name):
    openvino_agrees(name, Data(SMALL))


@pytest.mark.parametrize(
    ("name", "data", "others"),
    [
        ("abs", SPECIAL, ()), ("sign", SPECIAL, ()), ("ceiling", SPECIAL, ()), ("floor", SPECIAL, ()),
        ("tanh", SPECIAL, ()), ("sigmoid", SPECIAL, ()), ("log", SPECIAL, ()), ("sqrt", SPECIAL, ()),
        ("erf", SPECIAL, ()), ("mish", FLOATS, ()), ("softplus", FLOATS, ()), ("acosh", abs(FLOATS) + f32(1), ()),
        ("power", CUBE, (f32(2),)), ("power", CUBE, (f32(3),)), ("power", abs(CUBE), (f32(-0.5),)),
        ("elu", FLOATS, (1.5,)), ("gelu", FLOATS, ("erf",)), ("gelu", FLOATS, ("tanh",)),
        ("selu", FLOATS, (f32(1.67), f32(1.05))), ("hard_sigmoid", FLOATS, (f32(0.2), f32(0.5))),
        ("swish", FLOATS, ()), ("swish", FLOATS, (f32(1.3),)),
        ("round", SPECIAL, ("half_to_even",)), ("round", SPECIAL, ("half_away_from_zero",)),
        ("power", np.array([-2, 2, -8, 0], np.float32), (np.array([2, 0.5, 3, 0], np.float32),)),
        ("mod", CUBE, (SMALL,)), ("floor_mod", CUBE, (SMALL,)), ("divide", CUBE, (SMALL,)),
        ("squared_difference", CUBE, (SMALL,)),
    ],
)  # fmt: skip
def test_functions_of_special_values_and_attributes(openvino_agrees, name, data, others):
    openvino_agrees(name, Data(data), *others)


def test_floor_mod_of_infinite_numbers(run):
    a, b = (array.ravel() for array in np.meshgrid(SPECIAL, SPECIAL))
    parameters = [Parameter(Type.f32, a.shape) for _ in range(2)]
    (found,) = run([ops.FloorMod(*parameters)], parameters, [a, b])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, np.mod(a, b), rtol=1e-6)


def test_nan_propagates(run):
    a, b = (array.ravel() for array in np.meshgrid(SPECIAL, SPECIAL))
    parameters = [Parameter(Type.f32, a.shape) for _ in range(2)]
    found = run([ops.Maximum(*parameters), ops.Minimum(*parameters), ops.Relu(parameters[0])], parameters, [a, b])
    for array, expected in zip(found, (np.maximum(a, b), np.minimum(a, b), np.maximum(a, 0))):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("is_fused", [False, True], ids=["alone", "after a product"])
@pytest.mark.parametrize(
    ("bounded", "expected"),
    [
        (lambda x: ops.Clamp(x, -1, 1.5), lambda x: np.clip(x, -1, 1.5)),
        (lambda x: ops.HardSigmoid(x, f32(0.2), f32(0.5)), lambda x: np.clip(f32(0.2) * x + f32(0.5), 0, 1)),
        (ops.HSigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
        (ops.HSwish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ],
    ids=["clamp", "hard_sigmoid", "hsigmoid", "hswish"],
)
def test_bounds_keep_nan(run, bounded, expected, is_fused):
    """As numpy.clip does; OpenVINO replaces NaN by a bound."""
    data = SPECIAL.reshape(-1, 1)
    x = Parameter(Type.f32, data.shape)
    value = ops.MatMul(x, np.ones([1, 40], np.float32), False, False) if is_fused else x
    (found,) = run([bounded(value)], [x], [data])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, np.broadcast_to(expected(data), found.shape), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [
    ops.Abs, ops.Acos, ops.Asin, ops.Atan, ops.Ceiling, ops.Cos, ops.Erf, ops.Exp, ops.Floor, ops.Log, ops.Mish,
    ops.Negative, ops.Relu, ops.Round, ops.Sigmoid, ops.Sign, ops.Sin, ops.SoftPlus, ops.SoftSign, ops.Sqrt, ops.Swish,
    ops.Tan, ops.Tanh,
])  # fmt: skip
def test_functions_keep_nan(run, kind):
    x = Parameter(Type.f32, [576])
    (found,) = run([kind(x)], [x], [np.full(576, np.nan, np.float32)])
    assert np.isnan(found).all()


@pytest.mark.parametrize("length", [1, 3, 7, 512, 768])
@pytest.mark.parametrize("shape", [[], [1]])
def test_a_vector_and_a_number_that_is_not_constant(run, length, shape):
    """The scales of a product that is quantized dynamically, per channel."""
    numbers = np.random.default_rng(0).standard_normal(length).astype(np.float32)
    scale, vector = Parameter(Type.f32, shape), Parameter(Type.f32, [length])
    results = [ops.Multiply(scale, vector), ops.Add(vector, ops.Relu(scale)), ops.Multiply(ops.Relu(scale), numbers)]
    found = run(results, [scale, vector], [np.full(shape, f32(0.7)), numbers])
    for array, expected in zip(found, (f32(0.7) * numbers, f32(0.7) + numbers, f32(0.7) * numbers)):
        np.testing.assert_allclose(array, expected, rtol=1e-6)


@pytest.mark.parametrize("slopes", [SLOPES, SLOPES[:1], SLOPES.reshape(3, 1)])
@pytest.mark.parametrize("is_data", [False, True])
def test_prelu(run, slopes, is_data):
    data = Parameter(Type.f32, CUBE.shape)
    slope = Parameter(Type.f32, slopes.shape) if is_data else Constant(slopes)
    parameters, arrays = ([data, slope], [CUBE, slopes]) if is_data else ([data], [CUBE])
    (found,) = run([ops.PRelu(data, slope)], parameters, arrays)
    channels = slopes.reshape(-1, 1)
    np.testing.assert_allclose(found, np.where(CUBE > 0, CUBE, channels * CUBE), rtol=1e-6)


def test_prelu_of_data_of_unknown_rank(run):
    data = Parameter(Type.f32, PartialShape.dynamic())
    (found,) = run([ops.PRelu(data, Constant(SLOPES))], [data], [CUBE])
    np.testing.assert_allclose(found, np.where(CUBE > 0, CUBE, SLOPES.reshape(-1, 1) * CUBE), rtol=1e-6)


INTEGER = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "mod": np.fmod, "floor_mod": np.mod, "divide": np.floor_divide, "equal": np.equal, "not_equal": np.not_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "less": np.less, "less_equal": np.less_equal,
    "squared_difference": lambda a, b: (a - b) * (a - b), "negative": np.negative, "abs": np.abs, "sign": np.sign,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8, np.uint16, np.uint64])
@pytest.mark.parametrize("name", INTEGER)
def test_integers(compute, name, dtype):
    """Includes overflow and division by zero."""
    info = np.iinfo(dtype)
    a, b = [[-7, 7, 3, -3, 0, info.min, info.max]], [[2], [-2], [3], [-1], [0], [info.max]]
    if info.min == 0:
        a, b = ([[abs(number) for number in row] for row in rows] for rows in (a, b))
    arrays = [np.array(a, dtype), np.array(b, dtype)][: 1 if name in ("negative", "abs", "sign") else 2]
    with np.errstate(all="ignore"):
        expected = INTEGER[name](*arrays)
    (found,) = compute(name, tuple(map(Data, arrays)), {})
    np.testing.assert_array_equal(found, expected, strict=True)


LARGE = np.array([2**53 + 1, 2**40, -(2**62)])
TRUTH, OTHER = np.array([True, True, False, False]), np.array([True, False, True, False])


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("add", (Data(LARGE), np.array([1])), LARGE + 1),
        ("power", (Data(np.array([3, 2, -2, -1, 5])), np.array([30, 40, 3, -3, -1])),
         np.array([3**30, 2**40, -8, -1, 0])),
        ("clamp", (Data(LARGE), float(-(2**40)), float(2**45)), np.array([2**45, 2**40, -(2**40)])),
        ("clamp", (Data(np.array([-7, 7, 2], np.int32)), -2.5, 2.5), np.array([-2, 2, 2], np.int32)),
        ("divide", (Data(np.array([-7, 7], np.int32)), np.array([2, -2], np.int32), "numpy", False),
         np.array([-3, -3], np.int32)),
        ("power", (Data(np.array([3, 7], np.uint64)), np.array([40, 2**63 + 1], np.uint64)),
         np.array([3**40, pow(7, 2**63 + 1, 2**64)], np.uint64)),
        ("clamp", (Data(np.array([0, 3, 9], np.uint8)), 0.5, float("inf")), np.array([1, 3, 9], np.uint8)),
        ("relu", (Data(np.array([-7, 7], np.int32)),), np.array([0, 7], np.int32)),
        ("logical_and", (Data(TRUTH), Data(OTHER)), TRUTH & OTHER),
        ("logical_or", (Data(TRUTH), Data(OTHER)), TRUTH | OTHER),
        ("logical_xor", (Data(TRUTH), Data(OTHER)), TRUTH ^ OTHER),
        ("logical_not", (Data(TRUTH),), ~TRUTH),
        ("equal", (Data(TRUTH), Data(OTHER)), TRUTH == OTHER),
        ("select", (Data(TRUTH), Data(OTHER), np.array(False)), np.where(TRUTH, OTHER, False)),
        ("select", (Data(TRUTH), f32(1.5), Data(f32([[2], [3]]))), np.where(TRUTH, f32(1.5), f32([[2], [3]]))),
    ],
)  # fmt: skip
def test_values(compute, name, arguments, expected):
    np.testing.assert_array_equal(compute(name, arguments, {})[0], expected, strict=True)


@pytest.mark.parametrize("source", ["f32", "i64", "u16", "i8", "u32", "boolean"])
@pytest.mark.parametrize("target", ["f32", "i64", "u16", "i8", "u32", "boolean"])
def test_convert(compute, source, target):
    numbers = np.array([0, 1, 2, 100]).astype(Type(source).to_dtype())
    (found,) = compute("convert", (Data(numbers), target), {})
    np.testing.assert_array_equal(found, numbers.astype(Type(target).to_dtype()), strict=True)


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((1,), (2, 3)), ((), (2, 3)), ((), ()), ((0, 3), (3,)), ((2, 0), (1, 1)),
     ((5, 1, 3, 1, 2), (4, 1, 6, 1)), ((1, 1, 1), (1,)), ((2, 1, 2, 1, 2, 1, 2, 1, 2), (1, 2, 1, 2, 1, 2, 1, 2, 1))],
)  # fmt: skip
@pytest.mark.parametrize("is_constant", [False, True])
def test_broadcasting(compute, a, b, is_constant):
    a, b = (np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) for shape in (a, b))
    (found,) = compute("subtract", (Data(a), b if is_constant else Data(b)), {})
    np.testing.assert_array_equal(found, a - b, strict=True)


@pytest.mark.parametrize("row", [15, 16, 17, 37, 2049])
def test_vectors_of_rows_with_broadcast_inputs(template_agrees, row):
    shapes = [(9, 5, row), (5, 1), (row,), (9, 1, row), (9, 1, 1), (1, 5, row)]
    parameters = [Parameter(Type.f32, shape) for shape in shapes]
    arrays = [np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in shapes]
    value = parameters[0]
    for other in parameters[1:]:
        value = ops.Tanh(ops.Add(ops.Multiply(value, other), other))
    template_agrees(value, parameters, arrays)

"""Element-wise operations and conversions of every element type, compared with numpy and OpenVINO."""

import math

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as openvino_ops
import pytest

from hetero import Constant, Parameter, Type, ops
from tests.ops.oracle import Data

HALVES = [np.float16, ml_dtypes.bfloat16]
SMALL_FLOATS = ["f4e2m1", "f6e2m3", "f6e3m2", "f8e4m3", "f8e5m2", "f8e8m0", "f8e4m3fnuz", "f8e5m2fnuz"]
SMALL_INTEGERS = ["i2", "i4", "u1", "u2", "u4"]
# Every f16 and bf16 value and its neighbors in f32, which lie on both sides of every rounding boundary of small types.
HALF_BITS = np.arange(1 << 16, dtype=np.uint16)
EVERY_HALF = np.append(HALF_BITS.view(np.float16).astype(np.float32), (HALF_BITS.astype(np.uint32) << 16).view("f4"))
EVERY_HALF = EVERY_HALF[~np.isnan(EVERY_HALF)]
BETWEEN = np.concatenate([EVERY_HALF, *(np.nextafter(EVERY_HALF, np.float32(end)) for end in (-np.inf, np.inf))])


def parameter_for(array):
    return Parameter(Type(array.dtype), array.shape)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


@pytest.mark.parametrize("kind", ["f16", "bf16", *SMALL_FLOATS])
def test_small_floats_are_rounded_as_numpy_rounds(run, kind):
    """Converted when a kernel stores the result, and within its expression."""
    data, dtype = parameter_for(BETWEEN), Type(kind).to_dtype()
    stored = ops.Convert(data, kind)
    passed = ops.Add(ops.Convert(ops.Convert(data, kind), "f32"), Constant(np.float32(0)))
    found, number = run([stored, passed], [data], [BETWEEN])
    with np.errstate(all="ignore"):
        expected = BETWEEN.astype(dtype)
    np.testing.assert_array_equal(bits(found), bits(expected))
    np.testing.assert_array_equal(number, expected.astype(np.float32))


@pytest.mark.parametrize("kind", [*SMALL_FLOATS, *SMALL_INTEGERS])
def test_every_code_is_a_number(run, kind):
    codes = np.arange(256, dtype=np.uint8) & np.uint8((1 << Type(kind).bitwidth) - 1)
    array = codes.view(Type(kind).to_dtype())
    data = parameter_for(array)
    numbers, same = run([ops.Convert(data, "f32"), ops.Convert(ops.Convert(data, "f32"), kind)], [data], [array])
    np.testing.assert_array_equal(numbers, array.astype(np.float32))
    np.testing.assert_array_equal(same.astype(np.float32), array.astype(np.float32))


@pytest.mark.parametrize("kind", ["nf4", "u3", "u6"])
def test_codes_of_types_without_numpy_conversion(run, kind):
    """Compared with OpenVINO's evaluation of Convert on packed codes."""
    element_type = Type(kind)
    count = 1 << element_type.bitwidth
    array = np.arange(count, dtype=np.uint8).view(element_type.to_dtype())
    data = Parameter(element_type, [count])
    (numbers,) = run([ops.Convert(data, "f32")], [data], [array])
    if kind == "nf4":
        nearer = numbers.reshape(-1, 1) + np.float32([-0.01, 0.01])
        wide = parameter_for(nearer)
        (codes,) = run([ops.Convert(wide, kind)], [wide], [nearer])
        np.testing.assert_array_equal(bits(codes).reshape(nearer.shape), np.arange(16)[:, None].repeat(2, 1))
        packed = np.array([low | high << 4 for low, high in np.arange(16).reshape(-1, 2)], np.uint8)
        tensor = openvino.Tensor(packed, openvino.Shape([16]), openvino.Type.nf4)
        output = openvino.Tensor(openvino.Type.f32, openvino.Shape([16]))
        assert openvino_ops.convert(openvino_ops.constant(tensor), "f32").evaluate([output], [tensor])
        np.testing.assert_array_equal(numbers, output.data)
    else:
        np.testing.assert_array_equal(numbers, np.arange(count))


NUMBERS = np.array(
    [-(2**63), -(2**31) - 1, -129, -128, -7, -1, 0, 1, 7, 8, 127, 128, 255, 256, 65_535, 2**32 + 5, 2**62]
)


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "u16", "i32", "u32", "u64", "f64", "f32", "f16", "u4", "i4"])
def test_integers_wrap_around(run, target):
    data = parameter_for(NUMBERS)
    (found,) = run([ops.Convert(data, target)], [data], [NUMBERS])
    with np.errstate(over="ignore"):
        low = NUMBERS.astype(np.int8) if target in ("u4", "i4") else NUMBERS
        np.testing.assert_array_equal(found, low.astype(Type(target).to_dtype()), strict=True)


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "i32", "i64", "u64", "f32", "f16", "bf16", "f8e4m3", "boolean"])
@pytest.mark.parametrize("source", ["f64", "bf16"])
def test_from_wide_and_narrow_floats(run, source, target):
    numbers = np.array([0, 0.3, 2.7, 3.5, 4.5, 17.2, 100, 1.06250001, 2.0**-30, -0.0]).astype(Type(source).to_dtype())
    data = parameter_for(numbers)
    (found,) = run([ops.Convert(data, target)], [data], [numbers])
    np.testing.assert_array_equal(found, numbers.astype(Type(target).to_dtype()), strict=True)


@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2", "f8e4m3fnuz", "f4e2m1"])
@pytest.mark.parametrize("saturate", [True, False])
def test_casts_saturate(run, kind, saturate):
    numbers = np.float32([1e9, -1e9, np.inf, -np.inf, 1.1, 500, 464, 3])
    data, dtype = parameter_for(numbers), Type(kind).to_dtype()
    (found,) = run([ops.Cast(data, kind, saturate)], [data], [numbers])
    limit = float(ml_dtypes.finfo(dtype).max)
    held = np.clip(numbers, -limit, limit) if saturate else numbers
    np.testing.assert_array_equal(bits(found), bits(held.astype(dtype)))


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [True, False])
def test_casts_to_powers_of_two(run, mode, saturate):
    numbers = np.float32([1, 1.1, 1.5, 1.75, -6, 3e38, 1e-38, 2e-39, 1e-44, 0, np.inf, np.nan])
    data = parameter_for(numbers)
    (found,) = run([ops.Cast(data, "f8e8m0", saturate, mode)], [data], [numbers])
    mantissas, exponents = np.frexp(np.abs(numbers[:9].astype(np.float64)))
    is_more = {"up": mantissas > 0.5, "down": mantissas < 0.5, "nearest": mantissas >= 0.75}[mode]
    codes = exponents - 1 + is_more + 127
    held = np.where(codes > 254, 254 if saturate else 255, np.where(codes < 0, 0 if saturate else 255, codes))
    np.testing.assert_array_equal(bits(found), [*held, 0, 254 if saturate else 255, 255])


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_round_at_every_node(run, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-4, 4, 1000).astype(dtype) for _ in range(2))
    x, y = parameter_for(a), parameter_for(b)
    total = ops.Add(ops.Multiply(x, y), Constant(dtype(0.1)))
    (found,) = run([ops.Subtract(ops.Divide(total, y), x)], [x, y], [a, b])
    np.testing.assert_array_equal(found, ((a * b + dtype(0.1)) / b) - a, strict=True)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    ("name", "expected"),
    [("exp", np.exp), ("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0)), ("asinh", np.arcsinh),
     ("hswish", lambda x: x * np.clip(x + 3, 0, 6) / 6), ("is_nan", np.isnan)],
)  # fmt: skip
def test_functions_of_halves(compute, name, expected, dtype):
    x = np.linspace(-4, 4, 999).astype(dtype)
    (found,) = compute(name, (Data(x),), {})
    wanted = expected(x.astype(np.float64))
    one_unit = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=one_unit, atol=1e-6)
    assert found.dtype == (dtype if wanted.dtype != np.bool_ else np.bool_)


@pytest.mark.parametrize(
    ("name", "others", "expected"),
    [
        ("exp", (), np.exp), ("log", (), lambda x: np.log(x)), ("erf", (), np.vectorize(math.erf)),
        ("gelu", ("erf",), np.vectorize(lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2)),
        ("softplus", (), lambda x: np.logaddexp(x, 0)), ("clamp", (-0.1, 0.7), lambda x: np.clip(x, -0.1, 0.7)),
        ("power", (np.array(1.3),), lambda x: np.power(x, 1.3)), ("power", (np.array(-0.5),), lambda x: x**-0.5),
        ("floor_mod", (np.array(-0.7),), lambda x: np.mod(x, -0.7)), 
        ("maximum", (np.array(0.1),), lambda x: np.maximum(x, 0.1)),
    ],
)  # fmt: skip
def test_doubles_keep_their_precision(compute, name, others, expected):
    x = np.linspace(-3, 3, 301)
    (found,) = compute(name, (Data(x), *others), {})
    with np.errstate(invalid="ignore", divide="ignore"):
        np.testing.assert_allclose(found, expected(x), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["exp", "sqrt", "sigmoid", "hswish", "tanh", "elu"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_functions_of_integers_are_rounded_to_nearest(compute, name, dtype):
    x = np.array([0, 1, 2, 3, 4, 19], dtype) if dtype is np.int32 else np.array([0, 1, 2, 3, 4], dtype)
    wide = x.astype(np.float64)
    expected = {
        "exp": np.exp(wide), "sqrt": np.sqrt(wide), "sigmoid": 1 / (1 + np.exp(-wide)), "tanh": np.tanh(wide),
        "hswish": wide * np.clip(wide + 3, 0, 6) / 6, "elu": wide,
    }  # fmt: skip
    (found,) = compute(name, (Data(x), 1.0) if name == "elu" else (Data(x),), {})
    np.testing.assert_array_equal(found, np.rint(expected[name]).astype(dtype), strict=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_bits(compute, dtype):
    info = np.iinfo(dtype)
    a = np.array([info.min, info.max, 5, 77, 1], dtype)
    b = np.array([[0], [1], [3], [info.bits - 1], [info.bits]], dtype)
    functions = {
        "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
        "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift,
    }  # fmt: skip
    for name, function in functions.items():
        np.testing.assert_array_equal(compute(name, (Data(a), Data(b)), {}, 15)[0], function(a, b), strict=True)
    np.testing.assert_array_equal(compute("bitwise_not", (Data(a),), {})[0], ~a, strict=True)


def test_bits_of_booleans(compute):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    np.testing.assert_array_equal(compute("bitwise_xor", (Data(a), Data(b)), {})[0], a ^ b, strict=True)
    np.testing.assert_array_equal(compute("bitwise_not", (Data(a),), {})[0], ~a, strict=True)


@pytest.mark.parametrize("attributes", [{}, {"detect_negative": False}, {"detect_positive": False}], ids=str)
def test_infinite_numbers(openvino_agrees, attributes):
    openvino_agrees("is_inf", Data(np.float32([1, np.inf, -np.inf, np.nan, 0])), attributes)


RANGES = np.float32([-1, 0, 0.5]).reshape(3, 1)


@pytest.mark.parametrize("levels", [2, 16, 256])
def test_fake_quantize(openvino_agrees, levels):
    data = np.random.default_rng(1).uniform(-2, 2, (2, 3, 40)).astype(np.float32)
    ranges = (RANGES, RANGES + 1.7, np.float32(-2), np.float32([3]))
    openvino_agrees("fake_quantize", Data(data), *ranges, levels)
    openvino_agrees("fake_quantize", Data(data), *map(Data, ranges), levels)


@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2"])
def test_fake_convert(run, kind, dtype):
    numbers = np.random.default_rng(1).uniform(-900, 900, (3, 50)).astype(dtype)
    scale, shift = np.array([[0.3], [1], [2]]).astype(dtype), np.array([[0.5], [0], [-3]]).astype(dtype)
    data, target = parameter_for(numbers), Type(kind).to_dtype()
    (found,) = run([ops.FakeConvert(data, Constant(scale), Constant(shift), kind)], [data], [numbers])
    limit = np.float32(ml_dtypes.finfo(target).max)
    wide = [array.astype(np.float32) for array in (numbers, scale, shift)]
    near = np.clip(wide[0] * wide[1] - wide[2], -limit, limit).astype(np.float16).astype(target).astype(np.float32)
    wanted = ((near + wide[2]) / wide[1]).astype(dtype)
    np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), rtol=1e-6)


def test_conversions_to_the_type_of_another(run):
    numbers, other = np.float32([0.5, 3.7, -2]), np.arange(4, dtype=np.int8)
    data, like = parameter_for(numbers), parameter_for(other)
    promoted = ops.ConvertPromoteTypes(data, like)
    outputs = [ops.ConvertLike(data, like).output(0), *promoted.outputs()]
    same, left, right = run(outputs, [data, like], [numbers, other])
    np.testing.assert_array_equal(same, numbers.astype(np.int8), strict=True)
    np.testing.assert_array_equal(left, numbers, strict=True)
    np.testing.assert_array_equal(right, other.astype(np.float32), strict=True)


@pytest.mark.parametrize("kind", ["u4", "f8e4m3", "nf4"])
def test_weights_of_small_types(run, kind):
    """Codes are decoded and scaled in one kernel."""
    codes = np.arange(12, dtype=np.uint8).reshape(3, 4)
    scale = np.float32([[0.5], [2], [3]])
    data = Parameter(Type.f32, [3, 4])
    weights = ops.Multiply(ops.Convert(ops.Convert(data, kind), "f32"), Constant(scale))
    numbers = run([ops.Convert(data, kind)], [data], [codes.astype(np.float32) / 12])[0]
    (found,) = run([weights], [data], [codes.astype(np.float32) / 12])
    plain = Parameter(Type(kind), [3, 4])
    (expected,) = run([ops.Convert(plain, "f32")], [plain], [numbers])
    np.testing.assert_array_equal(found, expected * scale)

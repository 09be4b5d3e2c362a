"""StableHLO element-wise operators, against LiteRT for the four that it runs, else the specification's formulas."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import constant, feed, model_of, out

X = np.float32([[-2.5, -1.0, 0.0], [0.5, 1.0, 7.25]])
POSITIVE = np.float32([0.25, 1, 2, 100, 1e-10])
INTEGERS, OTHERS = np.int32([-7, 7, -8, 8, 0]), np.int32([2, -2, 3, 5, 9])
YES, NO = np.array([True, True, False, False]), np.array([True, False, True, False])


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("kind", ["ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_as_litert(kind, dtype, device):
    model = model_of(f"STABLEHLO_{kind}", feed((2, 3), dtype), feed((2, 3), dtype))
    assert_as_litert(model, device)


# Operator, inputs, what it gives.
FORMULAS = {
    "logistic": ("LOGISTIC", [X], 1 / (1 + np.exp(-X))),
    "abs": ("ABS", [X], np.abs(X)),
    "abs of integers": ("ABS", [INTEGERS], np.abs(INTEGERS)),
    "cosine": ("COSINE", [X], np.cos(X)),
    "exponential": ("EXPONENTIAL", [X], np.exp(X)),
    "floor": ("FLOOR", [X], np.floor(X)),
    "log": ("LOG", [POSITIVE], np.log(POSITIVE)),
    "negate": ("NEGATE", [X], -X),
    "negate of integers": ("NEGATE", [INTEGERS], -INTEGERS),
    "tanh": ("TANH", [X], np.tanh(X)),
    "rsqrt": ("RSQRT", [POSITIVE], 1 / np.sqrt(POSITIVE)),
    "cbrt": ("CBRT", [X], np.cbrt(X)),
    "cbrt of large and small": ("CBRT", [np.float32([1e30])], np.float32([1e10])),
    "subtract": ("SUBTRACT", [X, X[::-1].copy()], X - X[::-1]),
    "divide": ("DIVIDE", [X, X + 4], X / (X + 4)),
    "divide of integers": ("DIVIDE", [INTEGERS, OTHERS], np.int32([-3, -3, -2, 1, 0])),
    "remainder": ("REMAINDER", [X, np.full_like(X, 0.75)], np.fmod(X, np.float32(0.75))),
    "remainder of integers": ("REMAINDER", [INTEGERS, OTHERS], np.int32([-1, 1, -2, 3, 0])),
    "power": ("POWER", [POSITIVE, POSITIVE[::-1].copy()], POSITIVE ** POSITIVE[::-1]),
    "power of integers": ("POWER", [np.int32([2, -3, 0, 5]), np.int32([10, 3, 0, 1])], np.int32([1024, -27, 1, 5])),
    "add of booleans": ("ADD", [YES, NO], YES | NO),
    "multiply of booleans": ("MULTIPLY", [YES, NO], YES & NO),
    "maximum of booleans": ("MAXIMUM", [YES, NO], YES | NO),
    "minimum of booleans": ("MINIMUM", [YES, NO], YES & NO),
    "and": ("AND", [YES, NO], YES & NO),
    "and of integers": ("AND", [INTEGERS, OTHERS], INTEGERS & OTHERS),
    "or": ("OR", [YES, NO], YES | NO),
    "or of integers": ("OR", [INTEGERS, OTHERS], INTEGERS | OTHERS),
    "shift left": (
        "SHIFT_LEFT", [np.int32([1, -3, 5, 5, 5]), np.int32([4, 1, 32, -1, 31])], np.int32([16, -6, 0, 0, -(1 << 31)])
    ),
    "clamp by scalars": ("CLAMP", [np.float32(-1), X, np.float32(2)], np.clip(X, -1, 2)),
    "clamp": ("CLAMP", [X - 1, X[::-1].copy(), X + 1], np.clip(X[::-1], X - 1, X + 1)),
    "select by a scalar": ("SELECT", [np.array(False), X, -X], -X),
    "select": ("SELECT", [X > 0, X, -X], np.abs(X)),
    "convert to integers": ("CONVERT", [X], np.int32([[-2, -1, 0], [0, 1, 7]])),
    "convert to booleans": ("CONVERT", [X], X != 0),
    "convert of booleans": ("CONVERT", [YES], np.float32([1, 1, 0, 0])),
    "convert to itself": ("CONVERT", [X], X),
}  # fmt: skip


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name, device):
    kind, inputs, expected = FORMULAS[name]
    output = out(expected.dtype, expected.shape)
    model = model_of(f"STABLEHLO_{kind}", *map(feed, inputs), outputs=[output])
    assert_gives(model, [expected], device)


COMPARISONS = {
    "EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less,
}  # fmt: skip
# In the order of IEEE 754's totalOrder.
ORDERED = np.float32([-np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan])


def compared(left, right, expected, direction, kind, device):
    model = model_of(
        "STABLEHLO_COMPARE", feed(left), feed(right), outputs=[out(bool, expected.shape)],
        comparison_direction=f"STABLEHLO_COMPARISON_DIRECTION_{direction}",
        compare_type=f"STABLEHLO_COMPARISON_TYPE_{kind}",
    )  # fmt: skip
    assert_gives(model, [expected], device)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("direction", COMPARISONS)
def test_compare(direction, device):
    function = COMPARISONS[direction]
    left, right = np.meshgrid(ORDERED, ORDERED)
    compared(left, right, function(left, right), direction, "FLOAT", device)
    compared(INTEGERS, OTHERS, function(INTEGERS, OTHERS), direction, "SIGNED", device)
    compared(YES, NO, function(YES, NO), direction, "UNSIGNED", device)
    places = np.arange(len(ORDERED))
    expected = function(*np.meshgrid(places, places))
    compared(left, right, expected, direction, "FLOAT_TOTAL_ORDER", device)


def quantized(values, **more):
    return feed(np.int8(values), scale=0.5, zero_point=3, **more)


# Numbers are (integer - 3) / 2; the spec computes with them.
@pytest.mark.parametrize(
    ("kind", "inputs", "expected"),
    [
        ("ADD", ([5, 9], [4, -7]), [6, -1]),
        ("MULTIPLY", ([5, 9], [5, -7]), [5, -27]),
        ("MAXIMUM", ([5, 9], [4, 10]), [5, 10]),
        ("NEGATE", ([5, 9],), [1, -3]),
        ("CLAMP", ([0, 0], [-5, 9], [8, 8]), [0, 8]),
    ],
)
def test_quantized(kind, inputs, expected):
    output = out(np.int8, (2,), scale=0.5, zero_point=3)
    model = model_of(f"STABLEHLO_{kind}", *map(quantized, inputs), outputs=[output])
    assert_gives(model, [np.int8(expected)], "TEMPLATE")


def test_quantize_and_dequantize():
    x, integers = np.float32([-1, 0, 2.5]), np.int8([1, 3, 8])
    made_integers = out(np.int8, (3,), scale=0.5, zero_point=3)
    assert_gives(model_of("STABLEHLO_CONVERT", feed(x), outputs=[made_integers]), [integers], "TEMPLATE")
    assert_gives(model_of("STABLEHLO_CONVERT", quantized([1, 3, 8]), outputs=[out(np.float32, (3,))]), [x], "TEMPLATE")


def test_constants():
    model = model_of("STABLEHLO_SUBTRACT", feed(X), constant(X), outputs=[out(np.float32, X.shape)])
    assert_gives(model, [np.zeros_like(X)], "TEMPLATE")

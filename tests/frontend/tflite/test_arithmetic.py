"""Element-wise arithmetic against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import DEVICES, assert_as_litert
from tests.frontend.tflite.litert import FAST, REFERENCE
from tests.frontend.tflite.models import constant, feed, model_of, out

RANDOM = np.random.default_rng(1)
REALS = np.linspace(-4.3, 4.3, 48, dtype=np.float32).reshape(2, 6, 4)
POSITIVE = np.abs(REALS)
BYTES = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
WORDS = np.arange(-32768, 32768, 64, dtype=np.int16)
LEFT = np.array([[-7, 7, 9], [-8, 8, 120]])
RIGHT = np.array([2, -2, 3])
# The reference kernels have not all operators.
WITHOUT_REFERENCE = ("CEIL", "ROUND")


def integers(dtype, scale, zero_point, shape, low=None):
    limits = np.iinfo(dtype)
    data = RANDOM.integers(limits.min if low is None else low, limits.max, shape, dtype, endpoint=True)
    return feed(data, scale=scale, zero_point=zero_point)


def to(dtype, scale, zero_point=0):
    return [out(dtype, scale=scale, zero_point=zero_point)]


def quantized(kind, dtype, zero_point, scale=0.15, low=None, **options):
    """Return a model of two inputs of different scales; the second is broadcast and not below ``low``."""
    second = integers(dtype, 0.07, -zero_point if dtype == np.int8 else zero_point, (20,), low)
    return model_of(
        kind, integers(dtype, 0.1, zero_point, (50, 20)), second, outputs=to(dtype, scale, zero_point), **options
    )


def whole(kind, dtype):
    return model_of(kind, feed(LEFT.astype(dtype)), feed(RIGHT.astype(dtype)))


UNARY = {
    **{
        kind: model_of(kind, feed(REALS))
        for kind in ("ABS", "CEIL", "COS", "EXP", "FLOOR", "NEG", "SIGN", "SIN", "SQUARE")
    },
    **{kind: model_of(kind, feed(POSITIVE)) for kind in ("LOG", "SQRT", "RSQRT")},
    "ROUND": model_of("ROUND", feed(np.array([-2.5, -1.5, -0.5, -0.1, 0.5, 0.7, 1.5, 2.5], np.float32))),
    "ABS, i32": model_of("ABS", feed(LEFT.astype(np.int32))),
    "NEG, i32": model_of("NEG", feed(LEFT.astype(np.int32))),
    "NEG, i64": model_of("NEG", feed(LEFT.astype(np.int64))),
    "SIGN, i32": model_of("SIGN", feed(LEFT.astype(np.int32))),
    "SIGN, f64": model_of("SIGN", feed(REALS.astype(np.float64))),
    "ABS, quantized": model_of("ABS", feed(BYTES, scale=0.1, zero_point=3), outputs=to(np.int8, 0.1, -5)),
    "ABS, i16": model_of("ABS", feed(WORDS, scale=0.1), outputs=to(np.int16, 0.2)),
    "NEG, integers as they are": model_of("NEG", feed(BYTES, scale=0.1, zero_point=3), outputs=to(np.int8, 0.1, 3)),
    "EXP, quantized": model_of("EXP", feed(BYTES, scale=0.01, zero_point=3), outputs=to(np.int8, 0.02, -128)),
    "LOG, quantized": model_of("LOG", feed(BYTES, scale=0.1, zero_point=-5), outputs=to(np.int8, 0.05)),
    "SQRT, quantized": model_of(
        "SQRT", feed(np.maximum(BYTES, -5), scale=0.1, zero_point=-5), outputs=to(np.int8, 0.02, -128)
    ),
    "RSQRT, quantized": model_of(
        "RSQRT", feed(np.maximum(BYTES, 0), scale=0.1, zero_point=-5), outputs=to(np.int8, 0.02, -128)
    ),
    "SIN, of any shape": model_of("SIN", feed(REALS, signature=(-1, 6, -1))),
    "NEG, of nothing": model_of("NEG", feed((0, 3))),
}

BINARY = {
    **{
        kind: model_of(kind, feed(REALS), feed(np.array([1, 2.5, -3, 0.1], np.float32)))
        for kind in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM", "FLOOR_DIV", "FLOOR_MOD")
    },
    **{
        f"{kind}, both broadcast": model_of(kind, feed((2, 1, 4)), feed((3, 1)))
        for kind in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "FLOOR_DIV", "FLOOR_MOD")
    },
    "POW": model_of("POW", feed(POSITIVE), feed(np.array([1, 2.5, -3, 0.1], np.float32))),
    "POW, i32": model_of("POW", feed(np.array([2, 3, -3], np.int32)), feed(np.array([10, 19, 3], np.int32))),
    "POW, a square": model_of("POW", feed(REALS), constant(2.0)),
    **{
        f"{kind}, {np.dtype(dtype)}": whole(kind, dtype)
        for kind, dtypes in {
            "ADD": (np.int32, np.int64, np.int16),
            "SUB": (np.int32, np.int64),
            "MUL": (np.int32, np.int64, np.uint32),
            "DIV": (np.int32,),
            "SQUARED_DIFFERENCE": (np.int32,),
            "MAXIMUM": (np.int32, np.int64, np.int16, np.int8, np.uint8),
            "MINIMUM": (np.int32, np.int64, np.int16, np.int8, np.uint8),
            "FLOOR_DIV": (np.int32, np.int16, np.int8),
            "FLOOR_MOD": (np.int32, np.int64, np.int16, np.int8),
        }.items()
        for dtype in dtypes
    },
    **{
        f"{kind}, {function}": model_of(kind, feed((2, 3)), feed((3,)), fused_activation_function=function)
        for kind in ("ADD", "SUB", "MUL", "DIV")
        for function in ("RELU", "RELU6", "RELU_N1_TO_1")
    },
    **{
        f"{kind}, i32, {function}": model_of(
            kind, feed(LEFT, np.int32), feed(RIGHT, np.int32), fused_activation_function=function
        )
        for kind in ("ADD", "SUB", "MUL", "DIV")
        for function in ("RELU", "RELU6")
    },
    "ADD_N": model_of("ADD_N", feed((2, 3)), feed((2, 3)), feed((2, 3))),
    "ADD_N, i32": model_of("ADD_N", feed(LEFT, np.int32), feed(LEFT, np.int32)),
    "ADD, of any shape": model_of("ADD", feed((2, 3), signature=(-1, 3)), feed((2, 1), signature=(-1, 1))),
    **{f"{kind}, i8": quantized(kind, np.int8, 3) for kind in ("ADD", "SUB", "SQUARED_DIFFERENCE")},
    **{f"{kind}, u8": quantized(kind, np.uint8, 110) for kind in ("ADD", "SUB")},
    **{f"{kind}, i16": quantized(kind, np.int16, 0) for kind in ("ADD", "SUB")},
    "MUL, i8": quantized("MUL", np.int8, 3, 0.3),
    "MUL, u8": quantized("MUL", np.uint8, 110, 0.3),
    "MUL, i16": quantized("MUL", np.int16, 0, 90.0),
    "ADD, i8, RELU": quantized("ADD", np.int8, 3, fused_activation_function="RELU"),
    "MUL, u8, RELU6": quantized("MUL", np.uint8, 110, fused_activation_function="RELU6"),
    "FLOOR_MOD, integers as they are": quantized("FLOOR_MOD", np.int8, 3, low=1),
    "FLOOR_DIV, integers as they are": quantized("FLOOR_DIV", np.int16, 0, low=1),
    **{
        f"{kind}, quantized {np.dtype(dtype)}": model_of(
            kind, integers(dtype, 0.1, 0, (50, 20)), integers(dtype, 0.1, 0, (20,)), outputs=to(dtype, 0.1)
        )
        for kind in ("MAXIMUM", "MINIMUM")
        for dtype in (np.int8, np.uint8, np.int16)
    },
    **{
        # LiteRT's factor overflows where the quotient is small beside the scale of the results.
        f"DIV, {np.dtype(dtype)}": model_of(
            "DIV",
            feed(dividend.astype(dtype), scale=0.1),
            feed(divisor.astype(dtype), scale=0.07),
            outputs=to(dtype, 0.05),
        )
        for dtype in (np.int8, np.uint8, np.int16)
        for dividend, divisor in ((RANDOM.integers(40, 127, (50, 20)), RANDOM.integers(20, 127, 20)),)
    },
}

EDGES = np.array([0.0, 1, -1, 2, -0.0, np.inf, -np.inf, 3, -3, 1e-20])
ANGLES = {
    f"ATAN2, {dtype}": model_of(
        "ATAN2", feed(np.repeat(EDGES, 10).astype(dtype)), feed(np.tile(EDGES, 10).astype(dtype))
    )
    for dtype in ("float32", "float64")
}
# LiteRT takes few operators of halves.
HALVES = {
    **{
        f"{kind}, float16": model_of(kind, feed(REALS.astype(np.float16)))
        for kind in ("NEG", "FLOOR", "ROUND", "SIN", "COS")
    },
    **{
        f"{kind}, float16": model_of(kind, feed(REALS.astype(np.float16)), feed(POSITIVE.astype(np.float16)))
        for kind in ("ADD", "MUL", "MAXIMUM", "MINIMUM")
    },
}
CASES = UNARY | BINARY | ANGLES | HALVES


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_arithmetic(name, device):
    assert_as_litert(CASES[name], device, resolver=FAST if name.startswith(WITHOUT_REFERENCE) else REFERENCE)


@pytest.mark.parametrize("device", DEVICES)
def test_one_shape_after_another(device):
    rows, row = feed((2, 3), signature=(-1, 3), name="rows"), feed((1, 3), name="row")
    calls = [
        {"rows": np.full((count, 3), count, np.float32), "row": np.ones((1, 3), np.float32)} for count in (1, 5, 0)
    ]
    assert_as_litert(model_of("SUB", rows, row, outputs=[out(signature=(-1, 3))]), device, calls=calls)

"""Conversions between element types against LiteRT."""

import ml_dtypes
import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import DEVICES, assert_gives, operator_test
from tests.frontend.tflite.litert import FAST
from tests.frontend.tflite.models import constant, feed, model_of, out

RANDOM = np.random.default_rng(1)
FLOATS = (np.float32, np.float64, np.float16)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32)
PLAIN = np.array([0, 1, 2.7, 100, 0.4])
GREAT = np.array([-1.5, 300, -300, 70000, -70000, 3e9, -3e9, 1e19, -1e19, np.nan, np.inf, -np.inf])
# What LiteRT converts between integers of.
RESCALED = {
    np.int8: (np.int8, np.uint8, np.int16),
    np.uint8: (np.int8, np.uint8, np.int16),
    np.int16: (np.int8, np.int16),
}
HALVES = np.arange(-16, 16, dtype=np.float32) / 2


def integers(dtype, *shape):
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def zero_point(dtype):
    return 0 if dtype == np.int16 else 5


def casts(sources, targets, contents):
    return {
        f"CAST, {np.dtype(source)} to {np.dtype(target)}": model_of(
            "CAST", feed(contents.astype(source)), outputs=[out(target)]
        )
        for source in sources
        for target in targets
    }


def bitcasts(*pairs):
    """Return a BITCAST of two rows. If the target type is wider, a row has as many bytes as one of its elements."""
    for source, target in pairs:
        count = max(1, np.dtype(target).itemsize // np.dtype(source).itemsize)
        contents = (integers(np.uint8, 2 * count * np.dtype(source).itemsize) & 0x7B).view(source)
        data = contents.reshape(2, count) if count > 1 else contents
        yield (
            f"BITCAST, {np.dtype(source)} to {np.dtype(target)}",
            model_of("BITCAST", feed(data), outputs=[out(target)]),
        )


with np.errstate(all="ignore"):
    CASES = {
        **casts((*FLOATS, *INTEGERS, bool, ml_dtypes.bfloat16), (np.float32, np.int32, bool), PLAIN),
        **casts((np.float32, np.int32, bool), (*FLOATS, *INTEGERS), PLAIN),
        **{f"{name}, great": case for name, case in casts(FLOATS, INTEGERS, GREAT).items()},
        **{f"{name}, great": case for name, case in casts((np.int32, np.int64), INTEGERS, GREAT[:7]).items()},
    }
CASES |= {
    "CAST, quantized": model_of("CAST", feed(integers(np.int8, 9), scale=0.1, zero_point=4), outputs=[out(np.float32)]),
    **dict(
        bitcasts(
            (np.float32, np.int32),
            (np.int32, np.float32),
            (np.int8, np.uint8),
            (np.float32, np.uint8),
            (np.int16, np.float32),
            (np.uint8, np.int64),
            (np.float64, np.int16),
            (np.float16, np.int16),
        )
    ),
    **{
        f"QUANTIZE, to {np.dtype(dtype)}": model_of(
            "QUANTIZE", feed((50, 20)), outputs=[out(dtype, scale=0.03, zero_point=zero_point(dtype))]
        )
        for dtype in (np.int8, np.uint8, np.int16)
    },
    **{
        f"DEQUANTIZE, {np.dtype(dtype)}": model_of(
            "DEQUANTIZE",
            feed(integers(dtype, 50, 20), scale=0.03, zero_point=zero_point(dtype)),
            outputs=[out(np.float32)],
        )
        for dtype in (np.int8, np.uint8, np.int16)
    },
    "DEQUANTIZE, f16": model_of("DEQUANTIZE", constant(PLAIN.astype(np.float16)), outputs=[out(np.float32)]),
    "DEQUANTIZE, f16 that is given": model_of("DEQUANTIZE", feed(PLAIN.astype(np.float16)), outputs=[out(np.float32)]),
    "DEQUANTIZE, i4": model_of(
        "DEQUANTIZE", constant(RANDOM.integers(-8, 8, 9).astype(ml_dtypes.int4), scale=0.1), outputs=[out(np.float32)]
    ),
    "DEQUANTIZE, a scale for each channel": model_of(
        "DEQUANTIZE",
        feed(integers(np.int8, 2, 3, 4), scale=[0.1, 0.2, 0.3], zero_point=[1, 2, 3], axis=1),
        outputs=[out(np.float32)],
    ),
    "QUANTIZE, a scale for each channel": model_of(
        "QUANTIZE", feed((2, 3, 4)), outputs=[out(np.int8, scale=[0.1, 0.02, 0.03], zero_point=[0, 0, 0], axis=1)]
    ),
    "QUANTIZE, of any shape": model_of(
        "QUANTIZE", feed((2, 3), signature=(-1, 3)), outputs=[out(np.int8, scale=0.03, signature=(-1, 3))]
    ),
    **{
        f"FAKE_QUANT, {bits} bits of {low} to {high}": model_of(
            "FAKE_QUANT", feed((50, 20)), min=low, max=high, num_bits=bits
        )
        for bits in (8, 4)
        for low, high in ((-3, 4), (0, 6), (0.5, 3), (-4, -1))
    },
}
# Of halves, too, LiteRT's rounding: that of its fast kernels, which for numbers is not the reference's.
EXACT = {
    "QUANTIZE, halves": model_of("QUANTIZE", feed(HALVES), outputs=[out(np.int8, scale=1.0)]),
    **{
        f"QUANTIZE, {np.dtype(source)} to {np.dtype(target)}, {scale}": model_of(
            "QUANTIZE",
            feed(integers(source, 50, 20), scale=0.03, zero_point=zero_point(source)),
            outputs=[out(target, scale=scale, zero_point=-zero_point(target) if target == np.int8 else 0)],
        )
        for source, targets in RESCALED.items()
        for target in targets
        for scale in (0.03, 0.05, 0.06)
    },
}


test_conversion = operator_test(CASES)
test_exact_conversion = operator_test(EXACT, steps=0, resolver=FAST)


@pytest.mark.parametrize("device", DEVICES)
def test_narrow_range(device):
    """LiteRT refuses narrow_range. Without the lowest level there are 254 steps, from -127 to 127."""
    data = np.array([-2, -1.27, -0.014, 0.006, 1, 1.4], np.float32)
    model = model_of(
        "FAKE_QUANT", feed(data), outputs=[out(np.float32, (6,))], min=-1.27, max=1.27, num_bits=8, narrow_range=True
    )
    assert_gives(model, [np.array([-1.27, -1.27, -0.01, 0.01, 1, 1.27], np.float32)], device)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min": -1.0, "max": 1.0, "num_bits": 40}, "num_bits must be 2 to 16, but is 40"),
        ({"min": 1.0, "max": 1.0, "num_bits": 8}, "max must be greater than min, but they are 1.0 and 1.0"),
    ],
)
def test_ranges_that_are_none(options, message):
    model = model_of("FAKE_QUANT", feed((6,)), outputs=[out(np.float32, (6,), name="levels")], **options)
    with pytest.raises(FrontendError, match=f"FAKE_QUANT node 'levels': {message}"):
        Core().read_model(model.content)

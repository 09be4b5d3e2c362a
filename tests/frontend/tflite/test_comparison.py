"""Comparison, logical and bitwise operators and selection against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import operator_test
from tests.frontend.tflite.graphs import COMPARISONS
from tests.frontend.tflite.models import feed, model_of, out

RANDOM = np.random.default_rng(1)
LEFT = np.array([[-7, 0, 3], [-8, 8, 120]])
RIGHT = np.array([2, 0, 3])
BITS = np.array([[1, 7], [100, 255]])
TRUE = np.array([[1, 0, 1], [0, 0, 1]], bool)


def integers(dtype, *shape):
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def compared(kind, scale, other, dtype=np.int8):
    """Return quantized inputs, some of which are equal or nearly equal."""
    left = feed(integers(dtype, 100, 20), scale=scale, zero_point=3)
    return model_of(kind, left, feed(integers(dtype, 20), scale=other, zero_point=3))


def whole(kind, dtype):
    return model_of(kind, feed(LEFT.astype(dtype)), feed(RIGHT.astype(dtype)))


CASES = {
    **{
        f"{kind}, {np.dtype(dtype)}": whole(kind, dtype)
        for kind in COMPARISONS
        for dtype in (np.float32, np.int32, np.int64)
    },
    "EQUAL, bool": whole("EQUAL", bool),
    "NOT_EQUAL, bool": whole("NOT_EQUAL", bool),
    **{f"{kind}, quantized alike": compared(kind, 0.1, 0.1) for kind in COMPARISONS},
    **{f"{kind}, quantized otherwise": compared(kind, 0.1, 0.2) for kind in COMPARISONS},
    # LiteRT does not tell numbers apart that differ by little.
    **{f"{kind}, in small steps": compared(kind, 0.001, 0.001) for kind in COMPARISONS},
    **{f"{kind}, u8": compared(kind, 0.3, 0.07, np.uint8) for kind in COMPARISONS},
    "LOGICAL_AND": model_of("LOGICAL_AND", feed(TRUE), feed(np.array([0, 1, 1], bool))),
    "LOGICAL_OR": model_of("LOGICAL_OR", feed(TRUE), feed(np.array([0, 1, 0], bool))),
    "LOGICAL_NOT": model_of("LOGICAL_NOT", feed(TRUE)),
    **{
        f"{kind}, {np.dtype(dtype)}": model_of(kind, feed(BITS.astype(dtype)), feed(np.array([1, 9], dtype)))
        for kind in ("BITWISE_XOR", "RIGHT_SHIFT")
        for dtype in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)
    },
    **{
        f"{kind}, {np.dtype(dtype)}": model_of(
            kind, feed(TRUE), feed(LEFT.astype(dtype)), feed(LEFT[::-1].astype(dtype)), outputs=[out(dtype)]
        )
        for kind in ("SELECT", "SELECT_V2")
        for dtype in (np.float32, np.int32, np.int64, np.uint8, np.int8, np.int16, np.uint32, bool)
    },
    "SELECT, of slices": model_of("SELECT", feed(TRUE[0, :2]), feed((2, 3)), feed((2, 3)), outputs=[out(np.float32)]),
    "SELECT, all or nothing": model_of(
        "SELECT", feed(TRUE[0, 0]), feed((2, 3)), feed((2, 3)), outputs=[out(np.float32)]
    ),
    "SELECT, quantized": model_of(
        "SELECT",
        feed(TRUE[0, :2]),
        feed((2, 3), scale=0.1),
        feed((2, 3), scale=0.1),
        outputs=[out(np.int8, scale=0.1)],
    ),
    "SELECT_V2, broadcast": model_of(
        "SELECT_V2", feed(TRUE[:, :1]), feed((2, 1, 3)), feed(()), outputs=[out(np.float32)]
    ),
    "SELECT_V2, quantized": model_of(
        "SELECT_V2",
        feed(TRUE[:, :1]),
        feed((2, 1, 3), scale=0.1),
        feed((), scale=0.1),
        outputs=[out(np.int8, scale=0.1)],
    ),
    "EQUAL, string": model_of("EQUAL", feed(["a", "b", ""]), feed(["a", "c", ""])),
    "NOT_EQUAL, string": model_of("NOT_EQUAL", feed(["a", "b", ""]), feed(["a", "c", ""])),
    "LESS, of any shape": model_of("LESS", feed((2, 3), signature=(-1, 3)), feed((2, 1), signature=(-1, 1))),
}


test_comparison = operator_test(CASES)

"""Comparison, logical and bitwise operators and selection against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import operator_test
from tests.frontend.tflite.graphs import COMPARISONS
from tests.frontend.tflite.models import given, made, one

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
    left = given(integers(dtype, 100, 20), scale=scale, zero_point=3)
    return one(kind, left, given(integers(dtype, 20), scale=other, zero_point=3))


def whole(kind, dtype):
    return one(kind, given(LEFT.astype(dtype)), given(RIGHT.astype(dtype)))


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
    "LOGICAL_AND": one("LOGICAL_AND", given(TRUE), given(np.array([0, 1, 1], bool))),
    "LOGICAL_OR": one("LOGICAL_OR", given(TRUE), given(np.array([0, 1, 0], bool))),
    "LOGICAL_NOT": one("LOGICAL_NOT", given(TRUE)),
    **{
        f"{kind}, {np.dtype(dtype)}": one(kind, given(BITS.astype(dtype)), given(np.array([1, 9], dtype)))
        for kind in ("BITWISE_XOR", "RIGHT_SHIFT")
        for dtype in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)
    },
    **{
        f"{kind}, {np.dtype(dtype)}": one(
            kind, given(TRUE), given(LEFT.astype(dtype)), given(LEFT[::-1].astype(dtype)), outputs=[made(dtype)]
        )
        for kind in ("SELECT", "SELECT_V2")
        for dtype in (np.float32, np.int32, np.int64, np.uint8, np.int8, np.int16, np.uint32, bool)
    },
    "SELECT, of slices": one("SELECT", given(TRUE[0, :2]), given((2, 3)), given((2, 3)), outputs=[made(np.float32)]),
    "SELECT, all or nothing": one(
        "SELECT", given(TRUE[0, 0]), given((2, 3)), given((2, 3)), outputs=[made(np.float32)]
    ),
    "SELECT, quantized": one(
        "SELECT",
        given(TRUE[0, :2]),
        given((2, 3), scale=0.1),
        given((2, 3), scale=0.1),
        outputs=[made(np.int8, scale=0.1)],
    ),
    "SELECT_V2, broadcast": one(
        "SELECT_V2", given(TRUE[:, :1]), given((2, 1, 3)), given(()), outputs=[made(np.float32)]
    ),
    "SELECT_V2, quantized": one(
        "SELECT_V2",
        given(TRUE[:, :1]),
        given((2, 1, 3), scale=0.1),
        given((), scale=0.1),
        outputs=[made(np.int8, scale=0.1)],
    ),
    "EQUAL, string": one("EQUAL", given(["a", "b", ""]), given(["a", "c", ""])),
    "NOT_EQUAL, string": one("NOT_EQUAL", given(["a", "b", ""]), given(["a", "c", ""])),
    "LESS, of any shape": one("LESS", given((2, 3), signature=(-1, 3)), given((2, 1), signature=(-1, 1))),
}


test_comparison = operator_test(CASES)

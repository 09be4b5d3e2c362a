"""Reductions, arg-max and cumulative sums against LiteRT."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import DEVICES, assert_as_litert
from tests.frontend.tflite.litert import FAST, REFERENCE
from tests.frontend.tflite.models import constant, feed, model_of, out

RANDOM = np.random.default_rng(1)
NUMBERS = ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")
LOGICAL = ("REDUCE_ANY", "REDUCE_ALL")
EXTREMES = ("REDUCE_MAX", "REDUCE_MIN")
AXES = ([1], [0, 2], [-1], [0, 1, 2], [], [1, -2], 2)
WHOLE = np.array([[-7, 7, 9, 8], [-8, 8, 3, -7], [1, 2, 3, 2]])
TRUE = np.array([[[1, 1], [0, 1]], [[0, 0], [0, 1]]], bool)


def axes(numbers):
    return constant(np.array(numbers, np.int32))


def quantized(kind, dtype, zero_point, scale, to_zero_point, **options):
    limits = np.iinfo(dtype)
    data = RANDOM.integers(limits.min, limits.max, (2, 5, 6, 7), dtype, endpoint=True)
    return model_of(
        kind,
        feed(data, scale=0.1, zero_point=zero_point),
        axes([1, 2]),
        outputs=[out(dtype, scale=scale, zero_point=to_zero_point)],
        **options,
    )


def place(kind, dtype, axis=-1, index=np.int32, **more):
    data = feed(WHOLE.astype(dtype), **more)
    return model_of(kind, data, constant(axis), outputs=[out(index)], output_type=np.dtype(index).name.upper())


CASES = {
    **{f"{kind}, {a}": model_of(kind, feed((2, 3, 4)), axes(a)) for kind in NUMBERS for a in AXES},
    **{f"{kind}, {a}": model_of(kind, feed(TRUE), axes(a)) for kind in LOGICAL for a in AXES},
    **{f"{kind}, kept": model_of(kind, feed((2, 3, 4)), axes([0, 2]), keep_dims=True) for kind in NUMBERS},
    **{f"{kind}, kept": model_of(kind, feed(TRUE), axes([0, 2]), keep_dims=True) for kind in LOGICAL},
    **{
        f"{kind}, {np.dtype(dtype)}": model_of(kind, feed(WHOLE.astype(dtype)), axes([1]))
        for kind in NUMBERS
        for dtype in (np.int32, np.int64)
    },
    **{
        f"{kind}, {np.dtype(dtype)}": model_of(kind, feed(WHOLE.astype(dtype)), axes([1]))
        for kind in EXTREMES
        for dtype in (np.int8, np.uint8, np.int16)
    },
    **{f"{kind}, of nothing": model_of(kind, feed((0, 3)), axes([0])) for kind in NUMBERS},
    **{
        f"{kind}, of any shape": model_of(
            kind, feed((2, 3), signature=(-1, 3)), axes([1]), outputs=[out(signature=(-1,))]
        )
        for kind in NUMBERS
    },
    **{
        f"{kind}, axes that are given": model_of(
            kind, feed((2, 3)), feed(np.array([0], np.int32)), outputs=[out(shape=(3,))]
        )
        for kind in NUMBERS
    },
    **{f"{kind}, i8": quantized(kind, np.int8, 3, 0.1, 3) for kind in EXTREMES},
    **{f"{kind}, u8": quantized(kind, np.uint8, 120, 0.1, 120, keep_dims=True) for kind in EXTREMES},
    **{f"{kind}, i16": quantized(kind, np.int16, 0, 0.1, 0) for kind in EXTREMES},
    "MEAN, i8": quantized("MEAN", np.int8, 3, 0.1, 3, keep_dims=True),
    "MEAN, i8 in another scale": quantized("MEAN", np.int8, 3, 0.03, 0),
    "MEAN, u8": quantized("MEAN", np.uint8, 120, 0.1, 120),
    "MEAN, i16": quantized("MEAN", np.int16, 0, 0.03, 0),
    "SUM, i8": quantized("SUM", np.int8, 3, 0.5, 3),
    "SUM, u8": quantized("SUM", np.uint8, 120, 0.5, 120),
    "SUM, i16": quantized("SUM", np.int16, 0, 0.5, 0),
    "REDUCE_PROD, i8": model_of(
        "REDUCE_PROD",
        feed(WHOLE.astype(np.int8), scale=0.2),
        axes([1]),
        outputs=[out(np.int8, scale=0.1, zero_point=4)],
    ),
    "REDUCE_PROD, i16": model_of(
        "REDUCE_PROD", feed(WHOLE.astype(np.int16), scale=0.2), axes([1]), outputs=[out(np.int16, scale=0.1)]
    ),
    **{
        f"{kind}, {np.dtype(dtype)}": place(kind, dtype)
        for kind in ("ARG_MAX", "ARG_MIN")
        for dtype in (np.float32, np.int32, np.int8, np.uint8, bool)
    },
    **{f"{kind}, i64 along 0": place(kind, np.float32, 0, np.int64) for kind in ("ARG_MAX", "ARG_MIN")},
    **{f"{kind}, along [0]": place(kind, np.float32, [0]) for kind in ("ARG_MAX", "ARG_MIN")},
    **{f"{kind}, quantized": place(kind, np.int8, 0, scale=0.1, zero_point=4) for kind in ("ARG_MAX", "ARG_MIN")},
    **{
        f"CUMSUM, {np.dtype(dtype)}{', exclusive' * exclusive}{', reverse' * reverse}": model_of(
            "CUMSUM", feed(WHOLE.astype(dtype)), constant(-2), exclusive=bool(exclusive), reverse=bool(reverse)
        )
        for exclusive in (0, 1)
        for reverse in (0, 1)
        for dtype in (np.float32, np.int32, np.int64)
    },
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_reduction(name, device):
    # The reference kernel of SUM cuts quantized sums off at zero.
    assert_as_litert(CASES[name], device, resolver=FAST if name.startswith("SUM, ") else REFERENCE)


def test_axis_that_is_given():
    """The axis of an arg-max must be constant, because TopK's is an attribute."""
    axis = feed(np.array(0, np.int32))
    model = model_of("ARG_MAX", feed((2, 3)), axis, outputs=[out(np.int32, (3,), name="best")], output_type="INT32")
    with pytest.raises(FrontendError, match="ARG_MAX node 'best': input 1 must be constant"):
        Core().read_model(model.content)

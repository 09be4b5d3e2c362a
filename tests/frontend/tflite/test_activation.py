"""Activation functions against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import DEVICES, assert_as_litert
from tests.frontend.tflite.litert import FAST, REFERENCE
from tests.frontend.tflite.models import constant, given, made, one

SPREAD = np.linspace(-8, 8, 96, dtype=np.float32).reshape(2, 3, 16)
BYTES = np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16)
UNSIGNED = np.arange(256, dtype=np.uint8).reshape(16, 16)
WORDS = np.arange(-32768, 32768, 64, dtype=np.int16).reshape(-1, 16)
CUTS = ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
SLOPES = np.linspace(-1, 2, 16, dtype=np.float32)


def int8(scale, zero_point=0):
    return given(BYTES, scale=scale, zero_point=zero_point)


def uint8(scale, zero_point=0):
    return given(UNSIGNED, scale=scale, zero_point=zero_point)


def int16(scale):
    return given(WORDS, scale=scale)


def to(dtype, scale, zero_point=0):
    return [made(dtype, scale=scale, zero_point=zero_point)]


CASES = {
    **{kind: one(kind, given(SPREAD)) for kind in (*CUTS, "LOGISTIC", "TANH", "ELU", "HARD_SWISH", "LOG_SOFTMAX")},
    "GELU": one("GELU", given(SPREAD), approximate=False),
    "GELU, nearly": one("GELU", given(SPREAD), approximate=True),
    "LEAKY_RELU": one("LEAKY_RELU", given(SPREAD), alpha=0.3),
    "LEAKY_RELU, rising": one("LEAKY_RELU", given(SPREAD), alpha=-1.5),
    "PRELU, a slope a channel": one("PRELU", given(SPREAD), constant(SLOPES)),
    "PRELU, of shape [1, C]": one("PRELU", given(SPREAD), constant(SLOPES.reshape(1, 16))),
    "PRELU, of shape [1, 1, C]": one("PRELU", given(SPREAD), constant(SLOPES.reshape(1, 1, 16))),
    "PRELU, as many rows as channels": one("PRELU", given((2, 16, 16)), constant(SLOPES)),
    "PRELU, a slope a row": one("PRELU", given(SPREAD), constant(SLOPES[:3].reshape(3, 1))),
    "PRELU, one slope": one("PRELU", given(SPREAD), constant([0.25])),
    "SOFTMAX": one("SOFTMAX", given(SPREAD), beta=1.0),
    "SOFTMAX, beta": one("SOFTMAX", given(SPREAD), beta=0.25),
    "SOFTMAX, one dimension": one("SOFTMAX", given((7,)), beta=1.0),
}
CASES |= {
    **{
        f"{kind}, i8": one(kind, int8(0.1, -5), outputs=to(np.int8, 0.07, -9)) for kind in (*CUTS, "HARD_SWISH", "GELU")
    },
    **{f"{kind}, u8": one(kind, uint8(0.1, 120), outputs=to(np.uint8, 0.1, 120)) for kind in (*CUTS, "HARD_SWISH")},
    **{f"{kind}, i16": one(kind, int16(0.001), outputs=to(np.int16, 0.001)) for kind in ("RELU", "RELU6")},
    "ELU, i8": one("ELU", int8(0.1, -5), outputs=to(np.int8, 0.1, -5)),
    "LEAKY_RELU, i8": one("LEAKY_RELU", int8(0.1, -5), outputs=to(np.int8, 0.1, -100), alpha=0.2),
    "LEAKY_RELU, i16": one("LEAKY_RELU", int16(0.1), outputs=to(np.int16, 0.1), alpha=0.2),
    "LOGISTIC, i8": one("LOGISTIC", int8(0.1, 3), outputs=to(np.int8, 1 / 256, -128)),
    "LOGISTIC, u8": one("LOGISTIC", uint8(0.1, 120), outputs=to(np.uint8, 1 / 256)),
    "LOGISTIC, i16": one("LOGISTIC", int16(1 / 4096), outputs=to(np.int16, 1 / 32768)),
    "TANH, i8": one("TANH", int8(0.1, 3), outputs=to(np.int8, 1 / 128)),
    "TANH, u8": one("TANH", uint8(0.1, 120), outputs=to(np.uint8, 1 / 128, 128)),
    "TANH, i16": one("TANH", int16(1 / 4096), outputs=to(np.int16, 1 / 32768)),
    "SOFTMAX, i8": one("SOFTMAX", int8(0.1, 3), outputs=to(np.int8, 1 / 256, -128), beta=1.0),
    "SOFTMAX, u8": one("SOFTMAX", uint8(0.1, 3), outputs=to(np.uint8, 1 / 256), beta=0.5),
    "SOFTMAX, i8 to i16": one("SOFTMAX", int8(0.1, 3), outputs=to(np.int16, 1 / 65536, -32768), beta=1.0),
    "SOFTMAX, i16": one("SOFTMAX", int16(1 / 4096), outputs=to(np.int16, 1 / 32768), beta=1.0),
    "LOG_SOFTMAX, i8": one("LOG_SOFTMAX", int8(0.1, 3), outputs=to(np.int8, 16 / 256, 127)),
    "LOG_SOFTMAX, u8": one("LOG_SOFTMAX", uint8(0.1, 3), outputs=to(np.uint8, 16 / 256, 255)),
    "PRELU, i8": one(
        "PRELU", int8(0.1, 3), constant(BYTES[0, :1], scale=0.01, zero_point=2), outputs=to(np.int8, 0.12)
    ),
    "PRELU, u8": one(
        "PRELU", uint8(0.1, 3), constant(UNSIGNED[3], scale=0.01, zero_point=2), outputs=to(np.uint8, 0.12)
    ),
    "ELU, of any shape": one("ELU", given(SPREAD, signature=(-1, -1, 16))),
    "SOFTMAX, of any shape": one("SOFTMAX", given(SPREAD, signature=(-1, 3, -1)), beta=1.0),
    "RELU, of nothing": one("RELU", given((0, 3))),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_activation(name, device):
    assert_as_litert(CASES[name], device, resolver=FAST if name.startswith("ELU") else REFERENCE)


@pytest.mark.parametrize("device", DEVICES)
def test_gelu_of_words(device):
    """LiteRT interpolates a table of 513 entries, which is up to two steps off."""
    assert_as_litert(one("GELU", int16(0.001), outputs=to(np.int16, 0.001)), device, steps=3)

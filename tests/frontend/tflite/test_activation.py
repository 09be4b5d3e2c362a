"""Activation functions against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import DEVICES, assert_as_litert
from tests.frontend.tflite.litert import FAST, REFERENCE
from tests.frontend.tflite.models import constant, feed, model_of, out

SPREAD = np.linspace(-8, 8, 96, dtype=np.float32).reshape(2, 3, 16)
BYTES = np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16)
UNSIGNED = np.arange(256, dtype=np.uint8).reshape(16, 16)
WORDS = np.arange(-32768, 32768, 64, dtype=np.int16).reshape(-1, 16)
CUTS = ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
SLOPES = np.linspace(-1, 2, 16, dtype=np.float32)


def int8(scale, zero_point=0):
    return feed(BYTES, scale=scale, zero_point=zero_point)


def uint8(scale, zero_point=0):
    return feed(UNSIGNED, scale=scale, zero_point=zero_point)


def int16(scale):
    return feed(WORDS, scale=scale)


def to(dtype, scale, zero_point=0):
    return [out(dtype, scale=scale, zero_point=zero_point)]


CASES = {
    **{kind: model_of(kind, feed(SPREAD)) for kind in (*CUTS, "LOGISTIC", "TANH", "ELU", "HARD_SWISH", "LOG_SOFTMAX")},
    "GELU": model_of("GELU", feed(SPREAD), approximate=False),
    "GELU, nearly": model_of("GELU", feed(SPREAD), approximate=True),
    "LEAKY_RELU": model_of("LEAKY_RELU", feed(SPREAD), alpha=0.3),
    "LEAKY_RELU, rising": model_of("LEAKY_RELU", feed(SPREAD), alpha=-1.5),
    "PRELU, a slope a channel": model_of("PRELU", feed(SPREAD), constant(SLOPES)),
    "PRELU, of shape [1, C]": model_of("PRELU", feed(SPREAD), constant(SLOPES.reshape(1, 16))),
    "PRELU, of shape [1, 1, C]": model_of("PRELU", feed(SPREAD), constant(SLOPES.reshape(1, 1, 16))),
    "PRELU, as many rows as channels": model_of("PRELU", feed((2, 16, 16)), constant(SLOPES)),
    "PRELU, a slope a row": model_of("PRELU", feed(SPREAD), constant(SLOPES[:3].reshape(3, 1))),
    "PRELU, one slope": model_of("PRELU", feed(SPREAD), constant([0.25])),
    "SOFTMAX": model_of("SOFTMAX", feed(SPREAD), beta=1.0),
    "SOFTMAX, beta": model_of("SOFTMAX", feed(SPREAD), beta=0.25),
    "SOFTMAX, one dimension": model_of("SOFTMAX", feed((7,)), beta=1.0),
}
CASES |= {
    **{
        f"{kind}, i8": model_of(kind, int8(0.1, -5), outputs=to(np.int8, 0.07, -9))
        for kind in (*CUTS, "HARD_SWISH", "GELU")
    },
    **{
        f"{kind}, u8": model_of(kind, uint8(0.1, 120), outputs=to(np.uint8, 0.1, 120)) for kind in (*CUTS, "HARD_SWISH")
    },
    **{f"{kind}, i16": model_of(kind, int16(0.001), outputs=to(np.int16, 0.001)) for kind in ("RELU", "RELU6")},
    "ELU, i8": model_of("ELU", int8(0.1, -5), outputs=to(np.int8, 0.1, -5)),
    "LEAKY_RELU, i8": model_of("LEAKY_RELU", int8(0.1, -5), outputs=to(np.int8, 0.1, -100), alpha=0.2),
    "LEAKY_RELU, i16": model_of("LEAKY_RELU", int16(0.1), outputs=to(np.int16, 0.1), alpha=0.2),
    "LOGISTIC, i8": model_of("LOGISTIC", int8(0.1, 3), outputs=to(np.int8, 1 / 256, -128)),
    "LOGISTIC, u8": model_of("LOGISTIC", uint8(0.1, 120), outputs=to(np.uint8, 1 / 256)),
    "LOGISTIC, i16": model_of("LOGISTIC", int16(1 / 4096), outputs=to(np.int16, 1 / 32768)),
    "TANH, i8": model_of("TANH", int8(0.1, 3), outputs=to(np.int8, 1 / 128)),
    "TANH, u8": model_of("TANH", uint8(0.1, 120), outputs=to(np.uint8, 1 / 128, 128)),
    "TANH, i16": model_of("TANH", int16(1 / 4096), outputs=to(np.int16, 1 / 32768)),
    "SOFTMAX, i8": model_of("SOFTMAX", int8(0.1, 3), outputs=to(np.int8, 1 / 256, -128), beta=1.0),
    "SOFTMAX, u8": model_of("SOFTMAX", uint8(0.1, 3), outputs=to(np.uint8, 1 / 256), beta=0.5),
    "SOFTMAX, i8 to i16": model_of("SOFTMAX", int8(0.1, 3), outputs=to(np.int16, 1 / 65536, -32768), beta=1.0),
    "SOFTMAX, i16": model_of("SOFTMAX", int16(1 / 4096), outputs=to(np.int16, 1 / 32768), beta=1.0),
    "LOG_SOFTMAX, i8": model_of("LOG_SOFTMAX", int8(0.1, 3), outputs=to(np.int8, 16 / 256, 127)),
    "LOG_SOFTMAX, u8": model_of("LOG_SOFTMAX", uint8(0.1, 3), outputs=to(np.uint8, 16 / 256, 255)),
    "PRELU, i8": model_of(
        "PRELU", int8(0.1, 3), constant(BYTES[0, :1], scale=0.01, zero_point=2), outputs=to(np.int8, 0.12)
    ),
    "PRELU, u8": model_of(
        "PRELU", uint8(0.1, 3), constant(UNSIGNED[3], scale=0.01, zero_point=2), outputs=to(np.uint8, 0.12)
    ),
    "ELU, of any shape": model_of("ELU", feed(SPREAD, signature=(-1, -1, 16))),
    "SOFTMAX, of any shape": model_of("SOFTMAX", feed(SPREAD, signature=(-1, 3, -1)), beta=1.0),
    "RELU, of nothing": model_of("RELU", feed((0, 3))),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_activation(name, device):
    assert_as_litert(CASES[name], device, resolver=FAST if name.startswith("ELU") else REFERENCE)


@pytest.mark.parametrize("device", DEVICES)
def test_gelu_of_words(device):
    """LiteRT interpolates a table of 513 entries, which is up to two steps off."""
    assert_as_litert(model_of("GELU", int16(0.001), outputs=to(np.int16, 0.001)), device, steps=3)

"""SVDF over several inferences, against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert
from tests.frontend.tflite.models import constant, feed, further_inputs, model_of, out, variable

GENERATOR = np.random.default_rng(0)
FILTERS = 6


def random(*shape):
    return constant((GENERATOR.standard_normal(shape) / 2).astype(np.float32))


def integers(*shape, scale, dtype=np.int8, limit=127):
    return constant(GENERATOR.integers(-limit, limit + 1, shape).astype(dtype), scale=scale)


def svdf(rank=1, times=5, bias=True, activation="NONE"):
    tensors = feed((2, 3)), random(FILTERS, 3), random(FILTERS, times), random(FILTERS // rank) if bias else None
    return model_of("SVDF", *tensors, variable((2, FILTERS * times)), rank=rank, fused_activation_function=activation)


def quantized(rank=2, times=5, bias=True):
    """Return a quantized SVDF. For LiteRT, its activation clamps at 0, which is the lowest value of the result here."""
    data, state, result = (
        {"scale": 0.03, "zero_point": 3},
        {"dtype": np.int16, "scale": 3e-4},
        {"scale": 0.08, "zero_point": -128},
    )
    tensors = [
        feed((2, 8), **data),
        integers(FILTERS, 8, scale=0.01),
        integers(FILTERS, times, scale=2e-5, dtype=np.int16, limit=30000),
        integers(FILTERS // rank, scale=3e-4 * 2e-5, dtype=np.int32, limit=3000) if bias else None,
        variable((2, FILTERS * times), **state),
    ]
    outputs = [out(np.int8, (2, FILTERS // rank), **result)]
    return model_of("SVDF", *tensors, outputs=outputs, rank=rank, fused_activation_function="RELU")


FLOAT = {
    "plain": svdf(),
    "rank of two": svdf(2),
    "one time": svdf(times=1),
    "no bias, relu": svdf(2, bias=False, activation="RELU"),
    "relu6": svdf(3, activation="RELU6"),
}
QUANTIZED = {"plain": quantized(1), "rank of two": quantized(), "no bias": quantized(bias=False)}


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", FLOAT)
def test_over_several_inferences(name, device):
    assert_as_litert(FLOAT[name], device, calls=further_inputs(FLOAT[name], 6))


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized(name):
    assert_as_litert(QUANTIZED[name], steps=0, calls=further_inputs(QUANTIZED[name], 6))


def test_integers_as_weights():
    weights = integers(FILTERS, 3, scale=0.01), integers(FILTERS, 5, scale=0.01)
    state = variable((2, FILTERS * 5))
    model = model_of("SVDF", feed((2, 3)), *weights, random(3), state, rank=2, fused_activation_function="NONE")
    # LiteRT quantizes the data.
    assert_as_litert(model, tolerance=2e-2)

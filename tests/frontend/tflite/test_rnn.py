"""RNN operators over several inferences against LiteRT."""

import itertools

import numpy as np
import pytest

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert
from tests.frontend.tflite.layers import integers
from tests.frontend.tflite.models import constant, feed, further_inputs, model_of, variable

GENERATOR = np.random.default_rng(0)


def random(*shape):
    return constant((GENERATOR.standard_normal(shape) / 2).astype(np.float32))


def weights():
    """Return input weights, recurrent weights, bias and state."""
    return random(4, 3), random(4, 4), random(4), variable((2, 4))


def sequence(time_major, steps=5):
    return feed((steps, 2, 3) if time_major else (2, steps, 3))


def rnn(function):
    return model_of("RNN", feed((2, 3)), *weights(), fused_activation_function=function)


def sequence_rnn(function, time_major=False, steps=5):
    data = sequence(time_major, steps)
    options = {"fused_activation_function": function, "time_major": time_major}
    return model_of("UNIDIRECTIONAL_SEQUENCE_RNN", data, *weights(), **options)


def bidirectional(function="TANH", time_major=False, merge=False, auxiliary=(None, None, None)):
    return model_of(
        "BIDIRECTIONAL_SEQUENCE_RNN", sequence(time_major), *weights(), *weights(), *auxiliary,
        outputs=1 if merge else 2, fused_activation_function=function, time_major=time_major, merge_outputs=merge,
    )  # fmt: skip


FUNCTIONS = ("TANH", "RELU", "RELU6", "RELU_N1_TO_1", "NONE")
MODELS = {f"step, {function}": rnn(function) for function in FUNCTIONS}
MODELS |= {
    f"sequence, {function}{', times first' * time_major}": sequence_rnn(function, time_major)
    for function, time_major in itertools.product(FUNCTIONS, (False, True))
}
MODELS |= {
    "sequence of one": sequence_rnn("RELU6", steps=1),
    "both directions": bidirectional(),
    "both directions, RELU6": bidirectional("RELU6"),
    "both directions, times first": bidirectional(time_major=True),
    "both directions, side by side": bidirectional(merge=True),
    "auxiliary data": bidirectional(auxiliary=(sequence(False), random(4, 3), random(4, 3))),
    "auxiliary data backwards": bidirectional(time_major=True, auxiliary=(sequence(True), None, None)),
}


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", MODELS)
def test_over_several_inferences(name, device):
    assert_as_litert(MODELS[name], device, calls=further_inputs(MODELS[name]))


@pytest.mark.parametrize("kind", ["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_integers_as_weights(kind, dtype):
    """u8 weights really are i8."""
    generator = np.random.default_rng(0)
    data = feed((2, 3) if kind == "RNN" else (2, 5, 3))
    of_data, of_state = (constant(integers(generator, (4, n), np.int8).view(dtype), scale=0.003) for n in (3, 4))
    model = model_of(kind, data, of_data, of_state, random(4), variable((2, 4)), fused_activation_function="TANH")
    # LiteRT quantizes data and states.
    assert_as_litert(model, tolerance=1e-2, calls=further_inputs(model))

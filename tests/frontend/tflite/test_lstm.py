"""LSTM operators over several inferences against LiteRT."""

import itertools

import numpy as np
import pytest

from tests.devices import GPUS
from tests.frontend.tflite.agreement import CORE, assert_as_litert
from tests.frontend.tflite.litert import LiteRT, assert_close
from tests.frontend.tflite.models import constant, feed, further_inputs, model_of, out, variable

GENERATOR = np.random.default_rng(0)


def random(*shape):
    return constant((GENERATOR.standard_normal(shape) / 2).astype(np.float32))


def integers(*shape, scale, dtype=np.int8, limit=127):
    return constant(GENERATOR.integers(-limit, limit + 1, shape).astype(dtype), scale=scale)


def of_16_bits(*shape):
    return integers(*shape, scale=3e-5, dtype=np.int16, limit=30000)


def gates(make, count=4, coupled=False):
    """Return a tensor per gate; the input gate is None if it is coupled to the forget gate."""
    return [None if coupled and index == 0 else make() for index in range(count)]


def weights(features=3, cells=4, outputs=None, coupled=False, peepholes=False, bias=False, diagonal=False):
    """Return the tensors of one direction. ``outputs``: the size of the projection, None for no projection."""
    size = outputs or cells
    return [
        *gates(lambda: random(cells, features), coupled=coupled),
        *gates(lambda: random(cells) if diagonal else random(cells, size), coupled=coupled),
        *(gates(lambda: random(cells), 3, coupled) if peepholes else [None] * 3),
        *gates(lambda: random(cells), coupled=coupled),
        random(size, cells) if outputs else None,
        random(size) if bias else None,
    ]


def sequence(time_major=False, steps=5, signature=None):
    return feed((steps, 2, 3) if time_major else (2, steps, 3), signature=signature)


def lstm(kind="LSTM", function="TANH", norm=False, clip=(0.0, 0.0), time_major=False, steps=5, signature=None, **more):
    outputs, coupled = more.get("outputs") or 4, more.get("coupled", False)
    data = feed((2, 3)) if kind == "LSTM" else sequence(time_major, steps, signature)
    norms = gates(lambda: random(4), coupled=coupled) if norm else []
    options = {"fused_activation_function": function, "cell_clip": clip[0], "proj_clip": clip[1]}
    options |= {} if kind == "LSTM" else {"time_major": time_major}
    return model_of(kind, data, *weights(**more), variable((2, outputs)), variable((2, 4)), *norms, **options)


def bidirectional(time_major=False, merge=False, auxiliary=False, of_auxiliary=None, **more):
    """``of_auxiliary``: a function that returns the auxiliary weights of a gate, or None."""
    coupled = more.get("coupled", False)
    others = [gates(of_auxiliary, coupled=coupled) if of_auxiliary else [None] * 4 for _ in range(2)]
    return model_of(
        "BIDIRECTIONAL_SEQUENCE_LSTM", sequence(time_major), *weights(**more), *weights(**more),
        *(variable((2, 4)) for _ in range(4)), sequence(time_major) if auxiliary else None, *others[0], *others[1],
        outputs=1 if merge else 2, fused_activation_function="TANH", time_major=time_major, merge_outputs=merge,
    )  # fmt: skip


def basic(make_state):
    outputs = [out(np.float32, shape) for shape in ((2, 4), (2, 4), (2, 7), (2, 16))]
    state, cells = make_state((2, 4)), make_state((2, 4))
    options = {"kernel_type": "BASIC", "fused_activation_function": "TANH"}
    return model_of("LSTM", feed((2, 3)), state, random(16, 7), random(16), cells, outputs=outputs, **options)


KINDS = {
    "plain": {},
    "relu": {"function": "RELU"},
    "relu6": {"function": "RELU6"},
    "coupled": {"coupled": True},
    "peepholes": {"peepholes": True},
    "coupled, peepholes": {"coupled": True, "peepholes": True},
    "projection": {"outputs": 5},
    "projection, bias, clips": {"outputs": 5, "bias": True, "clip": (0.2, 0.3)},
    "normalization": {"norm": True},
    "all": {"norm": True, "coupled": True, "peepholes": True, "outputs": 5},
}
SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"
MODELS = {
    f"{kind}, {name}": lstm(kind, **more) for kind, (name, more) in itertools.product(("LSTM", SEQUENCE), KINDS.items())
}
MODELS |= {
    "times first": lstm(SEQUENCE, time_major=True),
    "times first, normalization": lstm(SEQUENCE, time_major=True, norm=True),
    "sequence of one, normalization": lstm(SEQUENCE, steps=1, norm=True),
    "both directions": bidirectional(),
    "both directions, times first": bidirectional(True),
    "both directions, coupled, peepholes": bidirectional(coupled=True, peepholes=True),
    "auxiliary data": bidirectional(auxiliary=True, of_auxiliary=lambda: random(4, 3)),
    "auxiliary data, coupled": bidirectional(auxiliary=True, of_auxiliary=lambda: random(4, 3), coupled=True),
    "auxiliary data backwards": bidirectional(auxiliary=True),
    "auxiliary data backwards, times first": bidirectional(True, auxiliary=True),
    "basic": basic(feed),
    "basic, states that are kept": basic(variable),
}


@pytest.mark.parametrize("name", MODELS)
def test_over_several_inferences(name):
    assert_as_litert(MODELS[name], calls=further_inputs(MODELS[name]))


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("LSTM") or name.endswith("all")])
def test_over_several_inferences_on_opencl(name, device):
    assert_as_litert(MODELS[name], f"HETERO:{device},TEMPLATE", calls=further_inputs(MODELS[name]))


@pytest.mark.parametrize("norm", [False, True])
def test_sequences_of_other_lengths(norm):
    model = lstm(SEQUENCE, norm=norm, signature=(2, -1, 3))
    (data,) = model.inputs
    longer = np.random.default_rng(1).standard_normal((2, 9, 3)).astype(np.float32)
    found = CORE.compile_model(model.content, "TEMPLATE")({data: longer})[0]
    # LiteRT forgets states where it is given another shape, as a new model has none.
    expected = LiteRT(model.content)({data: longer})
    assert_close({"y": found}, {"y": next(iter(expected.values()))})


def test_directions_side_by_side():
    # LiteRT itself reads memory that it never wrote where it puts the results side by side.
    GENERATOR.bit_generator.state = np.random.default_rng(3).bit_generator.state
    apart = bidirectional()
    GENERATOR.bit_generator.state = np.random.default_rng(3).bit_generator.state
    together = bidirectional(merge=True)
    expected = np.concatenate(list(LiteRT(apart.content)(apart.inputs).values()), 2)
    found = CORE.compile_model(together.content, "TEMPLATE")(together.inputs)[0]
    assert_close({"y": found}, {"y": expected})


def test_integers_as_weights():
    generator = np.random.default_rng(0)

    def make(*shape):
        return constant(generator.integers(-127, 128, shape).astype(np.int8), scale=0.005)

    tensors = [*gates(lambda: make(4, 3)), *gates(lambda: make(4, 4)), *[None] * 3, *gates(lambda: random(4))]
    states = variable((2, 4)), variable((2, 4))
    model = model_of(SEQUENCE, sequence(), *tensors, None, None, *states, fused_activation_function="TANH")
    # LiteRT quantizes data and states.
    assert_as_litert(model, tolerance=2e-2, calls=further_inputs(model))


def quantized(outputs=None, steps=5, coupled=False, peepholes=False, norm=False, clip=(0.0, 0.0)):
    """Return a quantized LSTM: data, weights and results are i8, the cell state is i16."""
    size, cells, scales = outputs or 6, 6, itertools.count(8)

    def scale():
        return next(scales) / 1000

    hidden = {"scale": 1 / 128, "zero_point": -2}
    result = {"scale": 0.02 if outputs else 1 / 128, "zero_point": -2}
    of_data = gates(lambda: integers(cells, 8, scale=scale()), coupled=coupled)
    # The scales of biases follow from others.
    of_biases = iter([3e-5 / 1024 if norm else 0.03 * weights.scale for weights in of_data if weights])
    tensors = [
        *of_data,
        *gates(lambda: integers(cells, size, scale=scale()), coupled=coupled),
        *(gates(lambda: of_16_bits(cells), 3, coupled) if peepholes else [None] * 3),
        *gates(lambda: integers(cells, scale=next(of_biases), dtype=np.int32, limit=3000), coupled=coupled),
        integers(size, cells, scale=0.01) if outputs else None,
        None,
        variable((2, size), np.int8, **result),
        variable((2, cells), np.int16, scale=2.0**-11),
        *(gates(lambda: of_16_bits(cells), coupled=coupled) if norm else []),
    ]  # fmt: skip
    return model_of(
        SEQUENCE, feed((2, steps, 8), scale=0.03, zero_point=3), *tensors,
        outputs=[out(np.int8, (2, steps, size), **result)],
        intermediates=[*gates(lambda: out(np.int16, (1,), scale=2.0**-11)), out(np.int8, (1,), **hidden)],
        fused_activation_function="TANH", cell_clip=clip[0], proj_clip=clip[1],
    )  # fmt: skip


QUANTIZED = {
    "plain": quantized(),
    "coupled": quantized(coupled=True),
    "peepholes": quantized(peepholes=True),
    "projection": quantized(outputs=5),
    "normalization": quantized(norm=True),
    "all": quantized(5, coupled=True, peepholes=True, norm=True, clip=(0.5, 1.0)),
    "fifty steps": quantized(steps=50),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized(name):
    assert_as_litert(QUANTIZED[name], calls=further_inputs(QUANTIZED[name]))


def test_quantized_basic():
    generator = np.random.default_rng(0)
    bytes_ = {"scale": 1 / 128, "zero_point": 128}
    weights_, bias = generator.integers(0, 256, (16, 7)), generator.integers(-5000, 5000, 16)
    model = model_of(
        "LSTM", feed((2, 3), np.uint8, **bytes_), feed((2, 4), np.uint8, **bytes_),
        constant(weights_.astype(np.uint8), scale=0.01, zero_point=120),
        constant(bias.astype(np.int32), scale=0.01 / 128), feed((2, 4), np.int16, scale=2.0**-11),
        outputs=[
            out(np.uint8, (2, 4), **bytes_), out(np.int16, (2, 4), scale=2.0**-11),
            out(np.uint8, (2, 7), **bytes_), out(np.int16, (2, 16), scale=2.0**-12),
        ],
        kernel_type="BASIC", fused_activation_function="TANH",
    )  # fmt: skip
    # LiteRT's functions of integers are a few steps of 16 bits off.
    assert_as_litert(model, steps=4)

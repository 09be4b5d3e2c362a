"""FakeQuantize on ONEDNN, compared with OpenVINO and TEMPLATE."""

import numpy as np
import openvino
import pytest
from hetero_onednn.library.api import multiplies_int8_exactly
from openvino import opset13

import hetero
from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import UnsupportedValueError

CORE = Core()
DATA = np.random.default_rng(7).standard_normal((1, 8, 12, 12)).astype(np.float32)
CHANNELS = np.linspace(0.5, 2, 8, dtype=np.float32).reshape(1, 8, 1, 1)


def on_openvino(model, *arrays):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled(list(arrays))[0].astype(np.float64)


def fake(value, low, high, levels=256):
    limits = [np.asarray(limit, np.float32) for limit in (low, high)]
    return ops.FakeQuantize(value, *limits, *limits, levels)


# Limits of the input, limits of the output (None if equal), levels.
CASES = {
    "unsigned": (0, 2.5, None, None, 256),
    "signed": (-1.28, 1.27, None, None, 256),
    "symmetric, an odd number of levels": (-1.27, 1.27, None, None, 255),
    "zero within": (-0.5, 2.05, None, None, 256),
    "other output": (-1.28, 1.27, -2.56, 2.54, 256),
    "4 bits": (-0.8, 0.7, None, None, 16),
    "2 levels": (-1, 1, None, None, 2),
    "no level is 0": (-1, 1, None, None, 256),
    "0 is far away": (1, 2, None, None, 256),
    "more than 8 bits": (-2, 2, None, None, 300),
    "by channel": (-CHANNELS, CHANNELS, None, None, 255),
    "one limit by channel": (0, CHANNELS, None, None, 256),
    "negative scale": (-1, 1, 1, -1, 255),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    """All levels are OpenVINO's, but for data whose place is within 0.001 of the middle of two levels."""
    low, high, output_low, output_high, levels = CASES[name]
    limits = [low, high, low if output_low is None else output_low, high if output_high is None else output_high]
    limits = [np.asarray(limit, np.float32) for limit in limits]
    x = opset13.parameter(DATA.shape, np.float32)
    # OpenVINO takes the first number for all channels if only some of the limits have several.
    quantized = opset13.fake_quantize(x, *map(np.copy, np.broadcast_arrays(*limits)), levels)
    expected = on_openvino(openvino.Model([quantized], [x]), DATA)
    own = Parameter(Type.f32, DATA.shape)
    found = CORE.compile_model(Model(ops.FakeQuantize(own, *limits, levels), [own]), "ONEDNN")(DATA)[0]
    place = (DATA - limits[0].astype(np.float64)) / (limits[1] - limits[0]) * (levels - 1)
    clear = np.abs(place - np.floor(place) - 0.5) > 1e-3
    step = np.abs(limits[3] - limits[2]).max() / (levels - 1)
    np.testing.assert_allclose(found[clear], expected[clear], rtol=0, atol=1e-3 * step)
    assert np.abs(found - expected).max() <= 1.01 * step


def test_halves_are_rounded_to_even():
    """With limits by which no number is rounded, all halves are exact, of an odd and an even first level."""
    halves = (np.arange(-140, 140) / 2).astype(np.float32)
    for low, high, levels in ((-32, 31, 64), (-31, 31, 63), (0, 255, 256), (-64, 191, 256)):
        x = Parameter(Type.f32, halves.shape)
        found = CORE.compile_model(Model(fake(x, low, high, levels), [x]), "ONEDNN")(halves)[0]
        np.testing.assert_array_equal(found, np.rint(np.clip(halves, low, high) - low) + low)


def network():
    """Return convolutions, a sum, MaxPool, Concat and a product, quantized as NNCF does."""
    rng = np.random.default_rng(5)

    def weights(*shape):
        array = rng.standard_normal(shape).astype(np.float32) / 8
        largest = np.abs(array).max(tuple(range(1, len(shape))), keepdims=True)
        return fake(array, -largest, largest, 255)

    def convolve(value, channels, size):
        pads = [size // 2] * 2
        return ops.Convolution(value, weights(16, channels, size, size), [1, 1], pads, pads, [1, 1])

    x = Parameter(Type.f32, DATA.shape)
    first = fake(ops.Relu(convolve(fake(x, -3.2, 3.175), 8, 3)), 0, 4)
    second = fake(ops.Relu(convolve(first, 16, 1)), 0, 4)
    third = fake(convolve(first, 16, 3), -4, 3.96875)
    total = fake(ops.Relu(ops.Add(first, third)), 0, 4)
    pooled = ops.MaxPool(ops.Concat([second, total], 1), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])
    return Model(ops.MatMul(ops.Reshape(pooled, [1, -1], False), weights(10, 32 * 36), False, True), [x])


def test_network(tmp_path):
    """The products read 8-bit integers, which MaxPool and Concat leave as they are."""
    hetero.save_model(network(), tmp_path / "network.xml", compress_to_fp16=False)
    compiled = CORE.compile_model(network(), "ONEDNN")
    found = compiled(DATA)[0].astype(np.float64)
    others = on_openvino(tmp_path / "network.xml", DATA), CORE.compile_model(network(), "TEMPLATE")(DATA)[0]
    for expected in others:
        # Sums in another order may move a few of the 1,152 numbers of 0 to 4 by a step, 4 / 255.
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.002 * np.abs(expected).max())
    if multiplies_int8_exactly():
        nodes = compiled.get_runtime_model().get_ordered_ops()
        kinds = {node.rt_info["layerType"]: node.rt_info["runtimePrecision"] for node in nodes}
        assert (kinds["MaxPool"], kinds["Concat"]) == ("u8", "u8")


def test_nan_is_left_to_other_devices():
    """Integers have no NaN: ONEDNN refuses inputs that have some, or infinities, and HETERO goes on with TEMPLATE."""
    x = Parameter(Type.f32, [1, 8, 12, 12], name="x")
    weights = np.random.default_rng(1).standard_normal((8, 8, 3, 3)).astype(np.float32)
    product = ops.Convolution(fake(x, 0, 2.55), weights, [1, 1], [1, 1], [1, 1], [1, 1])
    model = Model([fake(product, -12.8, 12.7)], [x])
    array = DATA.copy()
    array[0, 2, 4, 4] = np.nan
    reference = CORE.compile_model(model, "TEMPLATE")
    alone = CORE.compile_model(model, "ONEDNN")
    if multiplies_int8_exactly():
        with pytest.raises(UnsupportedValueError, match="input 'x' has NaN or infinity"):
            alone(array)
    assert np.isfinite(alone(DATA)[0]).all()
    request = CORE.compile_model(model, "HETERO:ONEDNN,TEMPLATE").create_infer_request()
    found = request.infer([array])[0]
    assert np.isnan(found).sum() == 8 * 9
    np.testing.assert_array_equal(np.isnan(found), np.isnan(reference(array)[0]))

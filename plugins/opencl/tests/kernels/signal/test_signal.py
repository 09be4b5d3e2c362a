"""STFT, ISTFT and MelWeightMatrix, compared with OpenVINO and the reference."""

import numpy as np
import pytest

import hetero
from hetero import ops
from hetero.graph import Constant, Parameter
from tests.ops.oracle import Data

FRAME, STEP = np.array(16, np.int64), np.array(4, np.int64)


def random(*shape, kind="f32"):
    return np.random.default_rng(0).normal(size=shape).astype(hetero.Type(kind).to_dtype())


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("window", [16, 11])
@pytest.mark.parametrize("shape", [(2, 100), (100,), (1, 16)])
def test_frames(openvino_agrees, shape, window, transpose):
    window = Data(np.hanning(window).astype(np.float32))
    openvino_agrees("stft", Data(random(*shape)), window, FRAME, STEP, transpose, opset=15)


@pytest.mark.parametrize("length", [None, 70, 120])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(9, 21, 2), (3, 9, 5, 2)])
def test_signals(openvino_agrees, shape, center, normalized, length):
    window = Data(np.hamming(16).astype(np.float32))
    size = () if length is None else (np.array(length, np.int64),)
    openvino_agrees("istft", Data(random(*shape)), window, FRAME, STEP, center, normalized, *size, opset=16)


@pytest.mark.parametrize("step", [1, 16, 20])
def test_steps(reference_agrees, step):
    """Overlapping frames, adjacent frames, and frames with gaps between them, where the signal is 0."""
    step, window = np.array(step), Data(np.hamming(11).astype(np.float32))
    reference_agrees("stft", Data(random(2, 100)), window, FRAME, step, False, opset=15)
    reference_agrees("istft", Data(random(2, 9, 5, 2)), window, FRAME, step, False, False, opset=16)


@pytest.mark.parametrize("kind, tolerance", [("f16", 1e-3), ("bf16", 8e-3), ("f64", 1e-13)])
def test_other_types(reference_agrees, kind, tolerance):
    window = Data(np.hamming(11).astype(hetero.Type(kind).to_dtype()))
    data, spectrum = Data(random(2, 60, kind=kind)), Data(random(2, 9, 5, 2, kind=kind))
    reference_agrees("stft", data, window, FRAME, STEP, True, opset=15, tolerance=tolerance)
    reference_agrees("istft", spectrum, window, FRAME, STEP, True, False, opset=16, tolerance=tolerance)


@pytest.mark.parametrize("bands, length, rate, low, high", [(8, 16, 8192, 0, 4096), (40, 512, 16000, 80.5, 7600)])
@pytest.mark.parametrize("rate_type, edge_type, kind", [("i64", "f32", "f32"), ("i32", "f64", "f16")])
def test_mel_weights(run, bands, length, rate, low, high, rate_type, edge_type, kind):
    arrays = [
        np.array(value, hetero.Type(t).to_dtype())
        for value, t in ((rate, rate_type), (low, edge_type), (high, edge_type))
    ]
    counts = np.array(bands), np.array(length)
    parameters = [Parameter(hetero.Type(array.dtype), []) for array in arrays]
    node = ops.MelWeightMatrix(*map(Constant, counts), *parameters, hetero.Type(kind))
    (found,) = run([node], parameters, arrays)
    (expected,) = hetero.reference.evaluate(node, [*counts, *arrays])
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)

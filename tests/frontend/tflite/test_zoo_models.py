"""Every TensorFlow Lite model of the zoo, against LiteRT."""

import functools
from pathlib import Path

import pytest
from ai_edge_litert import schema_py_generated as schema

import hetero
from tests import zoo
from tests.devices import GPUS
from tests.frontend.tflite.agreement import EACH_GPU
from tests.frontend.tflite.litert import DEFAULT, LiteRT, assert_close
from tests.frontend.tflite.writer import packed

WAKE_WORDS = ("alexa", "hey_jarvis", "hey_mycroft", "okay_nabu")
# Its mask has places where errors of rounding grow: LiteRT's kernels differ from each other by as much as 2.4e-4.
TOLERANCES = {"pose_landmark": 5e-4}
# Shared by the tests of this file, which run the same models in several ways.
CORE = hetero.Core()
CORE.add_extension(Path(__file__).parents[3] / "configs" / "mediapipe_operators.py")


@functools.cache
def results(name, device):
    found = CORE.compile_model(zoo.path(name), device)(zoo.inputs(name))
    return {output: found[output] for output in zoo.expected(name)}


@pytest.mark.parametrize("device", ["TEMPLATE", *GPUS, f"HETERO:{GPUS[0]},TEMPLATE", "HETERO:ONEDNN,TEMPLATE"])
@pytest.mark.parametrize("name", [name for name in zoo.TFLITE if name not in WAKE_WORDS])
def test_model(name, device):
    assert_close(results(name, device), zoo.expected(name), tolerance=TOLERANCES.get(name, 1e-4))


def test_the_same_network_in_both_formats():
    assert_close(results("basic_pitch_lite", "TEMPLATE"), zoo.expected("basic_pitch"), tolerance=1e-4)


@pytest.mark.parametrize("device", [*EACH_GPU, "HETERO:ONEDNN,TEMPLATE"])
@pytest.mark.parametrize("name", WAKE_WORDS)
def test_wake_words(name, device):
    """Compare results for a sequence of sounds, including the last FULLY_CONNECTED outputs.

    The probability of the word itself is zero for almost any sound.
    """
    content = with_results_of(zoo.path(name).read_bytes(), schema.BuiltinOperator.FULLY_CONNECTED)
    oracle, request = LiteRT(content, DEFAULT), CORE.compile_model(content, device).create_infer_request()
    for moment in range(12):
        inputs = zoo.inputs(name, moment)
        found, expected = request.infer(inputs), oracle(inputs)
        assert_close({output: found[output] for output in expected}, expected, oracle.quantized)


def with_results_of(content, kind):
    """Return the model with the results of all operators of a kind as additional outputs."""
    model = schema.ModelT.InitFromPackedBuf(content)
    graph = model.subgraphs[0]
    codes = [i for i, code in enumerate(model.operatorCodes) if code.builtinCode == kind]
    made = [operator.outputs[0] for operator in graph.operators if operator.opcodeIndex in codes]
    graph.outputs = [*graph.outputs, *made]
    return packed(model)

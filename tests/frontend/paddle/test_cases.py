"""Programs and PaddlePaddle's outputs, which tests/frameworks/paddle/make_cases.py made: read without PaddlePaddle."""

from pathlib import Path

import numpy as np
import pytest

from hetero import Core, PartialShape
from tests.devices import GPUS
from tests.frontend.stored_calls import read_calls
from tests.interpreter import run_python

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.suffix in (".pdmodel", ".json"))
# The GPU runs the files of one form; TEMPLATE helps it out with types that it does not have. Both forms of a program
# become the same operations.
RUNS = [(name, "TEMPLATE") for name in NAMES] + [
    (name, f"HETERO:{GPUS[0]},TEMPLATE") for name in NAMES if name.endswith(".json")
]


@pytest.mark.every_case
@pytest.mark.parametrize(("name", "device"), RUNS)
def test_agrees_with_paddle(name, device):
    request = Core().compile_model(CASES / name, device).create_infer_request()
    for inputs, outputs in read_calls(CASES, name):
        found = request.infer(inputs).to_tuple()
        assert [array.dtype for array in found] == [array.dtype for array in outputs]
        for array, expected in zip(found, outputs, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-4)


def test_all_cases_are_in_both_forms():
    assert {name.removesuffix(".pdmodel") for name in NAMES if name.endswith(".pdmodel")} == {
        name.removesuffix(".json") for name in NAMES if name.endswith(".json")
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pdmodel", "json"])
def test_paddle_is_not_needed(form):
    code = (
        "import sys; sys.modules['paddle'] = None; import hetero; print(hetero.Core().read_model(sys.argv[1]).inputs)"
    )
    line, _ = run_python(code, str(CASES / f"recognizer.{form}"))
    assert "names[x0] shape[?,3,32,?] type: f32" in line


@pytest.mark.parametrize("form", ["pdmodel", "json"])
def test_weights_are_views_of_their_file(form):
    """The parameters may also be given as bytes."""
    parameters = (CASES / "light_classifier.pdiparams").read_bytes()
    model = Core().read_model((CASES / f"light_classifier.{form}").read_bytes(), parameters)
    weights = [node.data for node in model.get_ops() if node.get_type_name() == "Constant" and node.data.size > 500]
    memory = np.frombuffer(parameters, np.uint8)
    assert weights
    assert all(np.shares_memory(array, memory) for array in weights)


@pytest.mark.parametrize("form", ["pdmodel", "json"])
def test_names(form):
    """Inputs and outputs have the names of the program's targets, parameters those of its variables."""
    model = Core().read_model(CASES / f"light_classifier.{form}")
    assert model.input("x0").partial_shape == PartialShape([-1, 3, -1, -1])
    assert "linear_0.w_0" in {node.friendly_name for node in model.get_ops()}
    (name,) = model.outputs[0].names & ({"fetch_name_0"} if form == "json" else model.outputs[0].names)
    assert model.output(name) == model.outputs[0]


def test_json_programs_name_nodes_by_their_layers():
    names = {node.friendly_name for node in Core().read_model(CASES / "light_classifier.json").get_ops()}
    assert any(name.startswith("LightClassifier/") or "Conv2D" in name for name in names), names

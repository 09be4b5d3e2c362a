"""Models in all forms and TensorFlow's outputs, which tests/frameworks/tensorflow/make_cases.py made.

They are read without tensorflow.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from hetero import Core, PartialShape
from hetero.runtime.front_end_manager import FrontEndManager
from tests.devices import GPUS
from tests.interpreter import run_python

CASES = Path(__file__).parent / "cases"
# The model of each case; the folder "checkpoint" has a graph beside the files of the checkpoint.
MODELS = {
    path.name: path / "model.meta" if path.name == "checkpoint" else path
    for path in sorted(CASES.iterdir())
    if path.suffix != ".npz"
}
# OpenCL devices have no strings.
ON_TEMPLATE_ONLY = ("vocabulary",)


def calls(name):
    """Return the inputs and the outputs of each call of a case."""
    found = defaultdict(lambda: ([], []))
    with np.load(CASES / f"{name.partition('.')[0]}.npz") as arrays:
        for key in arrays:
            at, kind, _ = key.split(".")
            found[int(at)][kind == "output"].append(arrays[key])
    return [found[at] for at in sorted(found)]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("name", "device"),
    [(name, device) for name in MODELS for device in ("TEMPLATE", *GPUS[: name not in ON_TEMPLATE_ONLY])],
)
def test_agrees_with_tensorflow(name, device):
    request = Core().compile_model(MODELS[name], device).create_infer_request()
    for inputs, outputs in calls(name):
        found = request.infer(inputs).to_tuple()
        assert [array.dtype for array in found] == [array.dtype for array in outputs]
        for array, expected in zip(found, outputs, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_tensorflow_is_not_needed():
    code = (
        "import sys; sys.modules['tensorflow'] = None; import hetero;"
        "print(hetero.Core().read_model(sys.argv[1]).inputs)"
    )
    line, _ = run_python(code, str(CASES / "keras"))
    assert "shape[?,16,16,3] type: f32" in line


@pytest.mark.parametrize("name", MODELS)
def test_the_format_is_known_by_its_content(name, tmp_path):
    manager = FrontEndManager()
    assert manager.load_by_model(MODELS[name]).name == "tensorflow"
    if MODELS[name].is_file():
        (tmp_path / "model").write_bytes(MODELS[name].read_bytes())
        assert manager.load_by_model(tmp_path / "model").name == "tensorflow"
        assert manager.load_by_model(MODELS[name].read_bytes()).name == "tensorflow"


def test_frontend_names():
    for name in ("tensorflow", "tf"):
        assert FrontEndManager().load_by_framework(name).name == "tensorflow"


def test_bytes_and_open_files():
    data = (CASES / "image.pb").read_bytes()
    with open(CASES / "image.pb", "rb") as file:
        models = [Core().read_model(source) for source in (data, file)]
    assert [len(model.get_ops()) for model in models] == [len(Core().read_model(CASES / "image.pb").get_ops())] * 2


def test_inputs_and_outputs_have_the_names_of_the_signature():
    model = Core().read_model(CASES / "counter")
    assert model.inputs[0].names == {"x", "serving_default_x", "serving_default_x:0"}
    assert model.inputs[0].node.friendly_name == "serving_default_x"
    assert ["scaled" in model.outputs[0].names, "total" in model.outputs[1].names] == [True, True]
    assert model.inputs[0].partial_shape == PartialShape([-1, 4])


def test_tensors_have_the_names_of_nodes():
    model = Core().read_model(CASES / "v1")
    assert model.output("result:0") is not None and "result" in model.output("result:0").names
    assert {"data", "weight", "MatMul", "result"} <= {node.friendly_name for node in model.get_ops()}


def test_variables_that_the_model_changes_are_states():
    model = Core().read_model(CASES / "counter")
    assert [variable.info.variable_id for variable in model.get_variables()] == ["total"]
    assert not Core().read_model(CASES / "keras").get_variables()


def test_weights_are_views_of_the_file():
    model = Core().read_model(CASES / "keras")
    (weight,) = [node for node in model.get_ops() if node.friendly_name.startswith("head/kernel")]
    assert not weight.data.flags.owndata


def test_channels_last_only_at_the_ends():
    model = Core().read_model(CASES / "image.pb")
    kinds = [node.get_type_name() for node in model.get_ops()]
    assert kinds.count("Transpose") <= 3 < kinds.count("Convolution") + kinds.count("GroupConvolution") + 2

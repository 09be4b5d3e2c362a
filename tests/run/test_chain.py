"""YAML runs of several models and of several inferences, compared with numpy."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from PIL import Image
from typer.testing import CliRunner

from hetero.run.cli import app
from hetero.run.yaml_runs.config import load_config
from hetero.run.yaml_runs.runner import run
from hetero.system.errors import ConfigError
from tests.run.test_sounds import write as write_sound

CHAIN = """
device: TEMPLATE
models:
  first:
    model: twice.onnx
    inputs: {x: {values: [[1, 2], [3, 4]]}}
  second:
    model: sum.onnx
    inputs: {x: {from: first}, y: {values: [[10, 20]]}}
    outputs: [npy: out.npy]
"""


# A model that is given a picture.
PICTURE = "{model: same.onnx, inputs: {x: {image: page.png}}}"


def write_model(path, nodes, inputs, outputs):
    """Write a model of f32 inputs and outputs, given by name and shape."""
    ports = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in values.items()]
        for values in (inputs, outputs)
    ]
    graph = helper.make_graph([helper.make_node(*node) for node in nodes], path.stem, *ports)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture
def folder(tmp_path):
    anything = ["rows", "columns"]
    write_model(tmp_path / "twice.onnx", [("Add", ["x", "x"], ["y"])], {"x": anything}, {"y": anything})
    write_model(
        tmp_path / "sum.onnx",
        [("Add", ["x", "y"], ["z"]), ("Sub", ["x", "y"], ["d"])],
        {"x": anything, "y": ["rows2", "columns"]},
        {"z": anything, "d": anything},
    )
    # total + the sum of a chunk
    write_model(
        tmp_path / "total.onnx",
        [("ReduceSum", ["x"], ["s"]), ("Add", ["s", "total"], ["next"]), ("Identity", ["next"], ["y"])],
        {"x": [1, "n"], "total": [1, 1]},
        {"y": [1, 1], "next": [1, 1]},
    )
    # The mean of the color channels, as a map of probabilities.
    picture = ["n", 3, "h", "w"]
    write_model(
        tmp_path / "mean.onnx",
        [("Conv", ["x", "w"], ["y"])],
        {"x": picture, "w": [1, 3, 1, 1]},
        {"y": ["n", 1, "h", "w"]},
    )
    write_model(tmp_path / "same.onnx", [("Identity", ["x"], ["y"])], {"x": picture}, {"y": picture})
    return tmp_path


def load(folder, text, *settings):
    (folder / "run.yaml").write_text(text)
    return load_config(folder / "run.yaml", settings)


def test_outputs_of_another_model(folder):
    report = run(load(folder, CHAIN))
    np.testing.assert_array_equal(np.load(folder / "out.npy"), [[12, 24], [16, 28]])
    assert [(model.name, model.device, model.inferences) for model in report.models] == [
        ("first", "TEMPLATE", 1), ("second", "TEMPLATE", 1),
    ]  # fmt: skip
    assert [model.outputs for model in report.models] == [[], [{"kind": "file", "file": str(folder / "out.npy")}]]


def test_output_by_name_and_own_entries(folder):
    text = "device: NONE\nproperties: {PERF_COUNT: NO, NUM_STREAMS: 1}\nmodels:\n"
    text += "  a: {model: sum.onnx, inputs: {x: {values: [[5]]}, y: {values: [[2]]}}, outputs: [summary]}\n"
    text += "  b: {model: twice.onnx, inputs: {x: {from: a.d}}, properties: {PERF_COUNT: YES}}\n"
    config = load(folder, text, "device=TEMPLATE")
    assert config.models["b"].properties == {"PERF_COUNT": True, "NUM_STREAMS": 1}
    first, second = run(config).models
    assert [output["mean"] for output in first.outputs] == [7, 3]
    assert [output["mean"] for output in second.outputs] == [6]
    assert second.slowest and not first.slowest


def test_printed_report(folder):
    (folder / "run.yaml").write_text(CHAIN.replace("[npy: out.npy]", "[summary]"))
    printed = CliRunner().invoke(app, ["run", str(folder / "run.yaml")]).stdout
    order = ["z: float32 [2, 2], from 12", "twice.onnx: 1 operations on TEMPLATE", "sum.onnx: 2 operations on TEMPLATE"]
    assert sorted(order, key=printed.index) == order


SOUND = """
model: total.onnx
device: TEMPLATE
iterations: 3
inputs:
  x: {sound: sound.wav, chunk: 4, step: 3}
  total: {previous: next}
outputs: [npy: out.npy, {npz: all.npz}]
"""


def test_state_over_chunks(folder):
    """Each iteration begins with zeros."""
    samples = np.arange(10) / 16
    write_sound(folder / "sound.wav", samples)
    report = run(load(folder, SOUND))
    chunks = [samples[0:4], samples[3:7], samples[6:10]]
    np.testing.assert_allclose(np.load(folder / "out.npy"), np.cumsum([chunk.sum() for chunk in chunks])[:, None])
    assert np.load(folder / "all.npz")["next"].shape == (3, 1)
    (model,) = report.models
    assert (model.inferences, len(model.milliseconds)) == (3, 3)


def test_each_inference_of_a_model_is_one_of_the_next(folder):
    write_sound(folder / "sound.wav", np.arange(10) / 16)
    text = "device: TEMPLATE\nmodels:\n"
    text += "  a: {model: total.onnx, inputs: {x: {sound: sound.wav, chunk: 5}, total: {previous: y, shape: [1, 1]}}}\n"
    text += "  b: {model: twice.onnx, inputs: {x: {from: a}}, outputs: [npy: out.npy]}\n"
    assert run(load(folder, text)).models[1].inferences == 2
    np.testing.assert_allclose(np.load(folder / "out.npy"), 2 * np.float64([[10 / 16], [45 / 16]]))


CROPS = """
device: TEMPLATE
models:
  find:
    model: mean.onnx
    inputs: {x: {image: page.png, multiple: 8, min_width: 80}, w: {npy: third.npy}}
  cut:
    model: same.onnx
    inputs: {x: {crops: {from: find, expand: 0}, scale: 1}}
    outputs: [npz: out.npz]
"""


def test_crops_of_a_picture(folder):
    """The picture is scaled to a multiple of 8 pixels and padded; crops are cut from the original."""
    page = np.zeros((36, 60, 3), np.uint8)
    page[9:27, 15:45] = 240
    Image.fromarray(page).save(folder / "page.png")
    np.save(folder / "third.npy", np.full((1, 3, 1, 1), 1 / 3, np.float32))
    report = run(load(folder, CROPS))
    assert report.models[1].inferences == 1
    crop = np.load(folder / "out.npz")["y"]
    assert crop.shape[:2] == (1, 3)
    np.testing.assert_allclose(crop.shape[2:], (18, 30), atol=2)
    assert crop[0, :, 2:-2, 2:-2].min() >= 230


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        (["models.second.inputs.x.from=frist"], "inputs.x: no model named frist runs before this one; did you mean"),
        (["models.first.inputs.x={from: second}"], "models.first.inputs.x: no model named second runs before this one"),
        (["models.second.inputs.x={crops: {from: first}}"], "inputs.x: crops need a model that reads one picture"),
        (["models.second.inputs.x={from: first.w}"], "models.second.inputs.x: the model has no output w; "),
        (["models.second.inputs.y={previous: w, shape: [1, 1]}"], "second.inputs.y: the model has no output w; "),
        (["models.second.inputs.y={previous: z}"], "second.inputs.y: previous needs a shape, because the model takes"),
        (["models.second.inputs.y={values: 1}"], "models.second.inputs.y: the model takes the shape"),
        (["models.second.outputs=[segments: {step: 1}]"], "outputs.0: segments needs one value per inference"),
        (["models.second.outputs=[{top_k: 1, output: w}]"], "models.second.outputs.0: the model has no output w"),
        (["models.second.device=NPU"], "no device NPU"),
        (["models={}"], "models: "),
        (["models={a.b: {model: twice.onnx}}"], "models.a.b"),
        (
            ["models.second.inputs.x={crops: {from: first}}", f"models.first={PICTURE}"],
            "models.second.inputs.x: crops need one probability per pixel, but first has the shape [1, 3, 8, 8]",
        ),
        (["models.second=3"], "models.second: "),
        (["inputs={}"], "unknown key inputs"),
    ],
)
def test_errors(folder, settings, part, monkeypatch):
    Image.new("RGB", (8, 8)).save(folder / "page.png")
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError if part != "no device NPU" else RuntimeError) as caught:
        run(load(folder, CHAIN, *settings))
    assert part in str(caught.value)
    assert not (folder / "out.npy").exists()


def test_inputs_for_different_numbers_of_inferences(folder):
    write_sound(folder / "sound.wav", np.arange(12) / 16)
    text = "model: sum.onnx\ndevice: TEMPLATE\n"
    text += "inputs: {x: {sound: sound.wav, chunk: 4}, y: {sound: sound.wav, chunk: 6}}"
    with pytest.raises(ConfigError, match="same number of inferences, but there are x for 3 and y for 2"):
        run(load(folder, text))


def test_reference_in_a_run_of_one_model(folder):
    with pytest.raises(ConfigError, match=r"run.yaml:3:10: inputs.x: this input needs another model; name both"):
        load(folder, "model: twice.onnx\ndevice: TEMPLATE\ninputs: {x: {from: y}}")


def test_crops_need_a_model_that_runs_once(folder):
    write_sound(folder / "sound.wav", np.zeros(12))
    Image.new("RGB", (8, 8)).save(folder / "page.png")
    inputs = {"x": [1, 3, 8, 8], "s": [1, 1, 8]}
    write_model(folder / "both.onnx", [("Add", ["x", "s"], ["y"])], inputs, {"y": ["n"] * 4})
    text = "device: TEMPLATE\nmodels:\n"
    text += "  a: {model: both.onnx, inputs: {x: {image: page.png}, s: {sound: sound.wav, chunk: 8, layout: NCT}}}\n"
    text += "  b: {model: same.onnx, inputs: {x: {crops: {from: a}}}}\n"
    with pytest.raises(ConfigError, match=r"run.yaml:4:34: .*: crops need a model that runs once, but a ran 2 times"):
        run(load(folder, text))


def test_model_without_outputs(folder):
    write_model(folder / "none.onnx", [("Neg", ["x"], ["y"])], {"x": [1, 1]}, {})
    text = "device: TEMPLATE\nmodels:\n  a: {model: none.onnx, inputs: {x: {values: [[1]]}}}\n"
    with pytest.raises(ConfigError, match=r"run.yaml:4:35: models.b.inputs.x: the model has no outputs"):
        run(load(folder, text + "  b: {model: twice.onnx, inputs: {x: {from: a}}}"))


def test_results_that_cannot_be_joined(folder):
    """The picture has two regions of different sizes."""
    page = np.zeros((40, 64, 3), np.uint8)
    page[4:12, 8:40] = page[20:36, 8:56] = 255
    Image.fromarray(page).save(folder / "page.png")
    np.save(folder / "third.npy", np.full((1, 3, 1, 1), 1 / 3, np.float32))
    with pytest.raises(ConfigError, match=r"outputs.0: the results of 2 inferences cannot be joined"):
        run(load(folder, CROPS))


def test_report_as_json(folder):
    (folder / "run.yaml").write_text(CHAIN)
    result = CliRunner().invoke(app, ["run", str(folder / "run.yaml"), "--json"])
    assert [model["name"] for model in json.loads(result.stdout)["models"]] == ["first", "second"]

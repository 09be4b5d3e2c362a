"""``hetero query``, ``compile`` and ``convert``, ``--strict``, and compiled models in runs and benchmarks."""

import json
import signal
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from typer.testing import CliRunner

from hetero import Model, Parameter, Type, ops, serialize
from hetero.run.cli import app
from tests.run.test_cli import X, folder, hetero, write_model

__all__ = ["folder"]  # a fixture
Y = 1 / (1 + np.exp(-np.tanh(np.maximum(X, 0))))


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:PICKY,TEMPLATE"])
def test_a_compiled_model_runs(folder, device):
    result = hetero("compile", "model.onnx", "-d", device, "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["file"], report["device"]) == ("model.blob", device)
    assert report["byte_size"] == (folder / "model.blob").stat().st_size
    # The compiled model does not need the model.
    (folder / "model.onnx").unlink()
    result = hetero("run", "run.yaml", "--set", "model=model.blob", "--set", f"device={device}", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["models"][0]["operations"] is None
    np.testing.assert_allclose(np.load("y.npy"), Y, rtol=1e-5)
    result = hetero("benchmark", "model.blob", "-d", device, "--niter", "3", "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["input_shapes"] == {"x": [1, 3]} and report["measurements"][0]["inferences"] == 3
    settings = ["--set", "model=model.blob", "--set", f"device={device}"]
    assert f"model.blob: compiled on {device}" in hetero("run", "run.yaml", *settings).stdout


def test_compile_shows_the_placement(folder):
    result = hetero("compile", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE", "-o", "a.blob")
    assert "PICKY 2/3 operations" in result.stdout and "written: a.blob" in result.stdout


def test_strict(folder):
    """Only the first device runs operations, and the error names those that it does not support."""
    for command in (
        ["run", "run.yaml"],
        ["compile", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE"],
        ["benchmark", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE"],
    ):
        result = hetero(*command, "--strict")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "PICKY cannot run Tanh 'node1'" in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "y.npy").exists() and not (folder / "model.blob").exists()
    assert hetero("run", "run.yaml", "--strict", "--set", "device=HETERO:TEMPLATE,PICKY").exit_code == 0
    assert hetero("run", "run.yaml", "--strict", "--set", "device=TEMPLATE").exit_code == 0
    result = hetero("run", "run.yaml", "--strict", "--set", "device=AUTO")
    assert result.stderr == "error: --strict is for one device or HETERO:A,B, and not for AUTO\n"
    # A model that was compiled for two devices.
    assert hetero("compile", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE").exit_code == 0
    result = hetero("run", "run.yaml", "--strict", "--set", "model=model.blob")
    assert result.exit_code == 2 and "HETERO:PICKY has no TEMPLATE" in result.stderr


def test_query_as_json(folder):
    report = json.loads(hetero("query", "model.onnx", "-d", "PICKY", "--json").stdout)
    assert [o["device"] for o in report["operations"]] == ["PICKY", None, "PICKY"]
    assert report["operations"][1] | {"refused": "PICKY is picky"} == report["operations"][1]
    strict = ["--property", "STRICT=YES", "--json"]
    report = json.loads(hetero("query", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE", *strict).stdout)
    assert [o["device"] for o in report["operations"]] == ["PICKY", None, "PICKY"]


def test_convert(folder):
    """OpenVINO reads the result, with the reshaped input."""
    model = onnx.load(folder / "model.onnx")
    for port in (model.graph.input[0], model.graph.output[0]):
        port.type.tensor_type.shape.dim[0].dim_param = "N"
    onnx.save(model, folder / "dynamic.onnx")
    for shapes, expected in (([], "[?,3]"), (["--shape", "x=2,3"], "[2,3]")):
        result = hetero("convert", "dynamic.onnx", "-o", "ir.xml", "--json", *shapes)
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout) == {"files": ["ir.xml", "ir.bin"], "operations": 3, "weights": []}
        converted = openvino.Core().read_model("ir.xml")
        assert str(converted.input().partial_shape) == expected
        x = np.concatenate([X, X])
        np.testing.assert_allclose(openvino.compile_model(converted, "CPU")(x)[0], np.concatenate([Y, Y]), rtol=1e-5)


@pytest.mark.parametrize("compression", [[], ["--weights", "fp16"]])
def test_convert_to_onnx(folder, compression):
    """ONNX Runtime runs the result, with the reshaped input."""
    result = hetero("convert", "model.onnx", "-o", "copy.onnx", "--shape", "x=2,3", "--json", *compression)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"files": ["copy.onnx"], "operations": 3, "weights": []}
    session = onnxruntime.InferenceSession(folder / "copy.onnx")
    assert session.get_inputs()[0].shape == [2, 3]
    np.testing.assert_allclose(session.run(["y"], {"x": np.concatenate([X, X])})[0], np.concatenate([Y, Y]), rtol=1e-5)
    result = hetero("convert", "model.onnx", "-o", "model.onnx")
    assert result.exit_code == 2 and "model.onnx" in result.stderr


def test_convert_says_the_errors_of_weights(folder):
    weights = np.random.default_rng(1).standard_normal((256, 128)).astype(np.float32)
    x = Parameter(Type.f32, [-1, 256], name="x")
    serialize(Model([ops.MatMul(ops.MatMul(x, weights, False, False), -weights, False, True)], [x]), "wide.xml")
    result = hetero("convert", "wide.xml", "-o", "small.xml", "--weights", "int4", "--group", "64")
    assert result.exit_code == 0, result.stderr
    first, second, _ = result.stdout.splitlines()
    assert first == "weights: 0.3 MB became 0.1 MB, 1 in int4 and 1 in int8"
    assert second.startswith("largest error: ") and second.endswith("(int4_asym)")
    assert (folder / "small.bin").stat().st_size < 0.25 * (folder / "wide.bin").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "model.onnx", "--devise", "A"], "no such option: --devise; did you mean --device?"),
        (["quer", "model.onnx"], "no such command 'quer'. Did you mean 'query'?"),
        (["query", "model.onnx", "-d", "TEMPLTE"], "did you mean TEMPLATE?"),
        (["query", "modle.onnx", "-d", "TEMPLATE"], "there is no file modle.onnx; did you mean model.onnx?"),
        (["benchmark", "model.onnx", "-d", "TEMPLATE", "--api", "asynk"], "'asynk' is not one of 'sync', 'async'"),
        (["benchmark", "model.onnx", "-d", "TEMPLATE", "-t", "soon"], "'--time' / '-t'"),
        (["compile", "model.onnx", "-d", "TEMPLATE", "-o", "model.onnx"], "model.onnx cannot be written"),
        (["compile", "model.onnx", "-d", "TEMPLATE", "-o", "no/a.blob"], "there is no folder no to write a.blob into"),
        (["compile", "model.onnx", "-d", "TEMPLATE", "--property", "PERF_CONT=1"], "did you mean PERF_COUNT?"),
        (
            ["convert", "model.onnx", "-o", "model.ir"],
            "the name of the file must end in .xml or .onnx, but is model.ir",
        ),
        (["convert", "model.onnx", "--shape", "z=1,3"], "z"),
        (["convert", "model.onnx", "--weights", "int3"], "'int3' is not one of 'fp16', 'int8', 'int4'"),
        (["convert", "model.onnx", "--weights", "int4", "--group", "12"], "must be a multiple of 8, but is 12"),
    ],
)
def test_bad_input_is_one_line(folder, arguments, message):
    result = hetero(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not [file.name for file in folder.iterdir() if file.suffix in (".blob", ".xml", ".bin", ".ir")]


def test_a_converted_model_does_not_replace_weights_of_the_model(folder):
    model = onnx.load(folder / "model.onnx")
    model.graph.initializer.append(onnx.numpy_helper.from_array(X, "w"))
    model.graph.node.append(onnx.helper.make_node("Add", ["y", "w"], ["z"]))
    model.graph.output[0].name = "z"
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="model.bin", size_threshold=0)
    content = (folder / "model.bin").read_bytes()
    result = hetero("convert", "model.onnx")
    assert result.exit_code == 2 and "model.bin is read by this run" in result.stderr
    assert (folder / "model.bin").read_bytes() == content


def test_a_compiled_model_is_rejected_elsewhere(folder):
    assert hetero("compile", "model.onnx", "-d", "TEMPLATE").exit_code == 0
    result = hetero("query", "model.blob", "-d", "TEMPLATE")
    assert result.stderr == "error: model.blob is a compiled model, which only hetero run and hetero benchmark take\n"
    result = hetero("run", "run.yaml", "--set", "model=model.blob", "--set", "affinities={x: PICKY}")
    assert result.exit_code == 2 and "affinities: " in result.stderr and "compiled already" in result.stderr


@pytest.mark.slow
def test_ctrl_c_leaves_no_partial_file(tmp_path):
    write_model(tmp_path / "model.onnx", "Relu")
    command = [sys.executable, "-c", "from hetero.run.cli import main; main()", "benchmark", "model.onnx"]
    options = ["-d", "TEMPLATE", "-t", "60", "--csv", "times.csv"]
    process = subprocess.Popen([*command, *options], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 130
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TEMP", ["TEMPLATE"]),
        ("HETERO:TEMPLATE,PIC", ["HETERO:TEMPLATE,PICKY"]),
        ("HET", ["HETERO:"]),
    ],
)
def test_completion_of_devices(folder, monkeypatch, text, expected):
    monkeypatch.setenv("_HETERO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"hetero query model.onnx -d {text}")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert CliRunner().invoke(app, prog_name="hetero").stdout.split() == expected

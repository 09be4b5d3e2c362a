"""The command ``hetero``: its output, exit codes and one-line errors."""

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from typer.main import get_command
from typer.testing import CliRunner

from hetero.plugin import installed_plugins
from hetero.run.cli import app
from tests.devices import PickyPlugin
from tests.interpreter import run_python

X = np.array([[-1.0, 0.5, 2.0]], np.float32)


def write_model(path, *types):
    """Write a chain of unary operations from x to y."""
    names = ["x", *(f"t{i}" for i in range(1, len(types))), "y"]
    nodes = [helper.make_node(t, [names[i]], [names[i + 1]], name=f"node{i}") for i, t in enumerate(types)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a run, and a device PICKY that supports all operations but Tanh."""
    write_model(tmp_path / "model.onnx", "Relu", "Tanh", "Sigmoid")
    write_model(tmp_path / "unknown.onnx", "Relu", "NoSuchOperation")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "wide.npy", np.zeros((1, 4), np.float32))
    np.save(tmp_path / "complex.npy", X.astype(np.complex64))
    (tmp_path / "run.yaml").write_text(
        "model: model.onnx\ndevice: HETERO:PICKY,TEMPLATE\ninputs: {x: {npy: x.npy}}\noutputs: [summary, npy: y.npy]\n"
    )
    (tmp_path / "extensions").mkdir()
    (tmp_path / "extensions" / "my_ops.py").write_text(
        "from hetero.frontend import OpExtension\n\nextensions = OpExtension('Negative', 'NoSuchOperation')\n"
    )
    (tmp_path / "broken.py").write_text("\n1 / 0\n")
    (tmp_path / "broken.onnx").write_bytes((tmp_path / "model.onnx").read_bytes()[:40])
    picky = PickyPlugin(lambda node: node.type_info.name != "Tanh")
    monkeypatch.setitem(installed_plugins().devices, "PICKY", lambda: picky)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hetero(*arguments):
    return CliRunner().invoke(app, arguments)


def test_run_reports_placement_and_reasons(folder):
    result = hetero("run", "run.yaml")
    assert result.exit_code == 0, result.stderr
    for part in (
        "PICKY 2/3 operations (66.7% of the work) in 2 subgraphs",
        "1 Tanh",
        "PICKY: PICKY is picky",
        "y: float32 [1, 3]",
        "ms",
    ):
        assert part in result.stdout
    np.testing.assert_allclose(np.load("y.npy"), 1 / (1 + np.exp(-np.tanh(np.maximum(X, 0)))), rtol=1e-5)


def test_a_run_prints_the_answer_first(folder):
    lines = hetero("run", "run.yaml", "--set", "iterations=4").stdout.splitlines()
    assert lines[0].startswith("y: float32 [1, 3], from 0.5 to 0.7239") and lines[1] == "written: y.npy"
    beginnings = [line.split(":")[0] for line in lines[-4:]]
    assert beginnings == ["read", "compile", "first run", "each later run"]
    assert "the median of 4" in lines[-1]


def test_run_as_json(folder):
    result = hetero("run", "run.yaml", "--json", "--set", "iterations=3")
    report = json.loads(result.stdout)
    (model,) = report["models"]
    placement = model["placement"]
    assert [s["device"] for s in placement["subgraphs"]] == ["PICKY", "TEMPLATE", "PICKY"]
    assert [s["operations"] for s in placement["subgraphs"]] == [1, 1, 1]
    assert placement["devices"] == {"PICKY": 2, "TEMPLATE": 1}
    assert placement["reasons"] == [{"device": "TEMPLATE", "reason": "PICKY: PICKY is picky", "types": {"Tanh": 1}}]
    assert (len(model["milliseconds"]), model["inferences"]) == (3, 1)
    assert {"TEMPLATE", "PICKY"} <= {device["name"] for device in report["devices"]}


def test_run_with_a_trace(folder):
    result = hetero("run", "run.yaml", "--trace", "trace.json", "--set", "iterations=2")
    assert result.exit_code == 0, result.stderr
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events]
    assert {"Core::read_model", "Core::compile_model", "InferRequest::infer", "fold_constants"} <= set(names)
    # One warm-up and two measured inferences, each with three subgraphs.
    assert names.count("InferRequest::infer") == 3 and names.count("subgraph 1") == 3
    assert sorted(p.name for p in folder.glob("trace*")) == ["trace.json"]


def test_trace_must_not_overwrite_files_of_the_run(folder):
    content = (folder / "model.onnx").read_bytes()
    result = hetero("run", "run.yaml", "--trace", "model.onnx")
    assert result.stderr == "error: model.onnx cannot be written: model.onnx is read by this run\n"
    assert (folder / "model.onnx").read_bytes() == content


def test_output_must_not_overwrite_the_weights(folder):
    model = onnx.load(folder / "model.onnx")
    model.graph.initializer.append(onnx.numpy_helper.from_array(X, "w"))
    model.graph.node.append(helper.make_node("Add", ["y", "w"], ["z"]))
    model.graph.output[0].name = "z"
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    content = (folder / "weights").read_bytes()
    result = hetero("run", "run.yaml", "--set", "outputs=[npy: weights]")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "weights is read by this run" in result.stderr
    assert (folder / "weights").read_bytes() == content


def test_missing_folder_of_a_trace_is_an_error_before_the_run(folder):
    result = hetero("run", "run.yaml", "--trace", "nowhere/trace.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: there is no folder nowhere to write trace.json into\n"
    assert not (folder / "y.npy").exists()


def test_run_with_times_of_operations(folder):
    setting = ["--set", "properties.PERF_COUNT=YES"]
    (report,) = json.loads(hetero("run", "run.yaml", "--json", *setting).stdout)["models"]
    assert {(o["type_name"], o["execution"]) for o in report["slowest"]} == {
        ("Relu", "numpy"), ("Tanh", "numpy"), ("Sigmoid", "numpy"),
    }  # fmt: skip
    times = [o["milliseconds"] for o in report["slowest"]]
    assert times == sorted(times, reverse=True)
    for subgraph in report["placement"]["subgraphs"]:
        assert 0 <= subgraph["transfer_milliseconds"] <= subgraph["milliseconds"]
    text = hetero("run", "run.yaml", *setting).stdout
    assert "slowest operations" in text and "transfers (ms)" in text
    (report,) = json.loads(hetero("run", "run.yaml", "--json").stdout)["models"]
    untimed = report["placement"]["subgraphs"]
    assert all(subgraph["milliseconds"] is subgraph["transfer_milliseconds"] is None for subgraph in untimed)
    assert "transfers (ms)" not in (text := hetero("run", "run.yaml").stdout) and "subgraph   device" in text


def test_run_with_affinities(folder):
    result = hetero("run", "run.yaml", "--json", "--set", "affinities.node0=TEMPLATE")
    placement = json.loads(result.stdout)["models"][0]["placement"]
    assert placement["devices"] == {"TEMPLATE": 2, "PICKY": 1}
    assert {"device": "TEMPLATE", "reason": "pinned", "types": {"Relu": 1}} in placement["reasons"]


def test_run_on_a_device_alone_has_no_placement(folder):
    result = hetero("run", "run.yaml", "--json", "--set", "device=TEMPLATE")
    assert json.loads(result.stdout)["models"][0]["placement"] is None
    assert hetero("run", "run.yaml", "--set", "device=TEMPLATE").exit_code == 0


def test_devices(folder, monkeypatch):
    def fail():
        raise RuntimeError("no driver")

    monkeypatch.setitem(installed_plugins().devices, "ABSENT", fail)
    result = hetero("devices")
    assert result.exit_code == 0
    for part in ("TEMPLATE", "numpy", "PICKY", "not available: ABSENT (RuntimeError: no driver)"):
        assert part in result.stdout
    report = json.loads(hetero("devices", "--json").stdout)
    assert report["unavailable"]["ABSENT"] == "RuntimeError: no driver"
    assert "PICKY" in [device["name"] for device in report["devices"]]


def test_devices_with_a_faster_type(folder):
    devices = json.loads(hetero("devices", "--json").stdout)["devices"]
    faster = {device["name"]: device["faster_type"] for device in devices}
    assert faster["TEMPLATE"] == faster["PICKY"] == ""
    expected = "bf16" if "BF16" in devices[list(faster).index("ONEDNN")]["capabilities"] else ""
    assert faster["ONEDNN"] == expected
    assert ("EXECUTION_MODE_HINT=PERFORMANCE computes f32 models in bf16" in hetero("devices").stdout) == bool(expected)


def test_devices_with_details(folder):
    report = json.loads(hetero("devices", "--json").stdout)
    details = {device["name"]: device["details"] for device in report["devices"]}
    gpu = next(name for name in details if name.startswith("GPU"))
    assert details["TEMPLATE"] == {}
    assert {"driver", "processor", "vectors", "memory", "element types"} <= details[gpu].keys()
    printed = hetero("devices").stdout
    for name, text in details[gpu].items():
        assert name in printed and text in printed


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["-d", "PICKY"], ["1 Relu, 1 Sigmoid", "none: PICKY is picky", "1 Tanh", "2 of 3 operations can run"]),
        (["-d", "HETERO:PICKY,TEMPLATE"], ["PICKY", "TEMPLATE", "3 of 3 operations can run"]),
        (["-d", "PICKY", "--all"], ["node0", "node1", "node2", "none: PICKY is picky"]),
    ],
)
def test_query(folder, arguments, parts):
    result = hetero("query", "model.onnx", *arguments)
    assert result.exit_code == 0, result.stderr
    for part in parts:
        assert part in result.stdout


def test_query_with_a_drawing(folder):
    result = hetero("query", "model.onnx", "-d", "HETERO:PICKY,TEMPLATE", "--draw", "model.dot")
    assert result.exit_code == 0, result.stderr
    tooltips = re.findall(r'tooltip="(?:Relu|Tanh) [^"]*?\\n([^"]*?)\\n', (folder / "model.dot").read_text())
    assert tooltips == ["PICKY: can run it", "TEMPLATE: can run it"]
    assert hetero("query", "model.onnx", "-d", "PICKY", "--draw", "model.dot").exit_code == 0
    assert "no device: PICKY is picky" in (folder / "model.dot").read_text()


def test_extensions_of_a_run(folder, monkeypatch):
    """Paths in the YAML file are relative to its folder, paths in settings to the current folder."""
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    text = (folder / "run.yaml").read_text()
    (folder / "run.yaml").write_text(f"{text}extensions: [extensions/my_ops.py]\n".replace("y.npy", "z.npy"))
    for extra in ([], ["--set", "extensions=[../extensions/my_ops.py]"]):
        result = hetero("run", "../run.yaml", "--set", "model=../unknown.onnx", *extra)
        assert result.exit_code == 0, result.stderr
        np.testing.assert_array_equal(np.load(folder / "z.npy"), -np.maximum(X, 0))
        (folder / "z.npy").unlink()


def test_extensions_of_other_commands(folder):
    result = hetero("query", "unknown.onnx", "-d", "PICKY", "--extension", "extensions/my_ops.py", "--all")
    assert result.exit_code == 0 and "Negative" in result.stdout, result.stderr
    arguments = ["--extension", "extensions/my_ops.py", "--seconds", "0", "--costs-dir", str(folder), "--json"]
    result = hetero("calibrate", "unknown.onnx", "-d", "HETERO:PICKY,TEMPLATE", *arguments)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["run", "none.yaml"], ["there is no file none.yaml"]),
        (["run", "run.yml"], ["there is no file run.yml; did you mean run.yaml?"]),
        (["run", "."], ["is a folder, not a file"]),
        (
            ["query", "model.onnx", "-d", "PICKY", "--draw", "x.png"],
            ["cannot draw to x.png", "its name must end in .dot"],
        ),
        (["query", "model.onnx", "-d", "PICKY", "--draw", "no/x.dot"], ["there is no folder no to write x.dot into"]),
        (["run", "model.onnx"], ["model.onnx", "not a YAML file"]),
        (["run", "run.yaml", "--set", "device=NPU"], ["no device NPU", "TEMPLATE"]),
        (["run", "run.yaml", "--set", "device=HETERO:PICKY"], ["PICKY cannot run Tanh 'node1'", "is picky"]),
        (["run", "run.yaml", "--set", "devise=A"], ["unknown key devise", "did you mean device?"]),
        (["run", "run.yaml", "--set", "model=none.onnx"], ["model: there is no file none.onnx"]),
        (["run", "run.yaml", "--set", "model=x.npy"], ["none of the known formats"]),
        (["run", "run.yaml", "--set", "model=broken.onnx"], ["broken.onnx"]),
        (["run", "run.yaml", "--set", "model=unknown.onnx"], ["NoSuchOperation"]),
        (["run", "run.yaml", "--set", "inputs={z: {npy: x.npy}}"], ["no input z", "x"]),
        (["run", "run.yaml", "--set", "inputs={}"], ["missing the model's input x"]),
        (["run", "run.yaml", "--set", "inputs.x.npy=wide.npy"], ["inputs.x", "[1,3]", "[1, 4]"]),
        (["run", "run.yaml", "--set", "inputs.x.npy=complex.npy"], ["inputs.x", "f32", "complex64"]),
        (["run", "run.yaml", "--set", "properties.PERF_CONT=true"], ["PERF_CONT", "PERF_COUNT"]),
        (["run", "run.yaml", "--set", "affinities.nodeX=PICKY"], ["nodeX", "matches no operation"]),
        (
            ["run", "run.yaml", "--set", "outputs.0={ctc: {characters: x.npy}}"],
            ["outputs.0", "x.npy is not a text file"],
        ),
        (["query", "none.onnx", "-d", "PICKY"], ["there is no file none.onnx"]),
        (["query", "model.onnx", "-d", "PICKY", "--extension", "no.py"], ["there is no file no.py"]),
        (["query", "model.onnx", "-d", "PICKY", "--extension", "broken.py"], ["broken.py:2", "ZeroDivisionError"]),
        (["run", "run.yaml", "--set", "extensions=[no.py]"], ["extensions.0: there is no file no.py"]),
        (["run", "run.yaml", "--set", "extensions=[acme_none.ops]"], ["extensions of acme_none.ops cannot be loaded"]),
        (["query", "model.onnx", "-d", "NPU"], ["no device NPU"]),
    ],
)
def test_errors_are_one_line(folder, arguments, parts):
    result = hetero(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert not (folder / "y.npy").exists()
    with_traceback = hetero(*arguments, "--debug")
    assert with_traceback.exit_code == 1 and isinstance(with_traceback.exception, (RuntimeError, OSError))


def test_version():
    assert hetero("--version").stdout == f"hetero {version('hetero')}\n"
    assert (
        subprocess.check_output([sys.executable, "-m", "hetero", "--version"], text=True) == hetero("--version").stdout
    )


def commands(group, path=()):
    """Return the path of each command."""
    if not hasattr(group, "commands"):
        return [path]
    return [found for name, command in group.commands.items() for found in commands(command, (*path, name))]


@pytest.mark.parametrize("path", commands(get_command(app)), ids=" ".join)
def test_help_has_an_example(path):
    """The arguments of the example are valid."""
    text = hetero(*path, "-h").stdout
    assert text == hetero(*path, "--help").stdout
    begin, name, *arguments = shlex.split(text.strip().splitlines()[-1].removeprefix("  Example: "))
    command = get_command(app).commands[name]
    if path[:-1]:
        command = command.commands[arguments.pop(0)]
    assert (begin, command.name) == ("hetero", path[-1])
    command.make_context(command.name, arguments)


def test_no_description_is_cut():
    assert "..." not in hetero("-h").stdout.partition("Commands:")[2]


def test_a_device_is_described_in_words(folder):
    (picky,) = [d for d in json.loads(hetero("devices", "--json").stdout)["devices"] if d["name"] == "PICKY"]
    assert picky["type"] == "integrated"


@pytest.mark.parametrize("arguments", [["run"], ["run", "a.yaml", "--jso"], ["walk"], ["query", "model.onnx"]])
def test_wrong_usage(arguments):
    assert hetero(*arguments).exit_code == 2


def test_failed_write_keeps_the_old_file(folder, monkeypatch):
    (folder / "y.npy").write_bytes(b"old")
    monkeypatch.setattr(np, "save", lambda *a, **k: (_ for _ in ()).throw(OSError(28, "No space left")))
    result = hetero("run", "run.yaml")
    assert result.exit_code == 2
    assert result.stderr == "error: run.yaml:4:20: outputs.1: y.npy cannot be written: No space left\n"
    assert (folder / "y.npy").read_bytes() == b"old"
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


def test_no_file_is_written_if_another_output_fails(folder):
    setting = "outputs=[npy: y.npy, ctc: {characters: run.yaml}]"
    result = hetero("run", "run.yaml", "--set", setting)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --set {setting}: outputs.1: ctc needs") and result.stderr.count("\n") == 1
    assert not (folder / "y.npy").exists()


@pytest.mark.slow
def test_ctrl_c_in_a_finalizer_is_not_lost():
    """Python ignores exceptions in finalizers, KeyboardInterrupt among them."""
    assert run_python(
        """
import os, signal, time
from hetero.run import cli

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

def run():
    Finalized()
    time.sleep(60)

cli.app = run
try:
    cli.main()
except KeyboardInterrupt:
    print("interrupted", end="")
""",
        timeout=30,
    ) == ("interrupted", "")


@pytest.mark.slow
def test_help_imports_little():
    code = (
        "import sys; from hetero.run import cli; "
        "print([m for m in ('pydantic', 'yaml', 'PIL', 'rich.table', 'hetero.dispatch') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"

"""The commands ovc and benchmark_app, with the options that programs for OpenVINO give them."""

import json
import subprocess
import sys

import numpy as np
import onnx.parser
import openvino
import pytest

import hetero
from hetero import opset13 as ops
from hetero.run.openvino_tools import benchmark_app, ovc


@pytest.fixture
def model_file(tmp_path, monkeypatch):
    """Write a model with inputs x and y, and work in its folder."""
    monkeypatch.chdir(tmp_path)
    x, y = (ops.parameter([-1, 3], np.float32, name=name) for name in "xy")
    for node, name in ((x, "x"), (y, "y")):
        node.output(0).names = {name}
    total = ops.add(ops.multiply(x, ops.constant(np.full([256, 3], 0.3, np.float32)[:1])), y)
    total.output(0).names = {"total"}
    half = ops.relu(x)
    half.output(0).names = {"half"}
    hetero.serialize(hetero.Model([total, half], [x, y], "sum"), tmp_path / "sum.xml")
    return tmp_path / "sum.xml"


def converted_by_openvino(model_file, inputs, outputs):
    """Return names, shapes and types of the inputs and outputs that OpenVINO's own conversion of a file gives.

    In another process, as it sets the level of all loggers, and imports whatever is found as tensorflow.
    """
    code = f"""if True:
        import json, openvino
        model = openvino.convert_model({str(model_file)!r}, input={inputs!r}, output={outputs!r})
        ports = model.inputs, model.outputs
        print(json.dumps([[[p.any_name, str(p.partial_shape), str(p.element_type)] for p in some] for some in ports]))
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def test_ovc(model_file, capsys):
    text = """<ir_version: 8, opset_import: ["" : 17]>
        sum (float[N, 3] x, float[N, 3] y) => (float[N, 3] total, float[N, 3] half)
        <float[1, 3] third = {0.3, 0.3, 0.3}> { a = Mul (x, third) total = Add (a, y) half = Relu (x) }"""
    model_file = model_file.with_suffix(".onnx")
    onnx.save(onnx.parser.parse_model(text), model_file)
    arguments = ["--output_model", "made/out", "--input", "y[2,3],x[2,?]", "--output", "total"]
    assert ovc.main([str(model_file), *arguments]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "[ SUCCESS ] XML file: made/out.xml", "[ SUCCESS ] BIN file: made/out.bin"
    ]  # fmt: skip
    expected = converted_by_openvino(model_file, [("y", [2, 3]), ("x", [2, -1])], ["total"])
    found = openvino.Core().read_model("made/out.xml")
    # The inputs are in the order of --input; OpenVINO's are in that of the file.
    assert [port.any_name for port in found.inputs] == ["y", "x"]
    for ports, others in zip((found.inputs, found.outputs), expected):
        described = [[port.any_name, str(port.partial_shape), str(port.element_type)] for port in ports]
        assert sorted(described) == sorted(others)
    assert ovc.parse_input("x[1,2..8]{i32}") == ("x", hetero.PartialShape("1,2..8"), hetero.Type.i32)
    assert "f16" in (model_file.parent / "made/out.xml").read_text()


@pytest.mark.parametrize("output, file", [(None, "sum.xml"), ("folder/", "folder/sum.xml"), ("a.xml", "a.xml")])
def test_ovc_names_the_file(model_file, capsys, output, file):
    (model_file.parent / "source").mkdir()
    source = model_file.rename(model_file.parent / "source/sum.xml")
    model_file.with_suffix(".bin").rename(source.with_suffix(".bin"))
    ovc.main([str(source), "--compress_to_fp16=False", *(["--output_model", output] if output else [])])
    assert file in capsys.readouterr().out
    constants = [node for node in hetero.Core().read_model(file).get_ops() if node.get_type_name() == "Constant"]
    assert {node.get_element_type().to_string() for node in constants} == {"f32"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["sum.xml", "other.xml"], "ovc converts one model file at a time, not 2"),
        (["missing.onnx"], "there is no model file missing.onnx"),
        (["sum.xml", "--input", "x[1,2"], "'x[1' is no input: write its name, shape and element type"),
    ],
)
def test_errors_of_ovc_are_one_line(model_file, capsys, arguments, message):
    assert ovc.main(arguments) == 2 and message in capsys.readouterr().err


def run_benchmark(capsys, *arguments):
    assert benchmark_app.main(["-m", "sum.xml", "-d", "TEMPLATE", "-niter", "4", "-json_stats", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments, layout, api, shapes",
    [
        (["-hint", "latency", "-shape", "x[2,3],y[1,3]"], "", "sync", {"x": [2, 3], "y": [1, 3]}),
        (["-nireq", "2", "-data_shape", "[5,3]"], "", "async", {"x": [5, 3], "y": [5, 3]}),
        (["-api", "sync", "-b", "8"], "NC", "sync", {"x": [8, 3], "y": [8, 3]}),
        (["-api", "sync", "-b", "8"], "", "sync", {"x": [8, 3], "y": [8, 3]}),
    ],
)
def test_benchmark_app(model_file, capsys, arguments, layout, api, shapes):
    if layout:
        model = hetero.Core().read_model(model_file)
        for node in model.get_parameters():
            node.set_layout(hetero.Layout(layout))
        hetero.serialize(model, "layouts.xml")
        arguments = [*arguments, "-m", "layouts.xml"]
    report = run_benchmark(capsys, *arguments)
    assert (report["api"], report["input_shapes"]) == (api, shapes)
    assert report["measurements"][0]["device"] == "TEMPLATE" and report["measurements"][0]["inferences"] >= 4


def test_properties_and_files_of_benchmark_app(model_file, capsys):
    (model_file.parent / "config.json").write_text(json.dumps({"TEMPLATE": {"NUM_STREAMS": "3"}}))
    arguments = ["-load_config", "config.json", "-api", "async", "-report_type", "no_counters", "-data_shape", "[1,3]"]
    assert run_benchmark(capsys, *arguments)["measurements"][0]["requests"] == 3
    assert (model_file.parent / "benchmark_report.csv").exists()


def test_benchmark_app_ends_with_statistics_as_openvino_prints_them(model_file, capsys):
    """Scripts search for these lines."""
    arguments = ["-m", "sum.xml", "-api", "sync", "-hint", "latency", "-niter", "4", "-shape", "[2,3]"]
    command = ["-c", "from openvino.tools.benchmark.main import main; main()", *arguments, "-d", "CPU"]
    theirs = subprocess.run([sys.executable, *command], capture_output=True, text=True).stdout.splitlines()
    assert benchmark_app.main([*arguments, "-d", "TEMPLATE"]) == 0
    ours = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[ INFO ] ")]
    lines = ["Count:            4 iterations", "Latency:", "   Median:", "   Min:", "   Max:", "Throughput:   "]
    for line in lines:
        assert any(found.startswith(f"[ INFO ] {line}") for found in theirs), theirs
    assert all(found.startswith(f"[ INFO ] {line}") for found, line in zip(ours, lines, strict=True))


def test_errors_of_benchmark_app_are_one_line(model_file, capsys):
    assert benchmark_app.main(["-m", "sum.xml", "-shape", "1,3"]) == 2
    assert "1,3 is no shape of an input: write NAME=1,3,224,224" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ovc", "benchmark_app"])
def test_commands_of_programs(command):
    done = subprocess.run([sys.executable, "-m", "hetero.as_openvino", command, "-h"], capture_output=True, text=True)
    assert done.stdout.startswith(f"usage: {command}"), done.stderr

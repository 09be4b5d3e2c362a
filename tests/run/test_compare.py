"""hetero compare: planted errors are found, shown alone by the reproducer, and given as exit codes."""

import json
import math
import shlex
import wave
from pathlib import Path

import numpy as np
import onnxruntime
import openvino
import pytest
from typer.testing import CliRunner

from hetero import Core, Model, Parameter, Type, ops, save_model
from hetero.graph import is_terminal
from hetero.plugin import installed_plugins
from hetero.run.cli import app
from tests import tiers, zoo
from tests.run.planted import PlantedPlugin, all_real

# The number of planted errors per model, of which two are enough: a model takes up to a minute.
SEEDS = min(tiers.SEEDS, 2)
# Quick models of the zoo, of both formats; in the full tier all of them.
NAMES = list(zoo.MODELS) if SEEDS else ["magika", "hand_recrop"]
TOLERANCE = 1e-4
EXTENSIONS = Path(__file__).parents[2] / "configs" / "mediapipe_operators.py"
X = np.array([[-1, 0.5, 2, 3]], np.float32)


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The plugin of a device FAULTY; the current folder is an empty one."""
    planted = PlantedPlugin()
    monkeypatch.setitem(installed_plugins().devices, "FAULTY", lambda: planted)
    monkeypatch.chdir(tmp_path)
    return planted


@pytest.fixture
def chain(plugin):
    """x → a (Relu) → b (Exp) → c (Tanh) → d (Negative), in chain.xml, with x.npy."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    nodes = ops.Negative(ops.Tanh(ops.Exp(ops.Relu(x, name="a"), name="b"), name="c"), name="d")
    save_model(Model(nodes, [x], "chain"), "chain.xml")
    np.save("x.npy", X)
    return plugin


def hetero(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def compare(*arguments, device="FAULTY"):
    """Return the exit code and the report."""
    result = hetero("compare", *arguments, "-d", device, "--to", "TEMPLATE", "--json")
    assert result.stderr == "" and result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


def run_again(report):
    """Run the command of a report, which shows the difference alone."""
    return compare(*shlex.split(report["command"])[2:3], *shlex.split(report["command"])[7:])


def in_openvino(xml, npz):
    """Return the outputs of an IR file for the arrays in an npz file."""
    core, options = openvino.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    return list(core.compile_model(xml, "CPU", options)(list(np.load(npz).values())).values())


def errors_of(arrays, expected):
    """Return the largest error of each output, relative to its largest magnitude."""
    return [np.abs(a.astype(np.float64) - e).max() / (np.abs(e).max() or 1) for a, e in zip(arrays, expected)]


@pytest.mark.parametrize("seed", range(SEEDS or 1))
@pytest.mark.parametrize("name", NAMES)
def test_planted_error_is_found(plugin, name, seed):
    """The operation is a random one of those whose error reaches the outputs."""
    core = Core()
    core.add_extension(EXTENSIONS)
    model = core.read_model(zoo.path(name))
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    inputs = zoo.inputs(name, seed)
    np.savez("inputs.npz", **inputs)
    expected = core.compile_model(model, "TEMPLATE")(inputs).to_tuple()
    candidates = [node for node in nodes if all_real(node)]
    np.random.default_rng(seed).shuffle(candidates)
    for node in candidates:
        plugin.plant(node.friendly_name)
        found = core.compile_model(model, "FAULTY")(inputs).to_tuple()
        if max(errors_of(found, expected)) > 2 * TOLERANCE:
            break

    code, report = compare(zoo.path(name), "--inputs", "inputs.npz", "--extension", EXTENSIONS)
    assert code == 1 and not report["agrees"]
    own = report["own_errors"][0]
    assert own["name"] == node.friendly_name and own["type_name"] == node.type_info.name
    assert own["difference"]["relative_error"] == pytest.approx(0.01, rel=1e-3)
    assert report["runs"] <= 2 * math.log2(len(nodes)) + 4
    if len(nodes) == 1:
        return
    code, alone = run_again(report)
    assert code == 1 and alone["operations"] == 1
    assert alone["outputs"][0]["relative_error"] == pytest.approx(0.01, rel=1e-3)


def test_reproducer_is_wrong_alone_in_comparison_with_openvino(chain):
    chain.plant("c")
    code, report = compare("chain.xml", "--inputs", "x.npy", "--reproducer", "small.xml")
    assert (code, report["reproducer"]) == (1, ["small.xml", "small.bin", "small.npz"])
    (expected,) = in_openvino("small.xml", "small.npz")
    np.testing.assert_allclose(expected, np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-5)
    found = Core().compile_model("small.xml", "FAULTY")(dict(np.load("small.npz")))[0]
    np.testing.assert_allclose(found, 1.01 * expected, rtol=1e-5)


def test_reproducer_as_onnx(chain):
    chain.plant("c")
    code, report = compare("chain.xml", "--inputs", "x.npy", "--reproducer", "small.onnx")
    assert (code, report["reproducer"]) == (1, ["small.onnx", "small.npz"])
    (expected,) = onnxruntime.InferenceSession("small.onnx").run(None, dict(np.load("small.npz")))
    np.testing.assert_allclose(expected, np.tanh(np.exp(np.maximum(X, 0))), rtol=1e-5)


def test_error_that_outputs_hide_is_found_per_operation(plugin):
    """The variance of the normalization removes the factor."""
    x = Parameter(Type.f32, [1, 4], name="x")
    y = ops.MVN(ops.Multiply(x, np.float32(3), name="wrong"), [1], True, 1e-9, "inside_sqrt", name="mvn")
    save_model(Model(ops.Negative(y, name="last"), [x], "hidden"), "hidden.xml")
    plugin.plant("wrong")
    assert compare("hidden.xml")[0] == 0
    code, report = compare("hidden.xml", "--per-operation")
    assert code == 1
    assert [own["name"] for own in report["own_errors"]] == ["wrong"]
    assert report["own_errors"][0]["difference"]["relative_error"] == pytest.approx(0.01, rel=1e-4)
    assert report["conclusion"].startswith("1 of 4 operations differ")
    code, alone = run_again(report)
    assert code == 1 and alone["operations"] == 1


def test_operations_that_are_wrong_together(chain):
    """As a device that fuses two operations wrongly: neither is wrong alone."""
    chain.wrong_in = lambda nodes: (
        [node for node in nodes if node.friendly_name == "c"] if {"b", "c"} <= {n.friendly_name for n in nodes} else []
    )
    code, report = compare("chain.xml", "--inputs", "x.npy")
    assert code == 1
    assert "the 2 operations from Exp 'b' to Tanh 'c' together differ by 0.01" in report["conclusion"]
    code, alone = run_again(report)
    assert code == 1 and alone["operations"] == 2


def test_errors_that_add_up(plugin):
    """Each of 64 operations is 1e-5 off, within the tolerance of 1e-4; ten of them are beyond it."""
    x = node = Parameter(Type.f32, [1, 4], name="x")
    for index in range(64):
        node = ops.Negative(node, name=f"n{index}")
    save_model(Model(node, [x], "long"), "long.xml")
    plugin.factor, plugin.wrong_in = 1.00001, lambda nodes: [n for n in nodes if n.friendly_name[:1] == "n"]
    code, report = compare("long.xml", "--tolerance", "1.05e-4")
    assert code == 1
    assert "no operation differs beyond the tolerance by itself" in report["conclusion"]
    errors = [cut["difference"]["relative_error"] for cut in report["growth"]]
    assert errors == sorted(errors)
    code, alone = run_again(report)
    assert code == 1 and alone["operations"] == 11


def test_nan(chain):
    chain.factor = math.nan
    chain.plant("b")
    code, report = compare("chain.xml", "--inputs", "x.npy")
    assert code == 1 and report["own_errors"][0]["name"] == "b"
    assert report["outputs"][0]["found"] == "nan" and report["outputs"][0]["relative_error"] == "Infinity"


def test_first_of_several_wrong_operations(chain):
    chain.plant("b", "d")
    code, report = compare("chain.xml", "--inputs", "x.npy")
    assert code == 1 and report["own_errors"][0]["name"] == "b"
    code, report = compare("chain.xml", "--inputs", "x.npy", "--per-operation")
    assert code == 1 and {own["name"] for own in report["own_errors"]} == {"b", "d"}
    assert "2 of 4 operations" in report["conclusion"] and "the first is Exp 'b'" in report["conclusion"]


def test_device_that_cannot_run_pieces(chain):
    """The verdict stands, and the report has the device's error."""
    chain.plant("c")
    whole = chain.unsupported_reason
    chain.unsupported_reason = lambda node, device: (
        "it must follow Tanh" if node.type_info.name == "Exp" and not _leads_to_tanh(node) else whole(node, device)
    )
    code, report = compare("chain.xml", "--inputs", "x.npy", "--reproducer", "small.xml")
    assert code == 1 and report["outputs"][0]["relative_error"] == pytest.approx(0.01, rel=1e-3)
    assert "a piece of the model cannot run: FAULTY cannot run Exp 'b' (it must follow Tanh)" in report["conclusion"]
    assert not report["reproducer"] and not Path("small.xml").exists()


def _leads_to_tanh(node):
    return any(reader.node.type_info.name == "Tanh" for reader in node.output(0).get_target_inputs())


def test_worst_sample_of_a_folder(chain):
    Path("samples").mkdir()
    for name, row in (("a", [-1, -1, -2, -3]), ("b", [0, 1, 0.1, 0]), ("c", [-5, 0, 0, -0.1])):
        np.savez(f"samples/{name}.npz", any_name=np.array([row], np.float32))
    Path("samples/notes.txt").write_text("not a sample")
    chain.plant("a")  # Relu of the first and the last sample is zero
    code, report = compare("chain.xml", "--inputs", "samples")
    assert (code, report["sample"], report["own_errors"][0]["name"]) == (1, "samples/b.npz", "a")


def test_inputs_of_a_run(chain):
    Path("run.yaml").write_text("model: chain.xml\ndevice: TEMPLATE\ninputs: {x: {values: [[1, 2, 3, 4]]}}\n")
    chain.plant("d")
    code, report = compare("chain.xml", "--inputs", "run.yaml")
    assert code == 1 and report["outputs"][0]["expected"] == f"{-np.tanh(np.exp(np.float32(4))):.6g}"


def test_inputs_of_a_run_of_several_inferences(chain):
    """Each chunk of a sound is a sample."""
    with wave.open("sound.wav", "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(np.array([0, 0, 0, 0, 0, 8192, 0, 0], np.int16).tobytes())
    Path("run.yaml").write_text(
        "model: chain.xml\ndevice: TEMPLATE\ninputs: {x: {sound: sound.wav, rate: 8000, chunk: 4}}\n"
    )
    chain.plant("a")
    code, report = compare("chain.xml", "--inputs", "run.yaml")
    assert (code, report["sample"]) == (1, "run.yaml, inference 1")


def test_runs_of_several_models_are_refused(chain):
    Path("run.yaml").write_text(
        "models: {only: {model: chain.xml, device: TEMPLATE, inputs: {x: {values: [[1, 2, 3, 4]]}}}}"
    )
    result = hetero("compare", "chain.xml", "-d", "FAULTY", "--to", "TEMPLATE", "--inputs", "run.yaml")
    assert result.exit_code == 2 and "run.yaml runs several models" in result.stderr


def test_random_inputs(chain):
    chain.plant("a")
    one, again, other = (
        compare("chain.xml", "--shape", "x=3,4", "--seed", seed)[1]["outputs"][0] for seed in (1, 1, 2)
    )
    assert one == again != other


def test_part_of_a_device_string(chain):
    chain.plant("c")
    code, report = compare("chain.xml", device="HETERO:FAULTY,TEMPLATE")
    assert code == 1 and report["own_errors"][0]["name"] == "c"


def test_property_of_the_tested_device(chain):
    code, report = compare("chain.xml", "--property", "EXECUTION_MODE_HINT=ACCURACY")
    assert code == 0 and report["agrees"] and report["conclusion"] == ""
    result = hetero("compare", "chain.xml", "-d", "FAULTY", "--to", "TEMPLATE", "--property", "NUM_STREAM=1")
    assert result.exit_code == 2 and "did you mean NUM_STREAMS?" in result.stderr


def test_arrays_of_another_framework(chain):
    b = np.exp(np.maximum(X, 0))
    np.savez("expected.npz", d=-np.tanh(b), b=b)
    arguments = ["compare", "chain.xml", "-d", "FAULTY", "--to", "expected.npz", "--inputs", "x.npy"]
    result = hetero(*arguments)
    assert result.exit_code == 0, result.output
    chain.plant("b")
    result = hetero(*arguments)
    assert result.exit_code == 1
    assert "b is the first of 2 values that differ beyond the tolerance" in result.stdout
    np.savez("expected.npz", dd=b)
    result = hetero(*arguments)
    assert result.exit_code == 2 and "the model has no value dd" in result.stderr
    result = hetero(*arguments[:6])
    assert result.exit_code == 2 and "give the inputs that expected.npz was computed from" in result.stderr


@pytest.mark.parametrize("negates", [True, False])
def test_operation_in_a_branch(plugin, negates):
    """An If is descended into: the branch that it takes with these inputs becomes the searched model."""

    def branch(operation, name):
        p = Parameter(Type.f32, [1, 4], name="p")
        return Model(operation(ops.Exp(p, name=f"{name}/exp"), name=f"{name}/last"), [p], name)

    x, condition = Parameter(Type.f32, [1, 4], name="x"), Parameter(Type.boolean, [], name="condition")
    chosen = ops.If(condition)
    bodies = branch(ops.Negative, "then"), branch(ops.Tanh, "else")
    chosen.set_then_body(bodies[0])
    chosen.set_else_body(bodies[1])
    chosen.set_input(ops.Relu(x, name="relu").output(0), bodies[0].parameters[0], bodies[1].parameters[0])
    y = chosen.set_output(bodies[0].results[0], bodies[1].results[0])
    chosen.friendly_name = "if"
    save_model(Model([y], [x, condition], "branches"), "branches.xml")
    np.savez("inputs.npz", x=X, condition=np.array(negates))
    wrong = "then/last" if negates else "else/last"
    plugin.wrong_in = lambda nodes: [node for node in nodes if node.friendly_name.endswith(wrong)]
    code, report = compare("branches.xml", "--inputs", "inputs.npz")
    assert code == 1
    assert [own["name"].removeprefix("if/") for own in report["own_errors"]] == ["if", wrong]
    assert f"'if/{wrong}', operation 2 of 2, is the first that differs" in report["conclusion"]
    code, alone = run_again(report)
    assert code == 1 and alone["operations"] == 1 and alone["own_errors"][0]["type_name"] != "If"


def test_sequences_are_not_cut(plugin):
    """Values between the operations that make and read a sequence are not compared."""
    from onnx import TensorProto, helper, save

    nodes = [
        helper.make_node("Exp", ["x"], ["e"], name="exp"),
        helper.make_node("SplitToSequence", ["e"], ["s"], name="split", axis=0),
        helper.make_node("ConcatFromSequence", ["s"], ["c"], name="concat", axis=0),
        helper.make_node("Tanh", ["c"], ["y"], name="tanh"),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    graph = helper.make_graph(nodes, "sequence", ports[:1], ports[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "sequence.onnx")
    for name in ("exp", "tanh"):
        plugin.plant(name)
        code, report = compare("sequence.onnx")
        assert code == 1 and report["own_errors"][0]["name"] == name


def test_report(chain):
    chain.plant("b")
    result = hetero("compare", "chain.xml", "-d", "FAULTY", "--to", "TEMPLATE", "--inputs", "x.npy")
    assert result.exit_code == 1
    for part in (
        "chain.xml: 4 operations on FAULTY, compared with TEMPLATE; inputs: x.npy; tolerance 0.0001",
        "Exp 'b', operation 2 of 4, is the first that differs, and it differs by 0.01",
        "written: chain-differs.xml, chain-differs.bin, chain-differs.npz",
        "hetero compare chain-differs.xml -d FAULTY --to TEMPLATE --inputs chain-differs.npz --tolerance 0.0001",
    ):
        assert part in result.stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--to", "TEMPLAT"], ["no device TEMPLAT"]),
        (["--to", "none.npz"], ["there is no file none.npz"]),
        (["--to", "y.npz", "--inputs", "x.npy", "--per-operation"], ["--per-operation and --reproducer need a device"]),
        (["--inputs", "x.np"], ["there is no file x.np", "did you mean x.npy?"]),
        (["--inputs", "chain.bin"], ["chain.bin has no suffix of .npz, .npy"]),
        (["--inputs", "."], ["wide.npy: inputs.x: the model takes the shape [?,4], but this is [1, 5]"]),
        (["--inputs", "x.npy", "--seed", "1"], ["--shape and --seed are for random inputs"]),
        (["--shape", "y=1,4"], ["the model has no input y"]),
        (["--reproducer", "x.ir"], ["must end in .xml or .onnx, but is x.ir"]),
        (["--reproducer", "chain.xml"], ["chain.xml cannot be written"]),
        (["--reproducer", "no/x.xml"], ["there is no folder no"]),
        (["--property", "A"], ["--property A is not of the form KEY=VALUE"]),
    ],
)
def test_errors_are_one_line(chain, arguments, parts):
    np.save("wide.npy", np.zeros((1, 5), np.float32))
    np.savez("y.npz", d=X)
    reference = [] if "--to" in arguments else ["--to", "TEMPLATE"]
    result = hetero("compare", "chain.xml", "-d", "FAULTY", *reference, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr

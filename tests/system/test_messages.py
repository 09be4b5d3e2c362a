"""Names from models, files and packages are escaped in messages, logs and terminal output."""

import json
import logging
import os
import pickle
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from hetero import Core, HeteroError, Model, Parameter, Type, ops
from hetero.plugin import installed_plugins
from hetero.run.cli import app
from hetero.system.errors import ConfigError, NotSupportedError
from hetero.system.messages import escaped, get_logger
from tests.devices import PickyPlugin, core_with

# Clears the screen, starts a new line like another message, reverses the text direction, and is markup for rich.
HOSTILE = "a\x1b[2J\nerror: b\u202ec\x9bd [red]"
SHOWN = r"a\x1b[2J\nerror: b\u202ec\x9bd [red]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HOSTILE, SHOWN),
        ("\ud800 \u2066 \u2028 \x7f \t", r"\ud800 \u2066 \u2028 \x7f \t"),
        ("plain / größer / 图 / 🙂 / \\n", "plain / größer / 图 / 🙂 / \\n"),
    ],
)
def test_escaping(text, shown):
    assert escaped(text) == shown == escaped(shown)


@pytest.mark.parametrize("kind", [HeteroError, ConfigError, NotSupportedError])
def test_error_messages_are_escaped(kind):
    error = kind(f"no {HOSTILE}")
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == f"no {SHOWN}"


@pytest.mark.parametrize("name", ["hetero.any", "hetero.HETERO.placement", "hetero.runtime", "hetero.TEMPLATE"])
def test_log_messages_are_escaped(name, caplog):
    get_logger(name).warning("no %s", HOSTILE)
    assert caplog.messages == [f"no {SHOWN}"]


def hostile_model() -> Model:
    x = Parameter(Type.f32, [2], name=f"x {HOSTILE}")
    return Model(ops.Tanh(ops.Relu(x, name=f"relu {HOSTILE}"), name=f"tanh {HOSTILE}"), [x], f"model {HOSTILE}")


def check_shown(text: str, *names: str) -> None:
    assert text == escaped(text)
    for name in names:
        assert f"{name} {SHOWN}" in text


def test_messages_about_a_model_are_escaped(caplog):
    core = core_with(PICKY=PickyPlugin(lambda node: node.type_info.name != "Tanh"))
    model = hostile_model()
    with caplog.at_level(logging.DEBUG, "hetero"):
        compiled = core.compile_model(model, "HETERO:PICKY,TEMPLATE")
    for message in caplog.messages:
        check_shown(message)
    assert any(f"model {SHOWN}" in message for message in caplog.messages)
    for line in str(compiled.get_property("PLACEMENT_REPORT")).split("\n"):
        check_shown(line)
    with pytest.raises(HeteroError) as caught:
        core.compile_model(model, "HETERO:PICKY")
    check_shown(str(caught.value), "tanh")
    for line in repr(model).split("\n"):
        check_shown(line)
    for thing in (*model.get_ops(), model.inputs[0], model.results[0].inputs()[0]):
        check_shown(repr(thing))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run of a model whose graph, operations, labels and file have hostile names."""
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name=f"relu {HOSTILE}"),
        helper.make_node("Tanh", ["y"], ["z"], name=f"tanh {HOSTILE}"),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "z")]
    graph = helper.make_graph(nodes, f"graph {HOSTILE}", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / f"{HOSTILE}.onnx")
    (tmp_path / "labels.txt").write_text("one\x1b[2J\ntwo [red]", encoding="utf-8")
    run = {
        "model": f"{HOSTILE}.onnx", "device": "HETERO:PICKY,TEMPLATE", "properties": {"PERF_COUNT": True},
        "inputs": {"x": {"values": [[0, 1]]}},
        "outputs": ["summary", {"top_k": 2, "labels": "labels.txt"}, {"npy": f"{HOSTILE}.npy"}],
    }  # fmt: skip
    (tmp_path / "run.yaml").write_text(json.dumps(run))
    picky = PickyPlugin(lambda node: node.type_info.name != "Tanh")
    monkeypatch.setitem(installed_plugins().devices, "PICKY", lambda: picky)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = {
    "run": (["run", "run.yaml"], 0, [f"{SHOWN}.onnx: ", r"one\x1b[2J", "two [red]", f"written: {SHOWN}.npy"]),
    "query": (["query", f"{HOSTILE}.onnx", "-d", "PICKY", "--all"], 0, [f"relu {SHOWN}", f"tanh {SHOWN}"]),
    "absent model": (["query", f"no {HOSTILE}", "-d", "PICKY"], 2, [f"there is no file no {SHOWN}"]),
    "absent run": (["run", f"no {HOSTILE}"], 2, [f"there is no file no {SHOWN}"]),
    "bad key": (["run", "run.yaml", "--set", "inputs.x.a\x1b=1"], 2, [r"a\x1b"]),
    "no device": (["run", "run.yaml", "--set", "device=N\x1bU"], 2, [r"N\x1bU"]),
}


@pytest.mark.parametrize(("arguments", "code", "parts"), COMMANDS.values(), ids=COMMANDS)
def test_output_of_the_command_is_escaped(folder, arguments, code, parts):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    for line in result.output.split("\n"):
        check_shown(line)
    for part in parts:
        assert part in result.output
    assert code == 0 or result.output.count("\n") == 1


def test_json_is_escaped(folder):
    result = CliRunner().invoke(app, ["run", "run.yaml", "--json"])
    for line in result.stdout.split("\n"):
        check_shown(line)
    assert json.loads(result.stdout)["models"][0]["model"] == f"{HOSTILE}.onnx"


@pytest.mark.slow
def test_characters_that_the_terminal_cannot_show_are_escaped(folder):
    (folder / "labels.txt").write_text("größer\nzwei", encoding="utf-8")
    code = "from hetero.run.cli import main; main()"
    environment = os.environ | {
        "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "run.yaml", "--set", "device=TEMPLATE"],
        env=environment,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert rb"gr\xf6\xdfer" in done.stdout


def test_a_file_with_an_impossible_name_is_reported(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b.onnx")
    with pytest.raises(HeteroError, match=r"there is no model file .*/\\udcff\\x1b.onnx"):
        Core().read_model(path)


def test_results_do_not_depend_on_names():
    np.testing.assert_allclose(
        Core().compile_model(hostile_model(), "TEMPLATE")(np.float32([-1, 1]))[0], np.tanh([0, 1]), rtol=1e-6
    )

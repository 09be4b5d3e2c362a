"""The text of YAML runs: variables, included files, places of errors and the JSON Schema."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from hetero.run.cli import app
from hetero.run.yaml_runs.config import json_schema, load_config
from hetero.system.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
GOOD = "model: model.onnx\ndevice: CPU\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("model.onnx", "line.png", "inner/other.onnx"):
        (tmp_path / name).touch()
    return tmp_path


def load(folder, text, *settings):
    (folder / "run.yaml").write_text(text)
    return load_config(folder / "run.yaml", settings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${SIDE}", 8),
        ("'${SIDE}'", 8),
        ("${NOWHERE:-12}", 12),
        ("${SIDE:-12}", 8),
        ("${EMPTY:-12}", 12),
        ("1${SIDE}0", 180),
    ],
)
def test_variables_of_the_environment(folder, monkeypatch, text, expected):
    monkeypatch.setenv("SIDE", "8")
    monkeypatch.setenv("EMPTY", "")
    assert load(folder, GOOD + f"iterations: {text}").iterations == expected


def test_variables_in_text(folder, monkeypatch):
    monkeypatch.setenv("NAME", "12")
    text = "model: '${MODEL:-model}.onnx'\ndevice: ${KIND:-HETERO:A},${NAME}\n"
    text += "properties: {a: '${NAME}', b: '$${NAME} $5'}"
    config = load(folder, text)
    assert (config.model, config.device) == (folder / "model.onnx", "HETERO:A,12")
    assert config.properties == {"a": "12", "b": "${NAME} $5"}
    assert load(folder, GOOD, "device=${NAME}").device == "12"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("iterations: ${NOWHERE}", "run.yaml:1:13: not a YAML file: the environment has no variable NOWHERE: set it"),
        (
            "a: 1\nb:\n  - ${}",
            "run.yaml:3:5: not a YAML file: a variable must be of the form ${NAME}",
        ),
        ("a: '${A'", "run.yaml:1:4: not a YAML file: a variable must be"),
        ("a: 1\nb: {c: 1, c: 2}", "run.yaml:2:11: not a YAML file: the key c is repeated"),
        (
            GOOD + "inputs:\n  x:\n    image: line.png\n    heigth: 4",
            "run.yaml:6:5: inputs.x: unknown key heigth;",
        ),
        (GOOD + "inputs:\n  x:\n    image: line.jpg", "run.yaml:5:5: inputs.x.image: there is no file"),
        (GOOD + "outputs:\n  - summary\n  - top_k: many", "run.yaml:5:5: outputs.1.top_k: "),
        ("device: CPU\n", "run.yaml:1:1: model: is missing"),
    ],
)
def test_places_of_errors(folder, text, problem):
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    assert problem in str(caught.value)


def test_place_of_an_error_in_a_setting(folder):
    with pytest.raises(ConfigError) as caught:
        load(folder, GOOD + "iterations: 2", "inputs.x.image=line.png", "inputs.x.height=tall")
    assert str(caught.value).startswith("--set inputs.x.height=tall: inputs.x.height: ")


def test_included_files(folder):
    """Mappings are merged; paths are relative to the file that they are in."""
    (folder / "inner" / "base.yaml").write_text(
        "model: other.onnx\ndevice: A\nproperties: {a: 1, b: 2}\noutputs: [summary, top_k: 1]\n"
    )
    (folder / "more.yaml").write_text("device: B\niterations: 4\n")
    config = load(folder, "include: [inner/base.yaml, more.yaml]\nproperties: {b: 3}\noutputs: [npy: out.npy]")
    assert (config.model, config.device, config.iterations) == (folder / "inner" / "other.onnx", "B", 4)
    assert config.properties == {"a": 1, "b": 3}
    assert [output.npy for output in config.outputs] == [folder / "out.npy"]
    with pytest.raises(ConfigError, match=r"base.yaml cannot be written: .*base.yaml is read by this run"):
        load(folder, "include: inner/base.yaml\noutputs: [npy: inner/base.yaml]")


def test_models_of_a_chain_from_files(folder):
    (folder / "inner" / "one.yaml").write_text("model: other.onnx\ndevice: A\n")
    config = load(folder, "models:\n  a: {include: inner/one.yaml, device: B}\n  b: {include: inner/one.yaml}")
    assert [(part.model.name, part.device) for part in config.models.values()] == [
        ("other.onnx", "B"), ("other.onnx", "A"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("device: A\ninclude: none.yaml", "run.yaml:2:1: there is no file"),
        ("include: {a: 1}", "run.yaml:1:1: include must be a file or a list of files"),
        ("include: run.yaml", "includes more than 20 files, or itself"),
        ("include: bad.yaml", "bad.yaml:2:3: not a YAML file"),
        ("include: typo.yaml\nmodel: model.onnx\ndevice: A", "typo.yaml:1:1: unknown key devise; did you mean device?"),
        ("models:\n  a:\n    include: typo.yaml", "typo.yaml:1:1: models.a: unknown key devise; did you mean device?"),
    ],
)
def test_problems_of_included_files(folder, text, problem):
    (folder / "bad.yaml").write_text("a:\n  *b")
    (folder / "typo.yaml").write_text("devise: B")
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    assert problem in str(caught.value)


@pytest.fixture(scope="module")
def schema():
    result = CliRunner().invoke(app, ["run", "--schema"])
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_runs_fit_the_schema(schema, path):
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize(
    "change",
    [{"devise": "A"}, {"model": 3}, {"inputs": {"x": {"image": "a.png", "hight": 3}}}, {"outputs": ["sumary"]},
     {"inputs": {"x": {"values": 1, "npy": "a.npy"}}}, {"iterations": 0}, {"models": {"a": {}}}],
)  # fmt: skip
def test_wrong_runs_do_not_fit_the_schema(change):
    good = {"model": "a.onnx", "device": "A"}
    jsonschema.validate(good, json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | change, json_schema())

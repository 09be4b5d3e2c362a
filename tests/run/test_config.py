"""Parsing of YAML runs, and their one-line errors."""

import os
from pathlib import Path

import pytest

from hetero.run.yaml_runs.config import load_config
from hetero.system.errors import ConfigError

GOOD = "model: model.onnx\ndevice: CPU\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("model.onnx", "line.png", "labels.txt", "my_ops.py"):
        (folder / name).touch()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("labels.txt")
    return folder


def load(folder, text, *settings):
    path = folder / "run.yaml"
    path.write_text(text)
    return load_config(path, settings)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("device: CPU", ["model", "is missing"]),
        ("model: model.onnx", ["device", "is missing"]),
        ("- 1", ["must be a mapping of keys", "model"]),
        ("a: [1", ["run.yaml:1:6: not a YAML file"]),
        ("a: 2026-99-99", ["not a YAML file", "month"]),
        ("a: " + "1" * 6000, ["not a YAML file", "6000 digits"]),
        ("a:\n  " + "[" * 5000, ["run.yaml:2:52: not a YAML file", "nested more than 50 levels deep"]),
        ("a: &a [1]\nb: [*a, *a]", ["run.yaml:2:5: not a YAML file", "the alias *a is not accepted"]),
        (
            "a: !!timestamp 1",
            ["run.yaml:1:4: not a YAML file", "the tag tag:yaml.org", "is not accepted"],
        ),
        ("? [a]\n: 1", ["run.yaml:1:3: not a YAML file: found unhashable key"]),
        ("model: ~nobody/a.onnx\ndevice: CPU", ["model: ", "there is no file"]),
        ("model: modle.onnx\ndevice: CPU", ["model: ", "there is no file", "did you mean model.onnx?"]),
        ("model: 3\ndevice: CPU", ["model: ", "must be a path", "3"]),
        (GOOD + 'outputs: [{npy: "a\\0.npy"}]', ["outputs.0.npy: ", "must be a path", "'a\\x00.npy'"]),
        ("model: .\ndevice: CPU", ["model: ", "is a folder"]),
        ("model: pkg://nopackage/a.onnx\ndevice: CPU", ["nopackage", "not installed"]),
        ("model: pkg://numpy/../pydantic/main.py\ndevice: CPU", ["is outside the package numpy"]),
        ("model: pkg://numpy//etc/passwd\ndevice: CPU", ["is outside the package numpy"]),
        ("model: pkg://numpy.linalg/a\ndevice: CPU", ["pkg://package/path"]),
        (f"model: {'x' * 300}\ndevice: CPU", ["model: ", "cannot be a file of this run: File name too long"]),
        (GOOD + f"outputs: [npy: {'x' * 300}]", ["outputs.0.npy: ", "File name too long"]),
        (GOOD + f"inputs: {{x: {{npy: {'x/' * 3000}}}}}", ["inputs.x.npy: ", "File name too long"]),
        (GOOD + "inputs: {x: {npy: pipe}}", ["inputs.x.npy: ", "pipe is a pipe or device, not a file"]),
        (GOOD + "outputs: [npy: pipe]", ["outputs.0.npy: ", "pipe is a pipe or device, not a file"]),
        (GOOD + "iteration: 3", ["unknown key iteration", "did you mean iterations?"]),
        (GOOD + "iterations: 0", ["iterations: ", "greater than"]),
        (GOOD + "iterations: many", ["iterations: ", "integer"]),
        (GOOD + "affinities: [a]", ["affinities: ", "dictionary"]),
        (
            GOOD + "inputs: {x: {}}",
            ["inputs.x: ", "exactly one of image, crops, sound, file, random, npy"],
        ),
        (GOOD + "inputs: {x: {values: 1, npy: a.npy}}", ["inputs.x: ", "exactly one of"]),
        (GOOD + "inputs: {x: {image: line.png, heigth: 4}}", ["inputs.x: ", "unknown key heigth", "mean height?"]),
        (GOOD + "inputs: {x: {image: none.jpg}}", ["inputs.x.image: ", "there is no file"]),
        (GOOD + "inputs: {x: {image: line.png, color: RBG}}", ["inputs.x.color: ", "'RGB', 'BGR' or 'GRAY'"]),
        (GOOD + "inputs: {x: {image: line.png, height: 4294967296}}", ["inputs.x.height: ", "equal to 65536"]),
        (GOOD + "inputs: {x: {random: {seed: -1}}}", ["inputs.x.random.seed: ", "greater than"]),
        (GOOD + "inputs: {x: {random: {low: 1}}}", ["inputs.x.random: ", "low and high"]),
        (GOOD + "inputs: {x: {file: line.png, beginning: 9999}}", ["inputs.x: ", "block is 4096"]),
        (
            GOOD + "outputs: [sumary]",
            ["outputs.0: ", "exactly one of summary, top_k, ctc, segments"],
        ),
        (GOOD + "outputs: [summary, {top_k: 5, label: a}]", ["outputs.1: ", "unknown key label", "mean labels?"]),
        (GOOD + "outputs: [{ctc: {characters: none.txt}}]", ["outputs.0.ctc.characters: ", "there is no file"]),
        (GOOD + "outputs: [{npy: nowhere/out.npy}]", ["outputs.0.npy: ", "there is no folder"]),
        (
            GOOD + "outputs: [{npz: pkg://numpy/out.npz}]",
            ["outputs.0.npz: ", "is inside a package"],
        ),
        (GOOD + "devices: A\nother: 3", ["unknown key devices"]),
    ],
)
def test_bad_runs(folder, text, parts):
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    for part in ["run.yaml", *parts]:
        assert part in str(caught.value)


LARGE = {
    "keys": ("".join(f"k{i}: 1\n" for i in range(200_000)), "it is larger than 1 MiB"),
    "items": ("a: [" + "1," * 200_000 + "]", "it has more than 10000 keys and values"),
    "collections": ("a: [" + "{}," * 200_000 + "]", "it has more than 10000 keys and values"),
}


@pytest.mark.parametrize(("text", "problem"), LARGE.values(), ids=LARGE)
def test_large_runs_are_rejected_quickly(folder, text, problem):
    with pytest.raises(ConfigError, match=f"run.yaml: not a YAML file: {problem}"):
        load(folder, text)


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000])
def test_impossible_file_names(name):
    with pytest.raises(ConfigError, match="cannot be a file of this run: File name too long"):
        load_config(Path(name))


@pytest.mark.parametrize(
    ("text", "written", "conflict"),
    [
        ("outputs: [npy: model.onnx]", "model.onnx", "model.onnx is read"),
        ("inputs: {x: {npy: line.png}}\noutputs: [npy: ../run/line.png]", "../run/line.png", "line.png is read"),
        ("outputs: [{top_k: 1, labels: labels.txt}, {npy: labels.txt}]", "labels.txt", "labels.txt is read"),
        ("outputs: [ctc: {characters: labels.txt}, npy: link]", "link", "labels.txt is read"),
        ("extensions: [my_ops.py]\noutputs: [npz: my_ops.py]", "my_ops.py", "my_ops.py is read"),
        ("outputs: [npy: run.yaml]", "run.yaml", "run.yaml is read"),
        ("outputs: [npy: out, npz: ../run/out]", "../run/out", "out is written"),
    ],
)
def test_outputs_must_not_overwrite_files_of_the_run(folder, text, written, conflict):
    with pytest.raises(ConfigError) as caught:
        load(folder, GOOD + text)
    assert str(caught.value) == f"{folder}/{written} cannot be written: {folder}/{conflict} by this run"


def test_paths_in_the_file_are_relative_to_its_folder(folder):
    text = GOOD + "inputs: {x: {image: line.png}}\noutputs: [{top_k: 1, labels: labels.txt}, {npy: out.npy}]"
    config = load(folder, text)
    assert (config.model, config.inputs["x"].image) == (folder / "model.onnx", folder / "line.png")
    assert (config.outputs[0].labels, config.outputs[1].npy) == (folder / "labels.txt", folder / "out.npy")


def test_paths_in_settings_are_relative_to_the_current_folder(folder, tmp_path_factory, monkeypatch):
    here = tmp_path_factory.mktemp("here")
    (here / "other.png").touch()
    monkeypatch.chdir(here)
    config = load(folder, GOOD + "inputs: {x: {image: line.png}}", "inputs.x.image=other.png", "outputs=[npz: o.npz]")
    assert config.inputs["x"].image.resolve() == here / "other.png"
    assert config.outputs[0].npz.resolve() == here / "o.npz"


def test_files_in_packages_are_found_without_importing(folder, monkeypatch):
    package = folder / "carrier"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "net.onnx").touch()
    monkeypatch.syspath_prepend(folder)
    assert load(folder, "model: pkg://carrier/net.onnx\ndevice: CPU").model == Path(package / "net.onnx").resolve()


@pytest.mark.parametrize(
    ("setting", "read", "expected"),
    [
        ("device=HETERO:A,B", lambda c: c.device, "HETERO:A,B"),
        ("iterations=10", lambda c: c.iterations, 10),
        ("outputs.1.top_k=7", lambda c: c.outputs[1].top_k, 7),
        ("properties.PERF_COUNT=true", lambda c: c.properties, {"PERF_COUNT": True}),
        ("inputs.a.b.values=[1, 2]", lambda c: c.inputs["a.b"].values, [1, 2]),
        ("inputs.a.b={random: {seed: 4}}", lambda c: c.inputs["a.b"].random.seed, 4),
        ("inputs.1.values=5", lambda c: c.inputs["1"].values, 5),
        ("affinities.conv*=B", lambda c: c.affinities, {"conv*": "B"}),
    ],
)
def test_settings(folder, setting, read, expected):
    text = GOOD + "inputs: {a.b: {values: 0}, 1: {values: 0}}\noutputs: [summary, {top_k: 1}]\nproperties:"
    config = load(folder, text if "properties" in setting else text.removesuffix("\nproperties:"), setting)
    assert read(config) == expected


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("device", "key=value"),
        ("device=[a", "not valid YAML"),
        ("device=2026-99-99", "not valid YAML"),
        ("outputs.3=summary", "3 is not an index of a list of 1 items"),
        ("devise=CPU", "unknown key devise"),
    ],
)
def test_bad_settings(folder, setting, part):
    with pytest.raises(ConfigError, match=part):
        load(folder, GOOD + "outputs: [summary]", setting)

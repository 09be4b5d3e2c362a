"""Reading a YAML run: what is wrong with a bad one is said in one line."""

from pathlib import Path

import pytest

from hetero.errors import ConfigError
from hetero.run.config import load_config

GOOD = "model: model.onnx\ndevice: CPU\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("model.onnx", "line.png", "labels.txt"):
        (tmp_path / name).touch()
    return tmp_path


def load(folder, text, *settings):
    path = folder / "run.yaml"
    path.write_text(text)
    return load_config(path, settings)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("device: CPU", ["model", "is missing"]),
        ("model: model.onnx", ["device", "is missing"]),
        ("- 1", ["must hold keys", "model"]),
        ("a: [1", ["not a YAML file", "line 1"]),
        ("a: 2026-99-99", ["not a YAML file", "month"]),
        ("a: " + "1" * 6000, ["not a YAML file", "6000 digits"]),
        ("a:\n  " + "[" * 5000, ["not a YAML file", "line 2 is nested more than 50 deep"]),
        ("a: &a [1]\nb: [*a, *a]", ["not a YAML file", "line 2 uses the alias *a"]),
        ("a: !!timestamp 1", ["not a YAML file", "line 1 uses the tag"]),
        ("? [a]\n: 1", ["not a YAML file", "line 1: found unhashable key"]),
        ("model: ~nobody/a.onnx\ndevice: CPU", ["model: ", "there is no file"]),
        ("model: modle.onnx\ndevice: CPU", ["model: ", "there is no file", "did you mean model.onnx?"]),
        ("model: 3\ndevice: CPU", ["model: ", "takes a path", "3"]),
        (GOOD + 'outputs: [{npy: "a\\0.npy"}]', ["outputs.0.npy: ", "takes a path", "'a\\x00.npy'"]),
        ("model: .\ndevice: CPU", ["model: ", "is a folder"]),
        ("model: pkg://nopackage/a.onnx\ndevice: CPU", ["nopackage", "not installed"]),
        ("model: pkg://numpy/../pydantic/main.py\ndevice: CPU", ["leads out of the package numpy"]),
        ("model: pkg://numpy//etc/passwd\ndevice: CPU", ["leads out of the package numpy"]),
        ("model: pkg://numpy.linalg/a\ndevice: CPU", ["pkg://package/path"]),
        (GOOD + "iteration: 3", ["unknown key iteration", "did you mean iterations?"]),
        (GOOD + "iterations: 0", ["iterations: ", "greater than"]),
        (GOOD + "iterations: many", ["iterations: ", "integer"]),
        (GOOD + "affinities: [a]", ["affinities: ", "dictionary"]),
        (GOOD + "inputs: {x: {}}", ["inputs.x: ", "exactly one of image, file, random, npy, npz, values"]),
        (GOOD + "inputs: {x: {values: 1, npy: a.npy}}", ["inputs.x: ", "exactly one of"]),
        (GOOD + "inputs: {x: {image: line.png, heigth: 4}}", ["inputs.x: ", "unknown key heigth", "mean height?"]),
        (GOOD + "inputs: {x: {image: none.jpg}}", ["inputs.x.image: ", "there is no file"]),
        (GOOD + "inputs: {x: {image: line.png, color: RBG}}", ["inputs.x.color: ", "'RGB', 'BGR' or 'GRAY'"]),
        (GOOD + "inputs: {x: {image: line.png, height: 4294967296}}", ["inputs.x.height: ", "equal to 65536"]),
        (GOOD + "inputs: {x: {random: {seed: -1}}}", ["inputs.x.random.seed: ", "greater than"]),
        (GOOD + "inputs: {x: {random: {low: 1}}}", ["inputs.x.random: ", "low and high"]),
        (GOOD + "inputs: {x: {file: line.png, beginning: 9999}}", ["inputs.x: ", "block is 4096"]),
        (GOOD + "outputs: [sumary]", ["outputs.0: ", "exactly one of summary, top_k, ctc, image, npy, npz"]),
        (GOOD + "outputs: [summary, {top_k: 5, label: a}]", ["outputs.1: ", "unknown key label", "mean labels?"]),
        (GOOD + "outputs: [{ctc: {characters: none.txt}}]", ["outputs.0.ctc: ", "there is no file"]),
        (GOOD + "outputs: [{npy: nowhere/out.npy}]", ["outputs.0.npy: ", "there is no folder"]),
        (GOOD + "outputs: [{npz: pkg://numpy/out.npz}]", ["outputs.0.npz: ", "nothing is written"]),
        (GOOD + "devices: A\nother: 3", ["unknown key devices"]),
    ],
)
def test_bad_runs(folder, text, parts):
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    for part in ["run.yaml", *parts]:
        assert part in str(caught.value)


def test_paths_of_the_file_are_seen_from_its_folder(folder):
    text = GOOD + "inputs: {x: {image: line.png}}\noutputs: [{top_k: 1, labels: labels.txt}, {npy: out.npy}]"
    config = load(folder, text)
    assert (config.model, config.inputs["x"].image) == (folder / "model.onnx", folder / "line.png")
    assert (config.outputs[0].labels, config.outputs[1].npy) == (folder / "labels.txt", folder / "out.npy")


def test_paths_of_settings_are_seen_from_the_current_folder(folder, tmp_path_factory, monkeypatch):
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
        ("outputs.3=summary", "3 is not an index below 1"),
        ("devise=CPU", "unknown key devise"),
    ],
)
def test_bad_settings(folder, setting, part):
    with pytest.raises(ConfigError, match=part):
        load(folder, GOOD + "outputs: [summary]", setting)

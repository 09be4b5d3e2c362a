"""Outputs of a YAML run, compared with numpy and with results computed by hand."""

import json

import numpy as np
import pytest
from PIL import Image

from hetero import Model
from hetero.graph import Parameter
from hetero.run.yaml_runs.config import RunConfig
from hetero.run.yaml_runs.outputs import make_presenters, save
from hetero.system.errors import ConfigError

SCORES = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]], np.float32)
# Classes 0 to 3 are blank, a, b and space. The best classes of the steps are: a, a, blank, a, b, space.
STEPS = np.zeros((1, 6, 4), np.float32)
STEPS[0, range(6), [1, 1, 0, 1, 2, 3]] = [0.5, 0.9, 1, 0.7, 0.8, 1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.onnx").touch()
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    (tmp_path / "few.txt").write_text("cat\n")
    (tmp_path / "labels.json").write_text(json.dumps({"space": {"names": ["x", "y", "z"], "count": 3}}))
    (tmp_path / "characters.txt").write_text("a\nb\n")
    return tmp_path


def present(folder, spec, array):
    data = {"model": "model.onnx", "device": "CPU", "outputs": [spec]}
    config = RunConfig.model_validate(data, context={"folder": folder})
    parameter = Parameter("f32", [-1], name="scores")
    model = Model([parameter.output(0)], [parameter], "m")
    model.rt_info["framework"] = {"character": "a\nb"}
    (presenter,) = make_presenters(config.outputs, model)
    return presenter.present({"scores": [array]})


def test_summary(folder):
    (summary,) = present(folder, "summary", SCORES)
    assert (summary["type"], summary["shape"]) == ("float32", [2, 3])
    np.testing.assert_allclose([summary["min"], summary["mean"], summary["max"]], [0.1, 2 / 6, 0.6], rtol=1e-6)


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ({"top_k": 2}, [None] * 4),
        ({"top_k": 2, "labels": "labels.txt"}, ["dog", "cow", "cat", "cow"]),
        ({"top_k": 2, "labels": "labels.json", "key": "space.names"}, ["y", "z", "x", "z"]),
    ],
)
def test_top_k(folder, spec, labels):
    rows = present(folder, spec, SCORES)[0]["rows"]
    assert [(row["item"], row["index"]) for row in rows] == [(0, 1), (0, 2), (1, 0), (1, 2)]
    assert [row["label"] for row in rows] == labels
    np.testing.assert_allclose([row["value"] for row in rows], [0.6, 0.3, 0.5, 0.3], rtol=1e-6)


@pytest.mark.parametrize("characters", ["characters.txt", "metadata:character"])
def test_text(folder, characters):
    (line,) = present(folder, {"ctc": {"characters": characters}}, STEPS)
    assert line["text"] == "aab "
    assert line["confidence"] == pytest.approx((0.5 + 0.7 + 0.8 + 1) / 4)


def test_text_of_blanks_only(folder):
    blanks = np.zeros((1, 3, 4), np.float32)
    blanks[..., 0] = 1
    (line,) = present(folder, {"ctc": {"characters": "characters.txt"}}, blanks)
    assert (line["text"], line["confidence"]) == ("", 0.0)


def test_text_with_the_blank_last_and_no_space(folder):
    (line,) = present(folder, {"ctc": {"characters": "characters.txt", "blank": 2, "space": False}}, STEPS[:, :5, :3])
    assert line["text"] == "bab"  # the classes are a, b, blank: b b a b blank


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_files(folder, kind):
    (entry,) = present(folder, {kind: f"out.{kind}"}, SCORES)
    assert entry == {"kind": "file", "file": str(folder / f"out.{kind}")}
    read = np.load(folder / f"out.{kind}")
    np.testing.assert_array_equal(read if kind == "npy" else read[read.files[0]], SCORES)


PIXELS = np.float32([[[0, 0.5, 1], [-1, 2, np.nan]]])


@pytest.mark.parametrize(
    ("array", "more", "expected"),
    [
        (PIXELS[0, :, :, None][None], {}, [[0, 128, 255], [0, 255, 0]]),
        (PIXELS[0], {"layout": "HW", "low": -1, "high": 1}, [[128, 191, 255], [0, 255, 0]]),
        (PIXELS[None], {"layout": "NCHW"}, [[0, 128, 255], [0, 255, 0]]),
        (PIXELS, {"layout": "HWC"}, [[[0, 128, 255], [0, 255, 0]]]),
    ],
)
def test_pictures(folder, array, more, expected):
    present(folder, {"image": "out.png", **more}, array)
    np.testing.assert_array_equal(np.asarray(Image.open(folder / "out.png")), expected)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        (
            {"top_k": 1, "output": "scores/resul"},
            ["outputs.0: ", "no output scores/resul", "did you mean scores"],
        ),
        ({"top_k": 1, "labels": "few.txt"}, ["1 labels", "3 classes"]),
        ({"top_k": 1, "labels": "labels.txt", "key": "a"}, ["outputs.0: ", "not a JSON file"]),
        ({"top_k": 1, "labels": "labels.json", "key": "space.nam"}, ["no key space.nam"]),
        ({"top_k": 1, "labels": "labels.json", "key": "space.count"}, ["is not a list of labels"]),
        ({"ctc": {"characters": "metadata:letters"}}, ["no metadata letters", "character"]),
        (
            {"image": "out.txt"},
            ["outputs.0: ", "out.txt has no suffix of a picture format, such as out.png"],
        ),
        ({"image": "out.png"}, ["the layout NHWC does not fit the output of shape [2, 3]"]),
        ({"ctc": {"characters": "characters.txt"}}, ["[items, steps, 4]", "[2, 3]"]),
    ],
)
def test_unfit_outputs(folder, spec, parts):
    with pytest.raises(ConfigError) as caught:
        present(folder, spec, SCORES)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("before", [None, b"old"])
def test_failing_writer_leaves_no_file(tmp_path, before):
    path = tmp_path / "out.npy"
    if before is not None:
        path.write_bytes(before)

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(ValueError, match="out.npy cannot be written: disk full"):
        save(path, fail)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([] if before is None else [before])

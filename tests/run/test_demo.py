"""The runs in configs/, on one device and on several."""

import json
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hetero_opencl.device.device import present_devices
from PIL import Image
from typer.testing import CliRunner

from hetero.run.cli import app
from tests import zoo
from tests.faulty_driver import aborting_driver
from tests.interpreter import run_python
from tests.tiers import IS_FULL

CONFIGS = Path(__file__).parents[2] / "configs"
DEVICES = ["HETERO:GPU,TEMPLATE", *(("TEMPLATE", "HETERO:TEMPLATE") if IS_FULL else ())]
FAST = ["OPENVINO.CPU", "HETERO:GPU,TEMPLATE"]


def run_chain(name, *settings):
    """Return the reports of the models of a run."""
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    result = CliRunner().invoke(app, ["run", str(CONFIGS / f"{name}.yaml"), "--json", *arguments])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["models"]


def run(name, *settings):
    """Return the report of a run of one model."""
    (report,) = run_chain(name, *settings)
    return report


@pytest.mark.parametrize("device", DEVICES)
def test_ocr_reads_the_text(device):
    # The run pins an operation to a device, which only exists with HETERO.
    pins = "affinities={Softmax.2: TEMPLATE}" if device.startswith("HETERO") else "affinities={}"
    report = run("ocr", f"device={device}", "iterations=1", pins)
    (line,) = report["outputs"]
    assert line["text"] == "Any device, one network: 2026"
    assert line["confidence"] > 0.9
    if device.startswith("HETERO"):
        assert sum(report["placement"]["devices"].values()) == report["operations"]
        assert report["placement"]["devices"]["TEMPLATE"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["Portable Computing Language", "Intel(R) OpenCL", "any"])
def test_demo_runs_if_an_opencl_runtime_fails(missing, tmp_path):
    """One OpenCL compiler aborts, or no runtime is installed."""
    if missing == "any":
        environment = os.environ | {"OCL_ICD_VENDORS": str(tmp_path / "none.icd")}
    else:
        environment = aborting_driver(tmp_path, missing)
    works = missing != "any" and any(missing not in d.handle.platform.name for d in present_devices().usable)
    code = f"from hetero.run.cli import app; app(['run', {str(CONFIGS / 'ocr.yaml')!r}, '--set', 'iterations=1'])"
    printed, _ = run_python(code, **environment)
    assert "text: Any device, one network: 2026" in printed
    assert ("not available: GPU (no OpenCL" in " ".join(printed.split())) == (not works)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("file", "label"), [("README.md", "markdown"), ("tests/zoo.py", "python")])
def test_magika_detects_file_types(device, file, label):
    report = run("magika", f"device={device}", f"inputs.bytes.file={CONFIGS.parent / file}")
    assert report["outputs"][0]["rows"][0]["label"] == label


def test_magika_reads_the_readme_by_default():
    assert run("magika", "device=TEMPLATE")["outputs"][0]["rows"][0]["label"] == "markdown"


@pytest.mark.parametrize("device", DEVICES)
def test_resnet50_agrees_with_onnx_runtime(device):
    path = zoo.path("resnet50")
    report = run("resnet50", f"model={path}", f"device={device}", "iterations=1")
    summary, best = report["outputs"]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    data = np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32)
    expected = session.run(None, {"gpu_0/data_0": data})[0][0]
    assert summary["shape"] == [1, 1000]
    assert best["rows"][0]["index"] == expected.argmax()
    np.testing.assert_allclose([row["value"] for row in best["rows"]], np.sort(expected)[::-1][:5], rtol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_selfie_finds_the_person(device, tmp_path):
    """The picture consists of ellipses, so the position of the person is known."""
    mask = tmp_path / "mask.png"
    run("selfie", f"model={zoo.path('selfie_segmentation')}", f"device={device}", f"outputs=[{{image: {mask}}}]")
    pixels = np.asarray(Image.open(mask))
    assert (pixels.shape, pixels.dtype) == ((256, 256), np.uint8)
    face, shoulders, corners = (
        pixels[60:150, 104:152],
        pixels[220:, 70:190],
        pixels[:60, [*range(60), *range(196, 256)]],
    )
    assert face.min() > 250 and shoulders.min() > 250 and corners.max() < 5


LINES = [
    "hetero runs one network on",
    "several devices at once.",
    "Each device is a Python class",
    "in a pip package: 12 lines",
    "are enough for the first one.",
    "Total: 3 paragraphs, 2026",
]


@pytest.mark.parametrize("device", ["OPENVINO.CPU", "HETERO:ONEDNN,TEMPLATE"])
def test_page_is_read_line_by_line(device):
    detection, recognition = run_chain("page", f"device={device}")
    assert [line["text"] for line in recognition["outputs"]] == LINES
    assert (detection["inferences"], recognition["inferences"]) == (1, len(LINES))


@pytest.mark.parametrize("device", DEVICES)
def test_voice_finds_two_phrases(device):
    """The sound consists of silence, a phrase, silence, a phrase and silence, at the times below."""
    report = run("voice", f"model={zoo.path('voice_activity')}", f"device={device}")
    times = [time for row in report["outputs"][0]["rows"] for time in (row["start"], row["end"])]
    np.testing.assert_allclose(times, [1, 2.4, 3.3, 4.6], atol=0.15)


@pytest.mark.parametrize("device", FAST)
def test_notes_of_a_melody(device):
    """The sound was made of these notes; MIDI number 60 is C4."""
    report = run("notes", f"model={zoo.path('basic_pitch')}", f"device={device}")
    rows = report["outputs"][0]["rows"]
    assert [row["name"] for row in rows] == ["C4", "E4", "G4", "C5", "G4", "G4", "C4"]
    np.testing.assert_allclose([row["start"] for row in rows], [0.2, 0.6, 1, 1.4, 2.2, 2.5, 2.8], atol=0.05)
    np.testing.assert_allclose([row["end"] for row in rows], [0.6, 1, 1.4, 2, 2.5, 2.8, 3.6], atol=0.05)


@pytest.mark.parametrize("device", FAST)
@pytest.mark.parametrize(("degrees", "label"), [(0, "upright"), (180, "upside down")])
def test_direction_of_text(device, degrees, label, tmp_path):
    Image.open(CONFIGS / "line.png").rotate(degrees).save(tmp_path / "line.png")
    report = run("direction", f"device={device}", f"inputs.x.image={tmp_path / 'line.png'}")
    best, other = report["outputs"][0]["rows"]
    assert best["label"] == label and best["value"] > 0.9 > 0.1 > other["value"]


def test_tilted_page(tmp_path):
    page = Image.open(CONFIGS / "page.png").rotate(-8, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    page.save(tmp_path / "page.png")
    picture = f"models.detection.inputs.x.image={tmp_path / 'page.png'}"
    _, recognition = run_chain("page", "device=OPENVINO.CPU", picture)
    assert [line["text"] for line in recognition["outputs"]] == LINES


def test_page_without_text(tmp_path):
    Image.new("RGB", (320, 240), "white").save(tmp_path / "page.png")
    picture = f"models.detection.inputs.x.image={tmp_path / 'page.png'}"
    _, recognition = run_chain("page", "device=OPENVINO.CPU", picture)
    assert (recognition["inferences"], recognition["outputs"]) == (0, [])

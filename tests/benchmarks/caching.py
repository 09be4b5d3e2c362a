"""compile_model of a model file with and without the model cache, against OpenVINO's CPU, in new processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from tests import zoo

MODELS = ("ocr_recognition", "resnet50", "vgg19")
ROUNDS = 5


class Candidate(NamedTuple):
    """A library and device, with or without the model cache. Caches of devices, such as kernels, are always used."""

    module: str
    device: str
    cached: bool

    def __str__(self) -> str:
        return f"{self.module} {self.device}{' cached' if self.cached else ''}"


CANDIDATES = [
    Candidate(*device, cached)
    for device in (("openvino", "CPU"), ("hetero", "GPU"), ("hetero", "TEMPLATE"))
    for cached in (True, False)
]


def compare() -> list[str]:
    """Return a line for each model and candidate: median of processes run in turn, ratio to OpenVINO with its cache."""
    zoo.fetch(zoo.LARGE)
    lines = []
    for name in MODELS:
        times: dict[Candidate, list[float]] = {candidate: [] for candidate in CANDIDATES}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(1 + ROUNDS):
                for candidate, seconds in times.items():
                    seconds.append(_seconds(name, candidate, folder))
        # The first round fills the caches.
        medians = {candidate: statistics.median(seconds[1:]) for candidate, seconds in times.items()}
        first = medians[CANDIDATES[0]]
        lines += [
            f"{f'compile_model of {name}':32} {candidate!s:24} {seconds * 1e3:10.2f} ms   {seconds / first:6.2f} x"
            for candidate, seconds in medians.items()
        ]
    return lines


def _seconds(name: str, candidate: Candidate, folder: str) -> float:
    cache = folder if candidate.cached else ""
    arguments = [candidate.module, candidate.device, str(zoo.folder() / f"{name}.onnx"), cache]
    command = [sys.executable, "-m", "tests.benchmarks.caching", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(module: str, device: str, file: str, cache: str) -> None:
    """Print the seconds of one compilation. The device is loaded before."""
    core = __import__(module).Core()
    core.get_property(device, "FULL_DEVICE_NAME")
    started = time.perf_counter()
    compiled = core.compile_model(file, device, {"CACHE_DIR": cache} if cache else {})
    print(time.perf_counter() - started)
    del compiled


if __name__ == "__main__":
    measure(*sys.argv[1:])

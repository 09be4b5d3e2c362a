"""Requests of other lengths each: texts for a sentence embedder, and pictures for a recognizer of lines of text.

``python -m tests.benchmarks.lengths ENGINE TASK SEED`` is the process of one engine: it reads and compiles the model,
runs all requests twice, and prints the seconds of each as JSON. The lengths are drawn anew in each round, the same for
all engines. Kernels are in caches from a run before, but for the engine ``GPU, empty``. ``GPU, one operation`` runs a
model of one operation in place of the task's: what the imports, the search for devices and the OpenCL runtime take.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from tests import zoo

REQUESTS, ROUNDS = 40, 3
ONE_OPERATION = "GPU, one operation"
ENGINES = ("openvino", "onnxruntime", "GPU", "GPU, empty", ONE_OPERATION, "HETERO:ONEDNN,TEMPLATE", "CPU")
Feeds = Mapping[str, np.ndarray]


def texts(count: int, draw: random.Random) -> Iterator[Feeds]:
    for _ in range(count):
        ids = np.array([draw.choices(range(30522), k=draw.randint(4, 128))])
        yield {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def lines_of_text(count: int, draw: random.Random) -> Iterator[Feeds]:
    for _ in range(count):
        numbers = np.random.default_rng(draw.randint(0, 2**32))
        yield {"x": numbers.standard_normal((1, 3, 48, draw.randint(40, 640)), np.float32)}


TASKS: dict[str, Callable[[int, random.Random], Iterator[Feeds]]] = {"texts": texts, "lines": lines_of_text}


def file_of(task: str) -> Path:
    """Return the model of a task, made or fetched if it is not there."""
    if task == "lines":
        return zoo.path("ocr_recognition")
    from tests.benchmarks.text_models import sentence_embedder

    file = Path(tempfile.gettempdir()) / "hetero_sentence_embedder.onnx"
    if not file.exists():
        sentence_embedder(file)
    return file


def compare() -> Iterator[list[str]]:
    """Yield lines for each task: medians of processes that run in turn, and the ratio to the faster peer."""
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            file_of(task)
            found: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
            for number in range(ROUNDS + 1):  # the first one fills the caches
                for engine in ENGINES:
                    caches = Path(tempfile.mkdtemp(dir=folder)) if "empty" in engine else Path(folder, "caches")
                    measured = _run(engine, task, random.randint(0, 2**31) if number else 0, caches)
                    if number:
                        found[engine].append(measured)
            yield list(_lines(task, found))


def _run(engine: str, task: str, seed: int, caches: Path) -> dict[str, float]:
    command = [sys.executable, "-m", __name__, engine.removesuffix(", empty"), task, str(seed)]
    folders = {"XDG_CACHE_HOME": str(caches), "POCL_CACHE_DIR": str(caches / "pocl")}
    output = subprocess.run(command, env={**os.environ, **folders}, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(output.stdout.splitlines()[-1])


def _lines(task: str, found: Mapping[str, list[dict[str, float]]]) -> Iterator[str]:
    medians = {
        engine: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for engine, runs in found.items()
    }
    for engine, values in medians.items():
        peers = [medians[peer] for peer in ("openvino", "onnxruntime")]
        parts = []
        for key, unit, scale in (("compile + first", "s", 1), ("second", "s", 1), ("memory", "MB", 1e-6)):
            least = min(peer[key] for peer in peers)
            parts.append(f"{key} {values[key] * scale:8.2f} {unit} {values[key] / least:5.2f} x")
        programs = f", {values['programs']:.0f} programs" if "programs" in values else ""
        yield f"{REQUESTS} {task:8} {engine:22} {'   '.join(parts)} (compile {values['compile']:.2f} s{programs})"


def measure(engine: str, task: str, seed: int) -> dict[str, float]:
    """Return the seconds and the memory of an engine for the requests of a task, in this process."""
    file, requests = file_of(task), list(TASKS[task](REQUESTS, random.Random(seed)))
    loads = {"openvino": _openvino, "onnxruntime": _onnxruntime, ONE_OPERATION: _one_operation}
    load = loads.get(engine, lambda path: _hetero(engine, path))
    before, started = _resident(), time.perf_counter()
    infer, programs = load(file)
    compiled = time.perf_counter()
    passes = []
    for _ in range(2):
        begun = time.perf_counter()
        for feeds in requests:
            infer(feeds)
        passes.append(time.perf_counter() - begun)
    measured = {"compile": compiled - started, "compile + first": compiled - started + passes[0], "second": passes[1]}
    measured["memory"] = _resident() - before
    return measured | ({"programs": programs()} if programs else {})


Loaded = tuple[Callable[[Feeds], object], Callable[[], int] | None]


def _openvino(file: Path) -> Loaded:
    import openvino

    compiled = openvino.Core().compile_model(file, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    return lambda feeds: request.infer(feeds, share_inputs=True, share_outputs=True), None


def _onnxruntime(file: Path) -> Loaded:
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds), None


def _hetero(device: str, file: Path) -> Loaded:
    from hetero import Core

    core = Core()
    compiled = core.compile_model(core.read_model(file), device)
    request = compiled.create_infer_request()
    return lambda feeds: request.infer(feeds, share_inputs=True, share_outputs=True), None


def _one_operation(file: Path) -> Loaded:
    from hetero import Core, Model, Parameter, Type, ops

    x = Parameter(Type.f32, [1])
    request = Core().compile_model(Model([ops.Relu(x)], [x]), "GPU").create_infer_request()
    return lambda feeds: request.infer([np.ones(1, np.float32)], share_outputs=True), None


def _resident() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))

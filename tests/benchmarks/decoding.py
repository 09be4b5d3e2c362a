"""A decoder that writes words one by one, with caches that grow: time of the first ones, words a second, and memory.

Its caches are variables, for one text or for four beams that change places, or are inputs and outputs: arrays that are
passed on, or with ``IN_PLACE`` a tensor for both.
``python -m tests.benchmarks.decoding ENGINE TASK`` is the process of one engine, which prints what it measured as JSON.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PROMPT, WORDS, ROUNDS = 32, 256, 3
# After how many words memory is measured, and from which on words count as steady.
EARLY = 64
# What is behind the name of an engine whose request has one tensor for a cache as input and as output.
IN_PLACE = ", in place"
# The engines of each task. ONNX has no variables.
OURS = ("GPU", "CPU", "HETERO:GPU,TEMPLATE")
TASKS = {
    "variables": ("openvino", *OURS, "HETERO:ONEDNN,TEMPLATE", "TEMPLATE"),
    "beams": ("openvino", *OURS),
    "past": ("openvino", "onnxruntime", "GPU" + IN_PLACE, "GPU", "CPU"),
}
BEAMS = 4
# Takes the inputs by name, and returns the outputs.
Run = Callable[[dict[str, np.ndarray]], list[np.ndarray]]


def compare() -> Iterator[list[str]]:
    """Yield lines of each task: medians of processes that run in turn, and the ratio to the fastest peer."""
    for task, engines in TASKS.items():
        found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
        for number in range(ROUNDS + 1):  # the first one fills the caches of kernels
            for engine in engines:
                output = subprocess.run(
                    [sys.executable, "-m", __name__, engine, task], stdout=subprocess.PIPE, check=True, text=True
                )
                if number:
                    found[engine].append(json.loads(output.stdout.splitlines()[-1]))
        yield list(_lines(task, found))


def _lines(task: str, found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    # Random weights give logits that are nearly equal, which others may round otherwise.
    peers = ("openvino", "onnxruntime")
    ours = {str(run["words"]) for engine, runs in found.items() for run in runs if engine not in peers}
    if len(ours) > 1:
        raise RuntimeError("the devices write other words")
    medians = {
        engine: {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "words"}
        for engine, runs in found.items()
    }
    fastest = min(medians[engine]["word"] for engine in peers if engine in medians)
    for engine, values in medians.items():
        yield (
            f"{task:9} {PROMPT} + {WORDS} words  {engine:20} {1 / values['word']:7.1f} steps/s "
            f"{fastest / values['word']:5.2f} x   first {values['first'] * 1e3:6.0f} ms, second "
            f"{values['second'] * 1e3:5.1f} ms   memory {values['early'] / 1e6:.0f} MB, then "
            f"{values['late'] / values['early'] - 1:+.1%}   (compile {values['compile']:.2f} s)"
        )


def measure(engine: str, task: str) -> dict[str, Any]:
    """Return the seconds and the memory of an engine in this process, and the words that it wrote."""
    from tests.benchmarks.llama_models import Llama

    model = Llama(has_past=task == "past").model()
    started = time.perf_counter()
    load = {"openvino": _openvino, "onnxruntime": _onnxruntime}.get(engine, _hetero)
    run: Run = load(model, engine, task)
    batch, draw = BEAMS if task == "beams" else 1, np.random.default_rng(1)
    measured: dict[str, Any] = {"compile": time.perf_counter() - started}
    ids = draw.integers(0, 16000, (batch, PROMPT))
    words: list[list[int]] = []
    seconds: list[float] = []
    caches = {
        value.get_any_name(): np.zeros((1, *(d.min_length for d in list(value.partial_shape)[1:])), np.float32)
        for value in model.inputs
        if value.get_any_name().startswith("past")
    }
    beams, place = np.arange(batch, dtype=np.int32), 0
    for _ in range(WORDS):
        places = np.tile(np.arange(place, place + ids.shape[1]), (batch, 1))
        feeds = {"input_ids": ids, "position_ids": places, **(caches or {"beam_idx": beams})}
        begun = time.perf_counter()
        logits, *present = run(feeds)
        seconds.append(time.perf_counter() - begun)
        place += ids.shape[1]
        caches = dict(zip(caches, present))
        words.append(logits[:, -1].argmax(-1).tolist())
        ids = np.array(words[-1])[:, None]
        beams = draw.integers(0, batch, batch).astype(np.int32)
        if len(words) == EARLY:
            measured["early"] = _resident()
    measured |= {"first": seconds[0], "second": seconds[1], "word": statistics.median(seconds[EARLY:])}
    return measured | {"late": _resident(), "words": words}


def _openvino(model: Any, engine: str, task: str) -> Run:
    import openvino

    from hetero import serialize

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "llama.xml")
        serialize(model, file)
        exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}  # by default caches are of 8 bits
        compiled = openvino.Core().compile_model(file, "CPU", exact)
    return _run_of(compiled.create_infer_request(), task)


def _onnxruntime(model: Any, engine: str, task: str) -> Run:
    import onnxruntime

    from hetero.frontend.onnx.writer import save_onnx

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "llama.onnx")
        save_onnx(model, file)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _hetero(model: Any, engine: str, task: str) -> Run:
    from hetero import Core

    if engine.startswith("HETERO:GPU"):
        _cut_in_the_middle(model, engine.partition(":")[2].split(","))
    request = Core().compile_model(model, engine.removesuffix(IN_PLACE)).create_infer_request()
    return _run_in_place(request) if IN_PLACE in engine else _run_of(request, task)


def _run_of(request: Any, task: str) -> Run:
    # Outputs that become inputs are copied, as the next inference writes to the memory of those before.
    shares = task != "past"
    return lambda feeds: list(request.infer(feeds, share_inputs=True, share_outputs=shares).to_tuple())


def _run_in_place(request: Any) -> Run:
    from hetero import Tensor

    for port in request.model_outputs[1:]:
        tensor = Tensor(port.element_type, [1, *(d.min_length for d in list(port.partial_shape)[1:])])
        request.set_tensor(port, tensor)
        request.set_tensor(port.get_any_name().replace("present", "past"), tensor)

    def run(feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        others = {name: array for name, array in feeds.items() if not name.startswith("past")}
        return list(request.infer(others, share_inputs=True, share_outputs=True).to_tuple())

    return run


def _cut_in_the_middle(model: Any, devices: list[str]) -> None:
    """Pin what depends on caches of the second half of the layers, and these, to the second device."""
    from hetero import ops
    from hetero.graph import is_terminal
    from hetero.graph.rt_info import AFFINITY

    later: set[Any] = set()
    half = max(int(variable.info.variable_id.split(".")[1]) for variable in model.variables) / 2
    for node in model.get_ordered_ops():
        is_later = isinstance(node, ops.ReadValue) and int(node.variable_id.split(".")[1]) > half
        if is_later or any(value.node in later for value in node.input_values()):
            later.add(node)
        if not is_terminal(node):
            node.rt_info[AFFINITY] = devices[node in later]


def _resident() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))

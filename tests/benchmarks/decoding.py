"""A decoder that writes words one by one, with caches that grow: time of the first ones, words a second, and memory.

``python -m tests.benchmarks.decoding ENGINE`` is the process of one engine, which prints what it measured as JSON.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PROMPT, WORDS, ROUNDS = 32, 256, 3
# After how many words memory is measured, and from which on words count as steady.
EARLY = 64
ENGINES = ("openvino", "GPU", "CPU", "HETERO:GPU,TEMPLATE", "HETERO:ONEDNN,TEMPLATE", "TEMPLATE")


def compare() -> Iterator[list[str]]:
    """Yield lines: medians of processes that run in turn, and the ratio to OpenVINO's words a second."""
    found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in ENGINES}
    for number in range(ROUNDS + 1):  # the first one fills the caches of kernels
        for engine in ENGINES:
            output = subprocess.run(
                [sys.executable, "-m", __name__, engine], stdout=subprocess.PIPE, check=True, text=True
            )
            if number:
                found[engine].append(json.loads(output.stdout.splitlines()[-1]))
    # Random weights give logits that are nearly equal, which OpenVINO may round otherwise.
    ours = {tuple(run["words"]) for engine, runs in found.items() for run in runs if engine != "openvino"}
    if len(ours) > 1:
        raise RuntimeError("the devices write other words")
    medians = {
        engine: {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "words"}
        for engine, runs in found.items()
    }
    yield [
        f"{PROMPT} + {WORDS} words  {engine:20} {1 / values['word']:7.1f} words/s "
        f"{medians['openvino']['word'] / values['word']:5.2f} x   first {values['first'] * 1e3:6.0f} ms, second "
        f"{values['second'] * 1e3:5.1f} ms   memory {values['early'] / 1e6:.0f} MB, then "
        f"{values['late'] / values['early'] - 1:+.1%}   (compile {values['compile']:.2f} s)"
        for engine, values in medians.items()
    ]


def measure(engine: str) -> dict[str, Any]:
    """Return the seconds and the memory of an engine in this process, and the words that it wrote."""
    from tests.benchmarks.llama_models import Llama

    model = Llama().model()
    started = time.perf_counter()
    if engine == "openvino":
        import openvino

        from hetero import serialize

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "llama.xml")
            serialize(model, file)
            started = time.perf_counter()
            compiled: Any = openvino.Core().compile_model(file, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    else:
        from hetero import Core

        if engine.startswith("HETERO:GPU"):
            _cut_in_the_middle(model, engine.partition(":")[2].split(","))
        compiled = Core().compile_model(model, engine)
    seconds: list[float] = []
    measured: dict[str, Any] = {"compile": time.perf_counter() - started}
    request, ids = compiled.create_infer_request(), np.random.default_rng(1).integers(0, 16000, (1, PROMPT))
    words: list[int] = []
    beams, place = np.zeros(1, np.int32), 0
    for _ in range(WORDS):
        places = np.arange(place, place + ids.shape[1])[None]
        begun = time.perf_counter()
        feeds = {"input_ids": ids, "position_ids": places, "beam_idx": beams}
        logits = request.infer(feeds, share_inputs=True, share_outputs=True)[0]
        seconds.append(time.perf_counter() - begun)
        place += ids.shape[1]
        words.append(int(logits[0, -1].argmax()))
        ids = np.array([[words[-1]]])
        if len(words) == EARLY:
            measured["early"] = _resident()
    measured |= {"first": seconds[0], "second": seconds[1], "word": statistics.median(seconds[EARLY:])}
    return measured | {"late": _resident(), "words": words}


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
    print(json.dumps(measure(sys.argv[1])))

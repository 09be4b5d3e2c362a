"""A decoder with weights of f32, int8 and int4: time to read, to compile, of the first word, words a second, memory.

``python -m tests.benchmarks.compressed_weights ENGINE FILE`` is the process of one engine, which prints what it
measured as JSON. "openvino" quantizes activations to int8 in groups, as it does by default; "openvino, f32" does not,
and nor does hetero. The last column is the share of the bandwidth of memory that reading all weights per word takes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

PROMPT, WORDS, ROUNDS = 64, 24, 3
ENGINES = ("openvino", "openvino, f32", "GPU.0", "GPU.1", "HETERO:GPU,TEMPLATE")
# Sizes of Llama: 28 million and 1.06 billion weights.
SIZES: dict[str, dict[str, int]] = {
    "28 M": {},
    "1.0 G": {"words": 32000, "width": 2048, "layers": 18, "heads": 32, "hidden": 5632},
}
MODELS = (("28 M", "f32"), ("28 M", "int8"), ("28 M", "int4"), ("1.0 G", "int8"), ("1.0 G", "int4"))


def compare() -> Iterator[list[str]]:
    """Yield lines of each model: medians of processes that run in turn, and the ratio to the faster openvino."""
    from hetero import serialize
    from tests.benchmarks.llama_models import Llama

    yield [f"memory is read at {_bandwidth() / 1e9:.1f} GB/s by {os.cpu_count()} threads"]
    for size, weights in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "llama.xml")
            serialize(Llama(weights=weights, **SIZES[size]).model(), file)  # type: ignore[arg-type]
            found: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
            for number in range(ROUNDS + 1):  # the first one fills the caches of kernels
                for engine in ENGINES:
                    command = [sys.executable, "-m", __name__, engine, str(file)]
                    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
                    if number:
                        found[engine].append(json.loads(output.stdout.splitlines()[-1]))
            yield list(_lines(f"{size} {weights}", file.with_suffix(".bin").stat().st_size, found))


def _lines(model: str, byte_size: int, found: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    medians = {
        engine: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for engine, runs in found.items()
    }
    fastest = min(medians[engine]["word"] for engine in ENGINES[:2])
    bandwidth = _bandwidth()
    for engine, values in medians.items():
        yield (
            f"{model:10} {byte_size / 1e6:5.0f} MB  {engine:20} read {values['read']:5.2f} s  compile "
            f"{values['compile']:6.2f} s  first {values['first'] * 1e3:6.0f} ms  {1 / values['word']:6.1f} words/s "
            f"{fastest / values['word']:5.2f} x   resident {values['resident'] / 1e6:5.0f} MB, peak "
            f"{values['peak'] / 1e6:5.0f} MB   {byte_size / values['word'] / bandwidth:4.0%} of the bandwidth"
        )


def measure(engine: str, file: str) -> dict[str, float]:
    """Return the seconds and the memory of an engine in this process."""
    options: dict[str, Any] = {}
    if engine.startswith("openvino"):
        import openvino as runtime

        options = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
        if engine != "openvino":
            options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = 0
        device = "CPU"
    else:
        import hetero as runtime  # type: ignore[no-redef]

        device = engine
    started = time.perf_counter()
    core = runtime.Core()
    model = core.read_model(file)
    read = time.perf_counter()
    request = core.compile_model(model, device, options).create_infer_request()
    del model
    measured = {"read": read - started, "compile": time.perf_counter() - read}
    ids, place, seconds = np.random.default_rng(1).integers(0, 16000, (1, PROMPT)), 0, []
    for _ in range(WORDS):
        places = np.arange(place, place + ids.shape[1])[None]
        feeds = {"input_ids": ids, "position_ids": places, "beam_idx": np.zeros(1, np.int32)}
        begun = time.perf_counter()
        (logits,) = request.infer(feeds, share_inputs=True, share_outputs=True).to_tuple()
        seconds.append(time.perf_counter() - begun)
        place += ids.shape[1]
        ids = logits[:, -1].argmax(-1)[:, None]
    measured |= {"first": seconds[0], "word": statistics.median(seconds[2:])}
    return measured | {"resident": _status("VmRSS"), "peak": _status("VmHWM")}


def _status(key: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)]
    return 1024 * int(line.split()[1])


def _bandwidth() -> float:
    """Return the bytes per second that all cores together read from memory, the best of some tries."""
    count = os.cpu_count() or 1
    parts = np.array_split(np.ones(1 << 28, np.float32), count)
    best = float("inf")
    with ThreadPoolExecutor(count) as threads:
        for _ in range(5):
            begun = time.perf_counter()
            list(threads.map(np.max, parts))
            best = min(best, time.perf_counter() - begun)
    return sum(part.nbytes for part in parts) / best


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))

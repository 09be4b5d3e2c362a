"""Seconds until a model's first result on the OpenCL devices, in new processes, without caches and with filled ones.

``python -m tests.benchmarks.cold_start [MODEL …]``; the default is the zoo and a small decoder with dynamic shapes.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hetero import Constant, Core, Model, Node, Parameter, PartialShape, Type, ops
from tests import zoo
from tests.devices import GPUS

DECODER = "decoder"
ROUNDS = 3
# The decoder, of the size of the ones that tests of libraries use: layers, width, heads, words.
LAYERS, WIDTH, HEADS, WORDS = 5, 32, 4, 1000
PROMPT = 8


def compare(models: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yield a group of lines for each model, one for each device."""
    for name in models or (DECODER, *zoo.MODELS):
        times: dict[str, list[tuple[float, float]]] = {device: [] for device in GPUS}
        for _ in range(ROUNDS):
            for device in GPUS:
                times[device].append(_cold_and_cached(name, device))
        medians = {device: map(statistics.median, zip(*measured)) for device, measured in times.items()}
        yield [
            f"{f'first result of {name}':40} {device:6} {cold:6.2f} s, {cached:.2f} s from the caches"
            for device, (cold, cached) in medians.items()
        ]


def _cold_and_cached(name: str, device: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        keep_trials(Path(folder))
        environment = os.environ | {"XDG_CACHE_HOME": folder, "POCL_CACHE_DIR": f"{folder}/pocl"}
        command = [
            sys.executable,
            "-c",
            f"from tests.benchmarks.cold_start import measure; measure({name!r}, {device!r})",
        ]
        cold, cached = (
            float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
            for _ in range(2)
        )
    return cold, cached


def keep_trials(folder: Path) -> None:
    """Copy the measurements of devices, which are made once per driver, to a folder for caches."""
    from hetero_opencl.device.device import present_devices
    from hetero_opencl.device.trial import verdict_file

    target = folder / "hetero/trials"
    target.mkdir(parents=True)
    for device in present_devices().usable:
        shutil.copy(verdict_file(device.handle), target)


def measure(name: str, device: str) -> None:
    """Print the seconds from a file, or a model in memory, to its first result."""
    core = Core()
    core.get_property(device, "FULL_DEVICE_NAME")  # finds the devices
    core.add_extension(Path("configs/mediapipe_operators.py"))
    model, feeds = decoder() if name == DECODER else (zoo.path(name), zoo.inputs(name))
    started = time.perf_counter()
    core.compile_model(model, device)(feeds)
    print(time.perf_counter() - started)


def decoder() -> tuple[Model, list[np.ndarray]]:
    """Return a decoder of any number of tokens, with caches of any length, and a prompt with empty caches."""
    random = np.random.default_rng(0)

    def weights(*shape: int) -> Constant:
        return Constant(random.normal(0, 0.1, shape).astype(np.float32))

    def linear(value: Node, inner: int, outer: int) -> Node:
        return ops.Add(ops.MatMul(value, weights(inner, outer), False, False), weights(outer))

    def norm(value: Node) -> Node:
        scaled = ops.Multiply(ops.MVN(value, np.int64([-1]), True, 1e-5, "INSIDE_SQRT"), weights(WIDTH))
        return ops.Add(scaled, weights(WIDTH))

    def length(value: Node, axis: int) -> Node:
        return ops.Gather(ops.ShapeOf(value), np.int64(axis), np.int64(0))

    def heads(value: Node) -> Node:
        return ops.Transpose(ops.Reshape(value, np.int64([0, 0, HEADS, -1]), True), np.int64([0, 2, 1, 3]))

    tokens = Parameter(Type.i64, PartialShape([1, -1]))
    caches = [Parameter(Type.f32, PartialShape([1, HEADS, -1, WIDTH // HEADS])) for _ in range(2 * LAYERS)]
    past = length(caches[0], 2)
    total = ops.Add(past, length(tokens, 1))
    positions = ops.Range(past, total, np.int64(1), Type.i64)
    words = weights(WORDS, WIDTH)
    value: Node = ops.Gather(words, tokens, np.int64(0))
    value = ops.Add(value, ops.Gather(weights(1024, WIDTH), positions, np.int64(0)))
    rows = ops.Unsqueeze(positions, np.int64(1))
    is_seen = ops.LessEqual(ops.Unsqueeze(ops.Range(np.int64(0), total, np.int64(1), Type.i64), np.int64(0)), rows)
    results: list[Node] = []
    for old_key, old_value in zip(caches[::2], caches[1::2]):
        inner = norm(value)
        query, key, content = (heads(linear(inner, WIDTH, WIDTH)) for _ in range(3))
        results += [ops.Concat([old_key, key], 2), ops.Concat([old_value, content], 2)]
        scores = ops.Multiply(ops.MatMul(query, results[-2], False, True), np.float32((WIDTH / HEADS) ** -0.5))
        shares = ops.Softmax(ops.Select(is_seen, scores, np.float32(-1e9)), 3)
        found = ops.Transpose(ops.MatMul(shares, results[-1], False, False), np.int64([0, 2, 1, 3]))
        value = ops.Add(value, linear(ops.Reshape(found, np.int64([0, 0, WIDTH]), True), WIDTH, WIDTH))
        hidden = ops.Gelu(linear(norm(value), WIDTH, 4 * WIDTH), "tanh")
        value = ops.Add(value, linear(hidden, 4 * WIDTH, WIDTH))
    scores = ops.MatMul(norm(value), words, False, True)
    prompt = np.arange(PROMPT)[np.newaxis]
    empty = [np.zeros((1, HEADS, 0, WIDTH // HEADS), np.float32) for _ in caches]
    return Model([scores, *results], [tokens, *caches], DECODER), [prompt, *empty]


if __name__ == "__main__":
    for group in compare(sys.argv[1:]):
        print("\n".join(group), flush=True)

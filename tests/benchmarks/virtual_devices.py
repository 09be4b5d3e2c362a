"""AUTO, MULTI and BATCH against the devices that they use.

The overhead of a request on MULTI; the throughput of BATCH with 16 requests in flight; and the time to the first result
on AUTO, in new processes with empty kernel caches, against the device that it switches to and the one it starts with.

A batch is faster for networks that spend their time on reading weights, which it reads once: "dense". Convolutional
networks, whose time on a processor is arithmetic, gain nothing.
"""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from tests import zoo
from tests.benchmarks.cold_start import keep_trials
from tests.benchmarks.interleaved import Comparison, interleave
from tests.devices import GPUS

# The device without PoCL, if there is one, for throughput.
GPU = GPUS[0]
TINY_ROUNDS, TINY_INFERENCES = 30, 100
# Fully connected layers of the network "dense", and elements of each.
DENSE_LAYERS, DENSE_WIDTH = 4, 1024
DENSE = "dense"
BATCHED = (DENSE, "squeezenet", "resnet50")
IN_FLIGHT, BATCH_ROUNDS = 16, 5
STARTED, START_ROUNDS = "squeezenet", 3


def compare() -> Iterator[list[str]]:
    yield _request_overhead().lines()
    for name in BATCHED:
        yield _throughput(name).lines()
    yield _first_results()


def _request_overhead() -> Comparison:
    x = Parameter(Type.f32, [16, 16])
    model = Model([ops.Softmax(x, 1)], [x], "tiny")
    core, array = Core(), np.ones([16, 16], np.float32)
    candidates = {}
    for device in ("TEMPLATE", "AUTO:TEMPLATE", "MULTI:TEMPLATE", GPU, f"MULTI:{','.join(GPUS)}"):
        # The default hint of MULTI is THROUGHPUT, in which a device itself takes longer for one inference.
        request = core.compile_model(model, device, {"PERFORMANCE_HINT": "LATENCY"}).create_infer_request()
        candidates[device] = functools.partial(_repeat, lambda request=request: request.infer([array]))
    return interleave(f"{TINY_INFERENCES} x infer", candidates, TINY_ROUNDS)


def _repeat(infer: Callable[[], object]) -> None:
    for _ in range(TINY_INFERENCES):
        infer()


def _throughput(name: str) -> Comparison:
    core = Core()
    model, feeds = _dense() if name == DENSE else (core.read_model(zoo.path(name)), zoo.inputs(name))
    candidates = {
        f"{device} {hint}": functools.partial(
            _fill, AsyncInferQueue(core.compile_model(model, device, {"PERFORMANCE_HINT": hint}), IN_FLIGHT), feeds
        )
        for device in (GPU, f"BATCH:{GPU}(8)")
        for hint in ("LATENCY", "THROUGHPUT")
    }
    return interleave(f"{IN_FLIGHT} x {name}", candidates, BATCH_ROUNDS)


def _dense() -> tuple[Model, zoo.Arrays]:
    """Return a network of fully connected layers, which reads 4 MB of weights for each layer, and its input."""
    generator = np.random.default_rng(0)
    x = value = Parameter(Type.f32, [1, DENSE_WIDTH], name="x")
    for _ in range(DENSE_LAYERS):
        weights = generator.standard_normal([DENSE_WIDTH, DENSE_WIDTH], np.float32) / DENSE_WIDTH**0.5
        value = ops.Relu(ops.MatMul(value, weights, False, False))
    return Model(value, [x], DENSE), {"x": generator.standard_normal([1, DENSE_WIDTH], np.float32)}


def _fill(queue: AsyncInferQueue, feeds: zoo.Arrays) -> None:
    for _ in range(IN_FLIGHT):
        queue.start_async(feeds, share_inputs=True)
    queue.wait_all()


def _first_results() -> list[str]:
    """Return a line for each device with the medians of the seconds until it has compiled, and until its result."""
    times: dict[str, list[list[float]]] = {device: [] for device in (GPU, f"AUTO:{GPU},TEMPLATE", "TEMPLATE")}
    for _ in range(START_ROUNDS):
        for device, measured in times.items():
            with tempfile.TemporaryDirectory() as folder:
                keep_trials(Path(folder))
                environment = os.environ | {"XDG_CACHE_HOME": folder, "POCL_CACHE_DIR": f"{folder}/pocl"}
                code = f"from tests.benchmarks.virtual_devices import start; start({STARTED!r}, {device!r})"
                done = subprocess.run(
                    [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
                )
            measured.append([float(number) for number in done.stdout.split()])
    medians = {device: list(map(statistics.median, zip(*measured))) for device, measured in times.items()}
    return [
        f"first result of {STARTED} on {device:20} {first:6.2f} s; compiled in {compiled:.2f} s, "
        f"best device in use after {best:.2f} s"
        for device, (compiled, first, best) in medians.items()
    ]


def start(name: str, device: str) -> None:
    """Print the seconds until the model is compiled, until its first result, and until the best device is in use."""
    core = Core()
    core.get_property(GPU, "FULL_DEVICE_NAME")  # finds the devices
    feeds = zoo.inputs(name)
    started = time.perf_counter()
    compiled = core.compile_model(zoo.path(name), device)
    times = [time.perf_counter() - started]
    compiled(feeds)
    times.append(time.perf_counter() - started)
    compiled.get_runtime_model()  # waits for the best device
    times.append(time.perf_counter() - started)
    print(*times)

"""Overhead of a request: one synchronous inference, one asynchronous one, and a queue; and Python calls of infer().

The model is one Softmax of 16 rows, so nearly all of the time is overhead of the runtime. Calls are those of one
operation and of ten parts on two devices in turn.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import openvino

import hetero
from hetero import Parameter, Type, ops
from hetero.graph.rt_info import AFFINITY
from tests.benchmarks.interleaved import Comparison, interleave

ROUNDS = 30
INFERENCES = 100  # per measurement, because one inference is too short for the clock
REQUESTS = 4
X = np.ones([16, 16], np.float32)


# Devices whose calls are counted, and the other one of the ten parts.
OTHERS = {"TEMPLATE": "GPU", "GPU": "TEMPLATE", "ONEDNN": "TEMPLATE", "OPENVINO.CPU": "TEMPLATE"}
PARTS = 10


def compare() -> Iterator[list[str]]:
    """Yield the lines of each comparison, and those of the calls."""
    for comparison in compare_times():
        yield comparison.lines()
    yield [line for device, other in OTHERS.items() for line in _call_lines(device, other)]


def compare_times() -> Iterator[Comparison]:
    compiled = {"openvino": _compile(openvino, "CPU")}
    compiled |= {device: _compile(hetero, device) for device in ("TEMPLATE", "HETERO:TEMPLATE", "GPU")}
    for task, run in (("infer", _infer), ("start_async, wait", _start_and_wait)):
        requests = {name: model.create_infer_request() for name, model in compiled.items()}
        candidates = {name: functools.partial(run, request) for name, request in requests.items()}
        yield interleave(f"{INFERENCES} x {task}", candidates, ROUNDS)
    queues = {name: _queue(name, model) for name, model in compiled.items()}
    yield interleave(f"{INFERENCES} in a queue of {REQUESTS}", queues, ROUNDS)


def _compile(runtime: Any, device: str) -> Any:
    parameter = runtime.opset1.parameter([16, 16], runtime.Type.f32)
    model = runtime.Model([runtime.opset8.softmax(parameter, 1)], [parameter], "tiny")
    return runtime.Core().compile_model(model, device)


def _infer(request: Any) -> None:
    for _ in range(INFERENCES):
        request.infer([X], share_inputs=True, share_outputs=True)


def _start_and_wait(request: Any) -> None:
    for _ in range(INFERENCES):
        request.start_async([X], share_inputs=True)
        request.wait()


def _queue(name: str, model: Any) -> Callable[[], None]:
    queue = (openvino if name == "openvino" else hetero).AsyncInferQueue(model, REQUESTS)
    inputs: Sequence[np.ndarray] = [X]

    def run() -> None:
        for _ in range(INFERENCES):
            queue.start_async(inputs, share_inputs=True)
        queue.wait_all()

    return run


def request_of(devices: Sequence[str]) -> hetero.InferRequest:
    """Return a request of a chain of operations, each on one of these devices."""
    parameter = Parameter(Type.f32, X.shape)
    value = parameter.output(0)
    for device in devices:
        node = ops.Relu(value)
        if len(devices) > 1:
            node.rt_info[AFFINITY] = device
        value = node.output(0)
    name = devices[0] if len(devices) == 1 else f"HETERO:{','.join(dict.fromkeys(devices))}"
    return hetero.Core().compile_model(hetero.Model(value, [parameter], "chain"), name).create_infer_request()


def python_calls(request: hetero.InferRequest) -> int:
    """Return the calls of Python functions in one inference."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    counts = []
    for _ in range(6):  # the first ones bind, and garbage may be collected in any
        count = 0
        sys.setprofile(note)
        try:
            request.infer([X], share_inputs=True, share_outputs=True)
        finally:
            sys.setprofile(None)
        counts.append(count)
    return min(counts)


def _call_lines(device: str, other: str) -> Iterator[str]:
    for task, devices in (("one operation", [device]), (f"{PARTS} parts", [device, other] * (PARTS // 2))):
        request = request_of(devices)
        shared, copied = _microseconds(request)
        times = f"{shared:8.1f} µs shared, {copied:8.1f} µs copied"
        yield f"{task:32} {device:16} {python_calls(request):6} Python calls {times}"


def _microseconds(request: hetero.InferRequest) -> tuple[float, float]:
    """Return the median microseconds of an inference with shared inputs and with copied ones, measured in turn."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for share in times:
            for _ in range(INFERENCES // 10):
                started = time.perf_counter()
                request.infer([X], share_inputs=share, share_outputs=True)
                times[share].append(time.perf_counter() - started)
    return statistics.median(times[True]) * 1e6, statistics.median(times[False]) * 1e6

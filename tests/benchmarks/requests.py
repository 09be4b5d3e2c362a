"""Overhead of a request: one synchronous inference, one asynchronous inference, and a queue.

The model is one Softmax of 16 rows, so nearly all of the time is overhead of the runtime.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import openvino

import hetero
from tests.benchmarks.interleaved import Comparison, interleave

ROUNDS = 30
INFERENCES = 100  # per measurement, because one inference is too short for the clock
REQUESTS = 4
X = np.ones([16, 16], np.float32)


def compare() -> Iterator[Comparison]:
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

"""Several inferences in flight: PERFORMANCE_HINT=THROUGHPUT against LATENCY, on TEMPLATE, GPU and OpenVINO's CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from hetero import AsyncInferQueue, Core
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

MODELS = {"TEMPLATE": ("squeezenet", "ocr_direction"), "GPU": ("squeezenet", "shufflenet", "resnet50")}
HINTS = ("LATENCY", "THROUGHPUT")
INFERENCES = 10
ROUNDS = 9


def compare() -> Iterator[Comparison]:
    core = Core()
    for device, names in MODELS.items():
        for name in names:
            candidates = {hint: _queue(core, name, device, hint) for hint in HINTS}
            yield interleave(f"{INFERENCES} x {name} on {device}", candidates, ROUNDS)
            if device == "GPU":
                peers = {hint: _openvino(name, hint) for hint in HINTS}
                yield interleave(f"{INFERENCES} x {name} on OpenVINO", peers, ROUNDS)


def _queue(core: Core, name: str, device: str, hint: str) -> Callable[[], None]:
    queue = AsyncInferQueue(core.compile_model(zoo.path(name), device, {"PERFORMANCE_HINT": hint}))
    return partial(_run, partial(queue.start_async, share_inputs=True), queue.wait_all, zoo.inputs(name))


def _openvino(name: str, hint: str) -> Callable[[], None]:
    import openvino

    options = {"PERFORMANCE_HINT": hint, "INFERENCE_PRECISION_HINT": "f32"}
    queue = openvino.AsyncInferQueue(openvino.compile_model(zoo.path(name), "CPU", options))
    return partial(_run, queue.start_async, queue.wait_all, zoo.inputs(name))


def _run(start: Callable[[zoo.Arrays], None], wait_all: Callable[[], None], feeds: zoo.Arrays) -> None:
    for _ in range(INFERENCES):
        start(feeds)
    wait_all()

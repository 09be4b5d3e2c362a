"""Several inferences in flight on TEMPLATE: PERFORMANCE_HINT=THROUGHPUT against LATENCY."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hetero import AsyncInferQueue, Core
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

MODELS = ("squeezenet", "ocr_direction")
INFERENCES = 10
ROUNDS = 9


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in MODELS:
        candidates = {hint: _queue(core, name, hint) for hint in ("LATENCY", "THROUGHPUT")}
        yield interleave(f"{INFERENCES} x {name} in a queue", candidates, ROUNDS)


def _queue(core: Core, name: str, hint: str) -> Callable[[], None]:
    queue = AsyncInferQueue(core.compile_model(zoo.path(name), "TEMPLATE", {"PERFORMANCE_HINT": hint}))
    feeds = zoo.inputs(name)

    def run() -> None:
        for _ in range(INFERENCES):
            queue.start_async(feeds, share_inputs=True)
        queue.wait_all()

    return run

"""Tuning of a device for a model, and what it gains."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetero.graph import Model
from hetero.run.model_files import Progress
from hetero.runtime import Core, InferRequest

# Inferences that are measured before and after, in turn: at most ROUNDS, for about SECONDS.
ROUNDS, SECONDS = 50, 5.0


@dataclass(frozen=True)
class Tuning:
    """The result: the file, the number of operations that were measured, and the median times of an inference.

    ``is_default``: later compilations for the device use the file without being told. ``noise``: how much times vary,
    as half the range between their quartiles, relative to the median.
    """

    device: str
    file: str
    is_default: bool
    operations: int
    milliseconds_before: float
    milliseconds: float
    noise: float


def tune(core: Core, model: Model, device: str, inputs: Sequence[np.ndarray], file: str, progress: Progress) -> Tuning:
    """Tune a device for a model with these inputs, and measure inferences before and after that.

    Raises NotSupportedError if the device has nothing to tune, and OSError if the file cannot be written.
    """
    measured = 0

    def count(operation: str, done: int, total: int) -> None:
        nonlocal measured
        measured = total
        progress(f"Measuring {operation}", done, total)

    progress(f"Compiling for {device}", 0, 1)
    before = core.compile_model(model, device, {"TUNING_FILE": file} if Path(file).is_file() else {})
    requests = [before.create_infer_request()]
    requests[0].infer(list(inputs))
    written = before.tune(file, count)
    progress("Measuring inferences", 0, 1)
    after = core.compile_model(model, device, {"TUNING_FILE": str(written)})
    requests.append(after.create_infer_request())
    times = [np.array(own) * 1e3 for own in _seconds(requests, inputs)]
    (low_before, before_ms, high_before), (low, after_ms, high) = (np.percentile(own, [25, 50, 75]) for own in times)
    noise = max((high_before - low_before) / before_ms, (high - low) / after_ms) / 2
    return Tuning(device, str(written), not file, measured, float(before_ms), float(after_ms), float(noise))


def _seconds(requests: Sequence[InferRequest], inputs: Sequence[np.ndarray]) -> list[list[float]]:
    """Return the times of inferences of each request. They run in turn, so that other work slows all."""
    for request in requests:
        request.infer(list(inputs))
    times: list[list[float]] = [[] for _ in requests]
    started = time.perf_counter()
    while len(times[0]) < ROUNDS and (not times[0] or time.perf_counter() - started < SECONDS):
        for request, own in zip(requests, times):
            before = time.perf_counter()
            request.infer(share_outputs=True)
            own.append(time.perf_counter() - before)
    return times

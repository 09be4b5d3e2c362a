"""Benchmark: latency and throughput of a model on one or several devices.

The devices run in turn, so that other work on the machine disturbs all of them equally. If there are several devices,
an inference of each request, which wakes its threads, is not counted at the begin of a turn.
"""

from __future__ import annotations

import csv
import io
import itertools
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.graph import Model, port_name
from hetero.plugin import ProfilingInfo
from hetero.run.devices import faster_type
from hetero.run.media.samples import Sample
from hetero.run.model_files import Progress, compile_model
from hetero.run.yaml_runs.runner import OperationTime, PlacementInfo, placement_of, slowest_operations
from hetero.runtime import AsyncInferQueue, Core, InferRequest
from hetero.system.files import atomic_write

# Seconds of a turn, and the least number of inferences of each request in it with api async, so that all are busy.
TURN_SECONDS, TURN_ROUNDS = 0.5, 4
# Profiles of the last inferences that are kept, for the medians of subgraphs.
MAX_PROFILES = 100
# Inferences of a turn without another limit.
UNLIMITED = 1 << 30


@dataclass(frozen=True)
class Measurement:
    """The results of one device. Latencies are in milliseconds, throughput in inferences a second.

    ``ratio``: how many times as fast as the first device, by median latency (api sync) or throughput (api async).
    ``faster_type``: the floating-point type that EXECUTION_MODE_HINT=PERFORMANCE would make the device compute in, and
    how many times as fast it is then. It is empty if nothing would change.
    """

    device: str
    requests: int
    compile_seconds: float
    first: float
    inferences: int
    median: float
    p90: float
    p99: float
    minimum: float
    maximum: float
    throughput: float
    ratio: float
    placement: PlacementInfo | None
    slowest: list[OperationTime]
    faster_type: str
    faster_ratio: float


@dataclass(frozen=True)
class Benchmark:
    """The report of a benchmark."""

    model: str
    api: str
    input_shapes: dict[str, list[int]]
    measurements: list[Measurement]


@dataclass(frozen=True)
class Duration:
    """The time for which each device is measured: seconds, or a number of inferences if that is not 0."""

    seconds: float
    inferences: int = 0

    def done(self, candidate: _MeasuredModel) -> float:
        """Return the part of the measurement that is done."""
        if self.inferences:
            return len(candidate.latencies) / self.inferences
        return candidate.seconds / self.seconds if self.seconds else float(bool(candidate.latencies))


class _MeasuredModel:
    """A model that is compiled for one device, with its requests."""

    def __init__(
        self, core: Core, model: Model | Path, device: str, properties: Mapping[str, Any], requests: int | None
    ) -> None:
        """``requests``: None for one synchronous request, 0 for the number that the device prefers."""
        self.device = device
        started = time.perf_counter()
        self.compiled = compile_model(core, model, device, properties)
        self.compile_seconds = time.perf_counter() - started
        self._queue = None if requests is None else AsyncInferQueue(self.compiled, requests)
        if self._queue:
            self._queue.set_callback(lambda request, userdata: self._count(request))
        self._requests = list(self._queue) if self._queue else [self.compiled.create_infer_request()]
        self._is_profiled = props.enable_profiling in properties
        self.latencies: list[float] = []
        self.profiles: deque[Sequence[ProfilingInfo]] = deque(maxlen=MAX_PROFILES)
        self.seconds = 0.0

    @property
    def requests(self) -> int:
        return len(self._requests)

    def run_first(self, inputs: Sequence[np.ndarray]) -> None:
        """Run the first inference of each request, and keep the time of the very first."""
        # Unlike start_async(), infer() does not call the callback of the queue, so that nothing is counted.
        for request in self._requests:
            request.infer(list(inputs), share_inputs=True, share_outputs=True)
        self.first = self._requests[0].latency

    def run_turn(self, samples: Iterator[Sample], skips_first: bool, limit: int) -> None:
        """Run inferences for the time of a turn, and at most ``limit`` of them."""
        for request in self._requests if skips_first else ():
            request.infer(share_outputs=True)
        least = self.requests * TURN_ROUNDS if self._queue else 1
        started = time.perf_counter()
        for index in range(limit):
            if index >= least and time.perf_counter() - started >= TURN_SECONDS:
                break
            inputs = next(samples).arrays
            if self._queue:
                self._queue.start_async(inputs, share_inputs=True)
            else:
                self._requests[0].infer(inputs, share_inputs=True, share_outputs=True)
                self._count(self._requests[0])
        if self._queue:
            self._queue.wait_all()
        self.seconds += time.perf_counter() - started

    def _count(self, request: InferRequest) -> None:
        self.latencies.append(request.latency)
        if self._is_profiled:
            self.profiles.append(request.get_profiling_info())


def benchmark(
    core: Core,
    model: Model | Path,
    name: str,
    devices: Sequence[tuple[str, Mapping[str, Any]]],
    samples: Sequence[Sample],
    requests: int | None,
    duration: Duration,
    progress: Progress,
) -> Benchmark:
    """Measure a model, or the compiled model of a path, on devices, each with its properties.

    ``requests``: see ``_MeasuredModel``.
    """
    candidates = []
    for device, properties in devices:
        progress(f"Compiling for {device}", 0, 1)
        candidates.append(_MeasuredModel(core, model, device, properties, requests))
        candidates[-1].run_first(samples[0].arrays)
    endless = itertools.cycle(samples)
    while pending := [candidate for candidate in candidates if duration.done(candidate) < 1]:
        for candidate in pending:
            progress(f"Measuring {candidate.device}", int(100 * min(map(duration.done, candidates))), 100)
            limit = (duration.inferences or UNLIMITED) - len(candidate.latencies)
            candidate.run_turn(endless, len(candidates) > 1, limit)
    ports = candidates[0].compiled.inputs
    shapes = {port_name(port): list(array.shape) for port, array in zip(ports, samples[0].arrays)}
    api = "sync" if requests is None else "async"
    measurements = []
    for candidate, (device, properties) in zip(candidates, devices):
        precision, ratio = _faster_type(core, candidate, properties) if isinstance(model, Model) else "", 1.0
        if precision:
            progress(f"Measuring {device} in {precision}", 0, 1)
            allowed = {**properties, props.hint.execution_mode: props.hint.ExecutionMode.PERFORMANCE}
            faster = _MeasuredModel(core, model, device, allowed, requests)
            faster.run_first(samples[0].arrays)
            faster.run_turn(endless, True, duration.inferences or UNLIMITED)
            ratio = _speed(faster, api) / _speed(candidate, api)
        measurements.append(_measurement(candidate, candidates[0], api, precision, ratio))
    return Benchmark(name, api, shapes, measurements)


def _faster_type(core: Core, candidate: _MeasuredModel, properties: Mapping[str, Any]) -> str:
    """Return the type that EXECUTION_MODE_HINT=PERFORMANCE would make one of the model's devices compute in.

    Empty if the user chose, or if none of the devices has such a type.
    """
    chosen = {props.hint.execution_mode, props.hint.inference_precision, props.device.properties} & properties.keys()
    names = () if chosen else candidate.compiled.get_property(props.execution_devices)
    return next(filter(None, (faster_type(core, name.strip("()")) for name in names)), "")


def _measurement(
    candidate: _MeasuredModel, first: _MeasuredModel, api: str, faster_type: str, faster_ratio: float
) -> Measurement:
    latencies = candidate.latencies
    return Measurement(
        candidate.device,
        candidate.requests,
        candidate.compile_seconds,
        candidate.first,
        len(latencies),
        median(latencies),
        float(np.percentile(latencies, 90)),
        float(np.percentile(latencies, 99)),
        min(latencies),
        max(latencies),
        _throughput(candidate),
        _speed(candidate, api) / _speed(first, api),
        placement_of(candidate.compiled, [*candidate.profiles]),
        slowest_operations(candidate.profiles[-1]) if candidate.profiles else [],
        faster_type,
        faster_ratio,
    )


def _speed(candidate: _MeasuredModel, api: str) -> float:
    """Return inferences per second: by the median latency, or with api async by the throughput."""
    return 1 / median(candidate.latencies) if api == "sync" else _throughput(candidate)


def _throughput(candidate: _MeasuredModel) -> float:
    return len(candidate.latencies) / candidate.seconds


def write_csv(report: Benchmark, file: Path) -> None:
    """Write a row for each device, without the tables of subgraphs and operations. Raises OSError."""
    names = [field.name for field in fields(Measurement) if field.name not in ("placement", "slowest")]
    with atomic_write(file) as (stream,), io.TextIOWrapper(stream, "utf-8", newline="", write_through=True) as text:
        writer = csv.writer(text)
        writer.writerow(names)
        writer.writerows([getattr(measurement, name) for name in names] for measurement in report.measurements)

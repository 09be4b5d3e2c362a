"""Execution of a YAML run: read, compile, infer, and report as plain data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from hetero import properties as props
from hetero.dispatch.affinity import is_placed
from hetero.dispatch.compiled_model import placement_report
from hetero.dispatch.plugin import affinities
from hetero.dispatch.report import PlacementReport
from hetero.dispatch.report import log as placement_log
from hetero.errors import PropertyError
from hetero.frontend import ProgressReporterExtension
from hetero.frontend.source import record_files
from hetero.graph import Model, port_name
from hetero.plugin import ProfilingInfo
from hetero.plugin.profiling import STAGE, SUBGRAPH
from hetero.run.config import RunConfig
from hetero.run.devices import DeviceInfo, find_devices
from hetero.run.inputs import make_inputs
from hetero.run.outputs import make_presenters
from hetero.run.sources import refuse_overwriting
from hetero.runtime import CompiledModel, Core

# Number of slowest operations in a report.
SLOWEST = 10
# Stages of a request that transfer inputs to the device and outputs from it.
TRANSFERS = ("preprocess", "postprocess")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class SubgraphInfo:
    """One subgraph. With PERF_COUNT: median milliseconds of an inference, and of the transfers in it."""

    index: int
    device: str
    operations: int
    inputs: int
    outputs: int
    milliseconds: float | None
    transfer_milliseconds: float | None


@dataclass(frozen=True)
class Reason:
    """The reason why operations are not on the first device: device, reason, number of operations by type."""

    device: str
    reason: str
    types: dict[str, int]


@dataclass(frozen=True)
class Placement:
    """The placement of a model on several devices."""

    summary: str
    devices: dict[str, int]
    subgraphs: list[SubgraphInfo]
    reasons: list[Reason]


@dataclass(frozen=True)
class OperationTime:
    """Time of an operation in the last inference; ``execution`` names its kernel."""

    name: str
    type_name: str
    execution: str
    milliseconds: float


@dataclass(frozen=True)
class RunReport:
    """The report of a run. Times of inferences are in milliseconds."""

    devices: list[DeviceInfo]
    unavailable: dict[str, str]
    model: str
    device: str
    operations: int
    placement: Placement | None
    slowest: list[OperationTime]
    outputs: list[dict[str, Any]]
    read_seconds: float
    compile_seconds: float
    first_milliseconds: float
    milliseconds: list[float]
    transfer_milliseconds: float | None


def run(config: RunConfig, progress: Progress = lambda text, done, total: None) -> RunReport:
    """Execute a run. ``progress(text, done, total)`` is called before each step. Raises HeteroError.

    If there are several ``iterations``, one more inference comes first as a warm-up and is reported separately.
    """
    core = Core()
    total = config.iterations + 2
    started = time.perf_counter()
    with record_files() as files:
        model = read_model(core, config.model, config.extensions, progress)
    refuse_overwriting(config.files_written(), map(Path, files))
    read_seconds = time.perf_counter() - started
    inputs = make_inputs(model.inputs, config.inputs)
    presenters = make_presenters(config.outputs, model)

    progress(f"Compiling for {config.device}", 1, total)
    started = time.perf_counter()
    properties = dict(config.properties)
    if config.affinities:
        properties[affinities] = config.affinities
    with placement_log_muted():
        compiled = core.compile_model(model, config.device, properties)
    compile_seconds = time.perf_counter() - started

    request = compiled.create_infer_request()
    latencies, profiles = [], []
    warm_up = config.iterations > 1
    for index in range(config.iterations + warm_up):
        progress(f"Running on {config.device}", 2 + max(0, index - warm_up), total)
        results = request.infer(list(inputs.values()), share_inputs=True, share_outputs=True)
        latencies.append(request.latency)
        profiles.append(request.get_profiling_info())
    progress("Done", total, total)

    arrays = dict(zip(map(port_name, compiled.outputs), results.to_tuple()))
    counted = slice(int(warm_up), None)
    return RunReport(
        devices=find_devices(core),
        unavailable=core.unavailable_devices,
        model=str(config.model),
        device=config.device,
        operations=sum(map(is_placed, model.get_ordered_ops())),
        placement=_placement(compiled, profiles[counted]),
        slowest=_slowest(profiles[-1]),
        outputs=[entry for present in presenters for entry in present(arrays)],
        read_seconds=read_seconds,
        compile_seconds=compile_seconds,
        first_milliseconds=latencies[0],
        milliseconds=latencies[counted],
        transfer_milliseconds=_median([_transfers(profile) for profile in profiles[counted]]),
    )


def read_model(core: Core, path: Path, extensions: Sequence[Path | str], progress: Progress) -> Model:
    """Read a model file. ``progress(text, done, total)`` is called for each percent. Raises HeteroError."""

    def report(fraction: float, total: int, completed: int) -> None:
        if completed * 100 // total > (completed - 1) * 100 // total:
            progress("Reading the model", completed, total)

    progress("Reading the model", 0, 1)
    core.add_extension([*extensions, ProgressReporterExtension(report)])
    return core.read_model(path)


@contextmanager
def placement_log_muted() -> Iterator[None]:
    """Suppress the dispatcher's log line about the placement, because the report contains it."""
    was_disabled, placement_log.disabled = placement_log.disabled, True
    try:
        yield
    finally:
        placement_log.disabled = was_disabled


def _placement(compiled: CompiledModel, profiles: Sequence[Sequence[ProfilingInfo]]) -> Placement | None:
    """Return the placement of a compiled model with times, or None if its device is not HETERO."""
    try:
        report: PlacementReport = compiled.get_property(placement_report)
    except PropertyError:
        return None
    is_timed = compiled.get_property(props.enable_profiling)
    times = [
        [(_milliseconds(part[0]), _transfers(part)) for part in split_by_subgraph(profile)]
        for profile in (profiles if is_timed else ())
    ]
    # If a device failed during the run, earlier inferences had other subgraphs.
    times = [inference for inference in times if len(inference) == len(report.subgraphs)]
    subgraphs = []
    for s in report.subgraphs:
        total, transfers = (_median([inference[s.index][part] for inference in times]) for part in (0, 1))
        subgraphs.append(SubgraphInfo(s.index, s.device, len(s.operations), s.inputs, s.outputs, total, transfers))
    groups: dict[tuple[str, str], Counter[str]] = {}
    for operation in report.elsewhere:
        group = groups.setdefault((operation.device, operation.reason), Counter())
        group[operation.type_name] += 1
    reasons = [Reason(device, reason, dict(types.most_common())) for (device, reason), types in groups.items()]
    return Placement(report.summary(), report.counts, subgraphs, reasons)


def split_by_subgraph(profile: Sequence[ProfilingInfo]) -> list[Sequence[ProfilingInfo]]:
    """Split a profile into one part per subgraph: first the entry of the subgraph, then those of its device."""
    starts = [index for index, info in enumerate(profile) if info.node_type == SUBGRAPH]
    return [profile[start:end] for start, end in zip(starts, [*starts[1:], len(profile)])]


def _transfers(profile: Sequence[ProfilingInfo]) -> float | None:
    """Return the milliseconds of all transfers to and from devices, or None without PERF_COUNT."""
    first = next((index for index, info in enumerate(profile) if info.node_type == SUBGRAPH), 0)
    stages = [info for info in profile[first:] if info.node_type == STAGE and info.node_name.endswith(TRANSFERS)]
    return sum(map(_milliseconds, stages)) if stages else None


def _median(times: Sequence[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return median(known) if known and len(known) == len(times) else None


def _milliseconds(info: ProfilingInfo) -> float:
    return info.real_time / timedelta(milliseconds=1)


def _slowest(profile: Sequence[ProfilingInfo]) -> list[OperationTime]:
    operations = [info for info in profile if info.node_type not in (SUBGRAPH, STAGE)]
    operations.sort(key=lambda info: info.real_time, reverse=True)
    return [OperationTime(i.node_name, i.node_type, i.exec_type, _milliseconds(i)) for i in operations[:SLOWEST]]

"""Execution of a YAML run: read, compile, infer, and report as plain data."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.dispatch.execution.infer_request import placement_report
from hetero.dispatch.plugin import affinities
from hetero.dispatch.report import PlacementReport
from hetero.frontend.source import record_files
from hetero.graph import Model, is_terminal, port_name
from hetero.plugin import ProfilingInfo
from hetero.plugin.requests.profiling import STAGE, SUBGRAPH
from hetero.run.devices import DeviceInfo, find_devices
from hetero.run.model_files import Progress, compile_model, is_blob, read_model
from hetero.run.yaml_runs.config import ChainConfig, ModelConfig, RunConfig, picture_of
from hetero.run.yaml_runs.config_inputs import source_of
from hetero.run.yaml_runs.config_section import EntryError
from hetero.run.yaml_runs.inputs import ModelResults, find_output, make_inputs
from hetero.run.yaml_runs.outputs import Presenter, make_presenters
from hetero.run.yaml_runs.sources import refuse_overwriting
from hetero.runtime import CompiledModel, Core
from hetero.system.errors import PropertyError

# Number of slowest operations in a report.
SLOWEST = 10
# Number of inferences at the end of a run, of which a report has the median times of subgraphs.
PROFILES = 1000
# Stages of a request that transfer inputs to the device and outputs from it.
TRANSFERS = ("preprocess", "postprocess")


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
class PlacementInfo:
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
class ModelReport:
    """The report of a model. Times are in milliseconds for each iteration, which is ``inferences`` inferences.

    ``operations`` is None for a compiled model, whose number of operations is not known.
    """

    name: str
    model: str
    device: str
    operations: int | None
    placement: PlacementInfo | None
    slowest: list[OperationTime]
    outputs: list[dict[str, Any]]
    read_seconds: float
    compile_seconds: float
    inferences: int
    first_milliseconds: float
    milliseconds: list[float]
    transfer_milliseconds: float | None


@dataclass(frozen=True)
class RunReport:
    """The report of a run: the devices, and each model in the order of execution."""

    devices: list[DeviceInfo]
    unavailable: dict[str, str]
    models: list[ModelReport]


@dataclass
class _ReadModel:
    """A model that has been read, or a compiled model that has been imported."""

    config: ModelConfig
    core: Core
    model: Model | CompiledModel
    presenters: list[Presenter]
    read_seconds: float
    files: list[Path]


def run(config: RunConfig | ChainConfig, progress: Progress = lambda text, done, total: None) -> RunReport:
    """Execute a run. ``progress(text, done, total)`` is called before each step. Raises HeteroError.

    If there are several ``iterations``, one more comes first as a warm-up and is reported separately. Nothing runs
    before all models are read and checked, and no file is written if an output cannot be presented.
    """
    models: dict[str, _ReadModel] = {}
    for name, part in config.chain().items():
        with _located_errors(config, name):
            models[name] = _read(part, models, progress)
    refuse_overwriting(config.files_written(), [file for read in models.values() for file in read.files])

    reports: list[ModelReport] = []
    results: dict[str, ModelResults] = {}
    for name, read in models.items():
        with _located_errors(config, name):
            report, results[name] = _run_model(name, read, results, config.iterations, progress)
        reports.append(report)

    for writing in (False, True):
        for name, read, report in zip(models, models.values(), reports):
            with _located_errors(config, name):
                for presenter in read.presenters:
                    if presenter.writes == writing:
                        report.outputs.extend(presenter.present(results[name].arrays))
    core = next(iter(models.values())).core
    return RunReport(find_devices(core), core.unavailable_devices, reports)


@contextmanager
def _located_errors(config: RunConfig | ChainConfig, name: str) -> Iterator[None]:
    """Add the place in the YAML file to errors in a model's section."""
    try:
        yield
    except EntryError as error:
        raise config.locate(name, error) from error


def _read(config: ModelConfig, earlier: Mapping[str, _ReadModel], progress: Progress) -> _ReadModel:
    """Read a model, and check the outputs of models that its inputs refer to."""
    core = Core()
    started = time.perf_counter()
    model: Model | CompiledModel
    with record_files() as files:
        if is_blob(config.model):
            model = _import(core, config, progress)
        else:
            model = read_model(core, config.model, config.extensions, progress)
    seconds = time.perf_counter() - started
    for key, spec in config.inputs.items():
        if source := source_of(spec):
            try:
                find_output(earlier[source.model].model.outputs, source.output)
            except ValueError as error:
                raise EntryError(("inputs", key), error) from error
    return _ReadModel(config, core, model, make_presenters(config.outputs, model), seconds, [*map(Path, files)])


def _import(core: Core, config: ModelConfig, progress: Progress) -> CompiledModel:
    """Import a compiled model."""
    if config.affinities:
        raise EntryError(("affinities",), f"{config.model} is compiled already: give them to hetero compile")
    progress(f"Importing for {config.device}", 0, 1)
    core.add_extension(config.extensions)
    return compile_model(core, config.model, config.device, config.properties)


def _run_model(
    name: str, read: _ReadModel, earlier: Mapping[str, ModelResults], iterations: int, progress: Progress
) -> tuple[ModelReport, ModelResults]:
    """Compile a model and run it. The report has no outputs yet."""
    config, model = read.config, read.model
    inputs = make_inputs(model.inputs, config.inputs, model.outputs, earlier)
    total = iterations * inputs.count + 2
    progress(f"Compiling for {config.device}", 1, total)
    started = time.perf_counter()
    properties = dict(config.properties)
    if config.affinities:
        properties[affinities] = config.affinities
    if isinstance(model, CompiledModel):
        compiled, operations = model, None
    else:
        compiled = compile_model(read.core, model, config.device, properties)
        operations = sum(not is_terminal(node) for node in model.get_ordered_ops())
    compile_seconds = time.perf_counter() - started

    request = compiled.create_infer_request()
    names = [port_name(port) for port in compiled.outputs]
    latencies: list[float] = []
    profiles: deque[Sequence[ProfilingInfo]] = deque(maxlen=PROFILES)
    warm_up = iterations > 1
    for iteration in range(iterations + warm_up):
        if iteration == warm_up:
            profiles.clear()
        arrays: dict[str, list[np.ndarray]] = {output: [] for output in names}
        outputs: dict[str, np.ndarray] = {}
        latencies.append(0.0)
        for index in range(inputs.count):
            done = max(0, iteration - warm_up) * inputs.count + index
            progress(f"Running on {config.device}", 2 + done, total)
            feeds = inputs.for_inference(index, outputs)
            # Shared arrays are those of the last inference only.
            outcome = request.infer(feeds, share_inputs=True, share_outputs=inputs.count == 1)
            outputs = dict(zip(names, outcome.to_tuple()))
            for output, array in outputs.items():
                arrays[output].append(array)
            latencies[-1] += request.latency
            profiles.append(request.get_profiling_info())
    progress("Done", total, total)

    transfers = _median([_transfers(profile) for profile in profiles])
    report = ModelReport(
        name=name,
        model=str(config.model),
        device=config.device,
        operations=operations,
        placement=placement_of(compiled, profiles),
        slowest=slowest_operations(profiles[-1]) if profiles else [],
        outputs=[],
        read_seconds=read.read_seconds,
        compile_seconds=compile_seconds,
        inferences=inputs.count,
        first_milliseconds=latencies[0],
        milliseconds=latencies[int(warm_up) :],
        transfer_milliseconds=None if transfers is None else transfers * inputs.count,
    )
    return report, ModelResults(model.outputs, arrays, picture_of(config))


def placement_of(compiled: CompiledModel, profiles: Sequence[Sequence[ProfilingInfo]]) -> PlacementInfo | None:
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
    return PlacementInfo(report.summary(), report.counts, subgraphs, reasons)


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


def slowest_operations(profile: Sequence[ProfilingInfo]) -> list[OperationTime]:
    operations = [info for info in profile if info.node_type not in (SUBGRAPH, STAGE)]
    operations.sort(key=lambda info: info.real_time, reverse=True)
    return [OperationTime(i.node_name, i.node_type, i.exec_type, _milliseconds(i)) for i in operations[:SLOWEST]]

"""Data of a report page: placement, times, a timeline of overlapped requests, and live memory of a compiled model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.dispatch.cutting.plan import byte_size
from hetero.dispatch.devices import parse_device_name
from hetero.dispatch.drawing.picture import COLORS
from hetero.dispatch.execution.infer_request import placement_report
from hetero.dispatch.report import BoundaryReport, FailureReport, PlacementReport
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, execution, is_terminal, port_name
from hetero.graph.rt_info import AFFINITY
from hetero.graph.unique_names import make_names_unique
from hetero.plugin import ProfilingInfo
from hetero.run.model_files import Progress, placement_log_muted
from hetero.run.yaml_runs.runner import SubgraphInfo, placement_of
from hetero.runtime import AsyncInferQueue, CompiledModel, Core
from hetero.system.errors import ConfigError
from hetero.system.tracing import Recorder, Span

# Inferences of one request, of which the page has mean times, and of each overlapped request in the timeline.
INFERENCES, ROUNDS = 10, 3
# Operations that the type of a fused step names.
MAX_TYPES = 4
# Spans of a request that its row of the timeline shows; a step contains all others.
SHOWN_SPANS = ("subgraph ", "copy of ")


@dataclass(frozen=True)
class DeviceData:
    """A device, and the colors of its boxes and of their text."""

    name: str
    fill: str
    text: str


@dataclass(frozen=True)
class NodeData:
    """An operation, or an input or output of the model, which has no device.

    ``outputs`` are types and shapes; ``inputs`` pairs the index of a node with the number of its output.
    """

    name: str
    type_name: str
    device: str | None
    reason: str
    subgraph: int | None
    work: float
    outputs: list[str]
    inputs: list[tuple[int, int]]


@dataclass(frozen=True)
class StepData:
    """One step that a device executes: one operation or several fused ones, by the names in the model.

    ``live_bytes`` is the size of all values that this step or a later one reads, and of those that it writes, without
    weights. ``milliseconds`` is the mean time, None if the device does not report it.
    """

    name: str
    type_name: str
    kernel: str
    device: str
    operations: list[str]
    milliseconds: float | None
    live_bytes: int


@dataclass(frozen=True)
class SpanData:
    """A step or a copy of one of the overlapped requests. Times are in milliseconds from the first span's begin."""

    name: str
    device: str
    request: int
    start: float
    end: float


@dataclass(frozen=True)
class ReportData:
    """Everything that a report page shows."""

    model: str
    device: str
    summary: str
    devices: list[DeviceData]
    nodes: list[NodeData]
    subgraphs: list[SubgraphInfo]
    boundaries: tuple[BoundaryReport, ...]
    failures: tuple[FailureReport, ...]
    steps: list[StepData]
    unknown_sizes: int
    spans: list[SpanData]
    latency: float
    throughput: float


def report_data(
    core: Core,
    model: Model,
    name: str,
    device: str,
    inputs: Sequence[np.ndarray],
    properties: Mapping[str, Any],
    progress: Progress,
) -> ReportData:
    """Compile a model, measure it and return the data of its page. A device of its own is run by HETERO.

    Raises ConfigError for AUTO, MULTI and BATCH, which have no placement.
    """
    kind = parse_device_name(device).kind
    if kind in ("AUTO", "MULTI", "BATCH"):
        raise ConfigError(f"{device} runs whole models and has no placement to report: use HETERO:A,B or one device")
    if kind != "HETERO":
        device = f"HETERO:{device}"
    progress(f"Compiling for {device}", 0, 3)
    make_names_unique(model)
    with placement_log_muted():
        compiled = core.compile_model(model, device, {**properties, props.enable_profiling: True})
    progress(f"Measuring {device}", 1, 3)
    profiles, latency = _run_alone(compiled, inputs)
    progress("Overlapping requests", 2, 3)
    spans, throughput = _run_overlapped(compiled, inputs)
    report: PlacementReport = compiled.get_property(placement_report)
    placement = placement_of(compiled, profiles)
    assert placement is not None  # the device is HETERO
    steps, unknown_sizes = executed_steps(compiled.get_runtime_model())
    types = {operation.name: operation.type_name for operation in report.operations}
    steps = [replace(step, type_name=_fused_type(step, types)) for step in steps]
    return ReportData(
        name, device, placement.summary,
        [DeviceData(name, *COLORS[index % len(COLORS)]) for index, name in enumerate(report.devices)],
        graph_nodes(model, report), placement.subgraphs, report.boundaries, report.failures, steps, unknown_sizes,
        timeline(spans), latency, throughput,
    )  # fmt: skip


def graph_nodes(model: Model, report: PlacementReport) -> list[NodeData]:
    """Return all nodes of a model but Constants, in topological order."""
    placed = {operation.name: operation for operation in report.operations}
    index_of: dict[Node, int] = {}
    nodes: list[NodeData] = []
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            continue
        index_of[node] = len(nodes)
        outputs = [f"{value.element_type}{value.partial_shape.described()}" for value in node.outputs()]
        inputs = [(index_of[v.node], v.index) for v in node.input_values() if v.node in index_of]
        where = placed.get(node.friendly_name) if not is_terminal(node) else None
        if where:
            nodes.append(
                NodeData(
                    where.name, where.type_name, where.device, where.reason, where.subgraph, where.work, outputs, inputs
                )
            )
        else:
            nodes.append(NodeData(_end_name(node), node.type_info.name, None, "", None, 0.0, outputs, inputs))
    return nodes


def executed_steps(runtime_model: Model) -> tuple[list[StepData], int]:
    """Return the steps of a runtime model in execution order, and how many of their values have no known size."""
    order = sorted(runtime_model.get_ordered_ops(), key=lambda node: int(node.rt_info.get(execution.EXECUTION_ORDER)))
    steps = [node for node in order if not _is_end(node)]
    position = {node: index for index, node in enumerate(steps)}
    live = np.zeros(len(steps) + 1, np.int64)  # differences between one step and the next
    unknown_sizes = 0
    writers = [node for node in order if not (isinstance(node, Result) or _is_constant(node))]
    for value in (value for node in writers for value in node.outputs()):
        size = byte_size(value)
        if size is None:
            unknown_sizes += 1
            continue
        live[position.get(value.node, 0)] += size
        live[_last_reader(value, position) + 1] -= size
    return [_step_data(node, int(now)) for node, now in zip(steps, live.cumsum())], unknown_sizes


def timeline(spans: Sequence[Span]) -> list[SpanData]:
    """Return the steps and copies among the spans of a trace, with requests numbered from 0."""
    shown = sorted((s for s in spans if s.name.startswith(SHOWN_SPANS)), key=lambda s: s.start)
    requests = {number: index for index, number in enumerate(sorted({s.request or 0 for s in shown}))}
    begin = shown[0].start if shown else 0
    return [
        SpanData(s.name, s.device, requests[s.request or 0], (s.start - begin) / 1e6, (s.end - begin) / 1e6)
        for s in shown
    ]


def _run_alone(compiled: CompiledModel, inputs: Sequence[np.ndarray]) -> tuple[list[Sequence[ProfilingInfo]], float]:
    """Run one request after a warm-up. Return its profiles and the mean latency in milliseconds."""
    request = compiled.create_infer_request()
    profiles: list[Sequence[ProfilingInfo]] = []
    latencies: list[float] = []
    for _ in range(1 + INFERENCES):
        request.infer(list(inputs), share_inputs=True, share_outputs=True)
        profiles.append(request.get_profiling_info())
        latencies.append(request.latency)
    return profiles[1:], float(np.mean(latencies[1:]))


def _run_overlapped(compiled: CompiledModel, inputs: Sequence[np.ndarray]) -> tuple[list[Span], float]:
    """Run several requests at once. Return the spans and the inferences per second."""
    queue = AsyncInferQueue(compiled, max(2, compiled.get_property(props.optimal_number_of_infer_requests)))
    for request in queue:
        request.infer(list(inputs), share_inputs=True, share_outputs=True)
    count = ROUNDS * len(queue)
    with Recorder() as recorder:
        started = time.perf_counter()
        for _ in range(count):
            queue.start_async(list(inputs), share_inputs=True)
        queue.wait_all()
        seconds = time.perf_counter() - started
    return recorder.spans, count / seconds


def _last_reader(value: Output, position: Mapping[Node, int]) -> int:
    """Return the last step that needs a value; outputs of the model are needed until the end."""
    readers = [port.node for port in value.get_target_inputs()]
    if any(isinstance(node, Result) for node in readers):
        return len(position) - 1
    return max((position[node] for node in [value.node, *readers] if node in position), default=0)


def _step_data(node: Node, live_bytes: int) -> StepData:
    info = node.rt_info
    microseconds = info.get(execution.EXECUTION_TIME)
    return StepData(
        node.friendly_name,
        info.get(execution.LAYER_TYPE),
        info.get(execution.IMPLEMENTATION),
        info.get(AFFINITY, ""),
        info.get(execution.ORIGINAL_LAYERS).split(","),
        None if microseconds == execution.NOT_EXECUTED else int(microseconds) / 1e3,
        live_bytes,
    )


def _fused_type(step: StepData, types: Mapping[str, str]) -> str:
    """Return "Convolution + Add + Relu" for a step that runs several operations, for which devices have other names."""
    known = [types[name] for name in step.operations if name in types]
    more = f" + {len(known) - MAX_TYPES} more" if len(known) > MAX_TYPES else ""
    return " + ".join(known[:MAX_TYPES]) + more if len(known) > 1 else step.type_name


def _is_end(node: Node) -> bool:
    return isinstance(node, (Parameter, Result)) or _is_constant(node)


def _is_constant(node: Node) -> bool:
    return node.rt_info.get(execution.LAYER_TYPE) in ("Const", "Constant")


def _end_name(node: Node) -> str:
    return port_name(node.output(0) if isinstance(node, Parameter) else node.input_value(0))

"""Calibration: measures each operation of a model on each device that supports it, for placement by cost.

The model is compiled with each device as the first in the order of priority, with and without PERF_COUNT. The times
that a device reports for its operations are scaled to the measured time of its subgraphs, and the time of a fused
operation is divided among the operations that it replaces. Then MIN_CUT's placement is measured. If it is not faster
than all placements before, this is repeated with a higher overhead per subgraph. If no attempt is faster, the model
is not cut.
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.core.types import Type
from hetero.dispatch.cost.database import MARGIN, CostDatabase, CostModel, OperationTimes, model_key
from hetero.dispatch.devices import ListedDevice, with_processors
from hetero.dispatch.report import PlacementReport
from hetero.graph import ExecutionNode, Model, Node, execution, is_constant, is_terminal, port_name
from hetero.graph.unique_names import make_names_unique
from hetero.ops.work_estimate import Shape, assumed_shape
from hetero.plugin.requests.profiling import operation_times
from hetero.run.model_files import Progress, placement_log_muted
from hetero.run.yaml_runs.runner import split_by_subgraph
from hetero.runtime import CompiledModel, Core
from hetero.system.errors import ConfigError

# Measurement stops after MAX_ROUNDS, or when the time is over and MIN_ROUNDS are done.
MIN_ROUNDS, MAX_ROUNDS = 5, 30
# Number of placements by MIN_CUT that are tried. The overhead of a subgraph is multiplied by the factor each time.
MAX_ATTEMPTS, OVERHEAD_FACTOR = 4, 4.0
# Number of operations in a report.
MAX_OPERATIONS = 15


@dataclass(frozen=True)
class OperationCost:
    """An operation: milliseconds on each device that supports it, and the device on which MIN_CUT places it."""

    name: str
    type_name: str
    milliseconds: dict[str, float]
    device: str


@dataclass(frozen=True)
class Calibration:
    """The result: the slowest operations, and milliseconds of an inference for each placement."""

    operations: list[OperationCost]
    milliseconds: dict[str, float]
    summary: str
    input_shapes: dict[str, list[int]]


def example_inputs(model: Model | CompiledModel, shapes: Mapping[str, Shape], seed: int = 0) -> list[np.ndarray]:
    """Return an array for each input: normally distributed for real types, zeros (always valid indices) for others.

    ``shapes``: shapes by input name. Other inputs use their static shape or an assumed one. Raises ConfigError for an
    unknown name or a shape that does not fit.
    """
    by_name = {port_name(port): port for port in model.inputs}
    for name, shape in shapes.items():
        if name not in by_name:
            raise ConfigError(f"the model has no input {name}; it has {', '.join(by_name)}")
        taken = by_name[name].partial_shape
        if not taken.compatible(shape) or min(shape, default=0) < 0:
            raise ConfigError(f"input {name} takes the shape {taken.described()}, not {list(shape)}: give its lengths")
    generator, arrays = np.random.default_rng(seed), []
    for name, port in by_name.items():
        shape = shapes.get(name, assumed_shape(port.partial_shape))
        kind = Type.f32 if port.element_type.is_dynamic() else port.element_type
        array = generator.standard_normal(shape, np.float32) if kind.is_real() else np.zeros(shape, kind.to_dtype())
        arrays.append(array.astype(kind.to_dtype()))
    return arrays


def calibrate(
    core: Core,
    model: Model,
    device: str,
    inputs: Sequence[np.ndarray],
    config: Mapping[str, Any] | None = None,
    seconds: float = 10.0,
    progress: Progress = lambda text, done, total: None,
) -> Calibration:
    """Measure the operations of a model on the devices of ``HETERO:A,B``, and store the times in COSTS_DIR.

    ``seconds``: approximate time to measure each device. Raises ConfigError if ``device`` names no devices.
    """
    return _Calibration(core, model, device, inputs, config or {}, seconds, progress).run()


class _ProfiledModel:
    """A compiled model that is measured repeatedly: median times of inferences, subgraphs and steps."""

    def __init__(self, compiled: CompiledModel, inputs: Sequence[np.ndarray]) -> None:
        self.compiled = compiled
        self.report: PlacementReport = compiled.get_property("PLACEMENT_REPORT")
        self._request = compiled.create_infer_request()
        self._request.infer(list(inputs), share_outputs=True)
        self._seconds: list[float] = []
        # Seconds of each subgraph by its index, and of its steps by name; one entry per inference.
        self._subgraphs: dict[int, list[float]] = defaultdict(list)
        self._steps: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    @property
    def seconds(self) -> float:
        """Median time of an inference."""
        return median(self._seconds)

    @property
    def subgraphs(self) -> dict[int, float]:
        """Median time of each subgraph by its index."""
        return {index: median(times) for index, times in self._subgraphs.items()}

    def steps(self, subgraph: int) -> dict[str, float]:
        """Return the median time of each step of a subgraph by its name."""
        return {name: median(times) for name, times in self._steps[subgraph].items()}

    def measure(self) -> float:
        """Measure one inference and return its seconds."""
        self._request.infer(share_outputs=True)  # wakes sleeping threads
        started = time.perf_counter()
        self._request.infer(share_outputs=True)
        elapsed = time.perf_counter() - started
        self._seconds.append(elapsed)
        for index, part in enumerate(split_by_subgraph(self._request.get_profiling_info())):
            self._subgraphs[index].append(part[0].real_time.total_seconds())
            for name, step_time in operation_times(part[1:]).items():
                self._steps[index][name].append(step_time.total_seconds())
        return elapsed


@dataclass
class _Calibration:
    """One call of calibrate()."""

    core: Core
    model: Model
    device: str
    inputs: Sequence[np.ndarray]
    config: Mapping[str, Any]
    seconds: float
    progress: Progress

    def __post_init__(self) -> None:
        names = with_processors(
            self.core.host, self.core.resolve_device(self.device)[1].get(props.device.priorities, ())
        )
        if not names:
            raise ConfigError(f"{self.device} names no devices to calibrate: use HETERO:A,B")
        self._key = model_key(self.model)
        make_names_unique(self.model)
        self._database = CostDatabase(self.config.get("COSTS_DIR", ""))
        self._devices = [ListedDevice(name, *self.core.resolve_device(name)) for name in names]
        self._nodes = {node.friendly_name: node for node in self.model.get_ordered_ops() if not is_terminal(node)}
        self._done, self._total = 0, 2 * len(names) + 3

    def run(self) -> Calibration:
        self._database.write_input_shapes(self._key, [array.shape for array in self.inputs])
        plain, profiled = {}, {}
        for device in self._devices:
            self._report_progress(f"Compiling for {device.name}")
            plain[device] = self._compile(device)
            profiled[device] = self._compile(device, PERF_COUNT=True)
        self._report_progress("Measuring operations")
        self._measure([*plain.values(), *profiled.values()], len(plain))
        times = {device: self._operation_times(device, plain[device], profiled[device]) for device in self._devices}
        profiled.clear()
        return self._result(plain, self._try_cuts(plain, times))

    def _report_progress(self, text: str) -> None:
        self.progress(text, self._done, self._total)
        self._done += 1

    def _compile(self, first: ListedDevice | None, **options: Any) -> _ProfiledModel:
        """Compile the model with all operations that ``first`` supports on it, or as MIN_CUT places them if None."""
        names = [device.name for device in self._devices]
        if first is not None:
            names = [first.name, *(name for name in names if name != first.name)]
        options = {**self.config, "PLACEMENT": "GREEDY" if first else "MIN_CUT", **options}
        kind = self.device.partition(":")[0]
        with placement_log_muted():
            compiled = self.core.compile_model(self.model, f"{kind}:{','.join(names)}", options)
        return _ProfiledModel(compiled, self.inputs)

    def _measure(self, candidates: Sequence[_ProfiledModel], count: int = 1) -> list[list[float]]:
        """Return the seconds of each candidate in each round, after ``count`` times the time for one device.

        The candidates run in turn, so that other work on the machine disturbs all of them equally.
        """
        started, rounds = time.perf_counter(), []
        for index in range(MAX_ROUNDS):
            rounds.append([candidate.measure() for candidate in candidates])
            if index >= MIN_ROUNDS and time.perf_counter() - started > self.seconds * count:
                break
        return rounds

    def _operation_times(self, device: ListedDevice, plain: _ProfiledModel, profiled: _ProfiledModel) -> OperationTimes:
        """Return the seconds of each operation on a device; 0 if the device fused it into another operation."""
        costs = CostModel(self.model, self._key, [device], self._database)
        seconds_of: dict[str, float] = {}
        originals = _originals(profiled.compiled)
        # PERF_COUNT itself takes time.
        scale = plain.seconds / sum(profiled.subgraphs.values())
        for subgraph in profiled.report.subgraphs:
            if subgraph.device == device.name:
                seconds_of |= dict.fromkeys(subgraph.operations, 0.0)
                total = scale * profiled.subgraphs[subgraph.index]
                own = self._without_overhead(total, subgraph.operations, costs, device)
                steps = profiled.steps(subgraph.index) or {f"subgraph {subgraph.index}": own}
                for name, seconds in _scale_steps(steps, own).items():
                    nodes = [self._nodes[n] for n in originals.get(name, (name,)) if n in self._nodes]
                    for node, part in _shares(nodes, costs, device):
                        seconds_of[node.friendly_name] = seconds_of.get(node.friendly_name, 0.0) + part * seconds
        by_key: dict[str, list[float]] = defaultdict(list)
        for name, seconds in seconds_of.items():
            by_key[costs.key(self._nodes[name])].append(seconds)
        return OperationTimes({key: fmean(times) for key, times in by_key.items()}, costs.benchmark(device).subgraph)

    def _without_overhead(self, seconds: float, names: Sequence[str], costs: CostModel, device: ListedDevice) -> float:
        """Return the part of a subgraph's time that its operations take, without transfers and overhead."""
        nodes = {self._nodes[name] for name in names}
        read = {value for node in nodes for value in node.input_values() if value.node not in nodes}
        arriving = [value for value in read if not is_constant(value)]
        leaving = [
            v for node in nodes for v in node.outputs() if any(t.node not in nodes for t in v.get_target_inputs())
        ]
        transfers = sum(costs.arrive(v, device) for v in arriving) + sum(costs.leave(v, device) for v in leaving)
        # The estimates may be wrong: leave at least half of the time to the operations.
        return max(seconds - transfers - costs.benchmark(device).subgraph, seconds / 2)

    def _try_cuts(
        self, plain: Mapping[ListedDevice, _ProfiledModel], times: Mapping[ListedDevice, OperationTimes]
    ) -> _ProfiledModel:
        """Return a candidate with MIN_CUT's placement that is faster than all in ``plain``, or one of ``plain``."""
        self._report_progress("Measuring MIN_CUT")
        for attempt in range(MAX_ATTEMPTS):
            self._store_times(times, OVERHEAD_FACTOR**attempt)
            candidate = self._compile(None)
            same = _with_same_placement(plain, candidate)
            if same and not attempt:
                return same
            if same:
                break
            rounds = self._measure([candidate, *plain.values()])
            ratios = [median(own / others[index] for own, *others in rounds) for index in range(len(plain))]
            if max(ratios) < 1 - MARGIN:
                return candidate
        self._store_times(times, 1.0, margin=1.0)
        candidate = self._compile(None)
        return _with_same_placement(plain, candidate) or candidate

    def _store_times(
        self, times: Mapping[ListedDevice, OperationTimes], factor: float, margin: float | None = None
    ) -> None:
        for device, measured in times.items():
            adjusted = dataclasses.replace(measured, subgraph=(measured.subgraph or 0.0) * factor, margin=margin)
            self._database.write_operation_times(device, self._key, adjusted)

    def _result(self, plain: Mapping[ListedDevice, _ProfiledModel], min_cut: _ProfiledModel) -> Calibration:
        costs = CostModel(self.model, self._key, self._devices, self._database)
        supported = {
            d.name: {o for s in plain[d].report.subgraphs if s.device == d.name for o in s.operations} for d in plain
        }
        placement = _placement(min_cut)
        operations = []
        for name, node in self._nodes.items():
            times = {d.name: costs.operation(node, d) * 1e3 for d in self._devices if name in supported[d.name]}
            if times and name in placement:
                operations.append(OperationCost(name, node.type_info.name, times, placement[name]))
        operations.sort(key=lambda operation: -max(operation.milliseconds.values()))
        milliseconds = {f"{device.name} first": candidate.seconds * 1e3 for device, candidate in plain.items()}
        shapes = {port_name(port): list(array.shape) for port, array in zip(self.model.inputs, self.inputs)}
        milliseconds["MIN_CUT"] = min_cut.seconds * 1e3
        return Calibration(operations[:MAX_OPERATIONS], milliseconds, min_cut.report.summary(), shapes)


def _placement(candidate: _ProfiledModel) -> dict[str, str]:
    """Return the device of each operation."""
    return {name: subgraph.device for subgraph in candidate.report.subgraphs for name in subgraph.operations}


def _with_same_placement(
    plain: Mapping[ListedDevice, _ProfiledModel], candidate: _ProfiledModel
) -> _ProfiledModel | None:
    return next((other for other in plain.values() if _placement(other) == _placement(candidate)), None)


def _originals(compiled: CompiledModel) -> dict[str, list[str]]:
    """Return the names of the operations that each step of the runtime model replaces."""
    steps = [node for node in compiled.get_runtime_model().get_ordered_ops() if isinstance(node, ExecutionNode)]
    return {node.friendly_name: node.rt_info.get(execution.ORIGINAL_LAYERS).split(",") for node in steps}


def _scale_steps(steps: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Adjust the seconds of the steps to a given sum.

    If their sum is too large, because PERF_COUNT takes time, they are scaled. If it is too small, because launches
    between the steps take time, each step gets an equal part of the difference.
    """
    total = sum(steps.values())
    if total > seconds:
        return {name: own * seconds / total for name, own in steps.items()}
    return {name: own + (seconds - total) / len(steps) for name, own in steps.items()}


def _shares(nodes: Sequence[Node], costs: CostModel, device: ListedDevice) -> list[tuple[Node, float]]:
    """Return the share of each node in the time of a fused operation, by estimated cost. The shares sum to 1."""
    weights = [costs.by_work(node, device) for node in nodes]
    total = sum(weights)
    return [(node, weight / total if total else 1 / len(nodes)) for node, weight in zip(nodes, weights)]

"""Calibrating: every operation of a model timed on every device that can run it, for later placements by cost.

The model runs once with each device as the first, as far as that goes, with PERF_COUNT and without. What a device tells
of its operations is brought to what its subgraphs really take, and the time of fused operations is shared out among the
operations that they came from. In the end MIN_CUT's placement runs too: where it is not faster than those before,
another one is tried for which subgraphs are dearer, and in the end none is cut.
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.dispatch.affinity import is_placed
from hetero.dispatch.cost.database import CostDatabase, OperationTimes, model_key
from hetero.dispatch.cost.model import MARGIN, CostModel
from hetero.dispatch.device import Device
from hetero.dispatch.report import PlacementReport
from hetero.errors import ConfigError
from hetero.graph import ExecutionNode, Model, Node, Output, execution, is_constant, port_name
from hetero.ops.work_estimate import Shape, assumed_shape
from hetero.passes.unique_names import make_names_unique
from hetero.plugin import ProfilingInfo
from hetero.plugin.profiling import STAGE
from hetero.run.runner import told_in_the_report
from hetero.runtime import CompiledModel, Core
from hetero.types import Type

Progress = Callable[[str, int, int], None]

# Rounds of measuring, fewer where they take longer than so many seconds, but never less than the least.
MOST_ROUNDS, LEAST_ROUNDS = 30, 5
# How many cuts are tried, and by what factor subgraphs are dearer each time.
CUTS, FACTOR = 4, 4.0
MOST_SHOWN = 15


@dataclass(frozen=True)
class OperationCost:
    """An operation: milliseconds on each device that can run it, and the device that MIN_CUT gives it to."""

    name: str
    type_name: str
    milliseconds: dict[str, float]
    device: str


@dataclass(frozen=True)
class Calibration:
    """What was measured: the slowest operations, and milliseconds of an inference by placement."""

    operations: list[OperationCost]
    milliseconds: dict[str, float]
    summary: str
    input_shapes: dict[str, list[int]]


def parse_shapes(texts: Sequence[str]) -> dict[str, Shape]:
    """Shapes by the names of inputs from ``NAME=1,3,224,224``. Raises ConfigError for another form."""
    shapes = {}
    for text in texts:
        name, _, lengths = text.rpartition("=")
        try:
            shapes[name] = tuple(int(length) for length in lengths.strip("[] ").split(",") if length.strip())
        except ValueError:
            name = ""
        if not name:
            raise ConfigError(f"--shape {text} is not of the form NAME=1,3,224,224")
    return shapes


def example_inputs(model: Model, shapes: Mapping[str, Shape]) -> list[np.ndarray]:
    """An array for each input: normal numbers, or zeros of whole ones, which as indices are always right.

    ``shapes`` by name; what is left out is static, or assumed. Raises ConfigError for a name or a shape that does not
    fit.
    """
    by_name = {port_name(port): port for port in model.inputs}
    for name, shape in shapes.items():
        if name not in by_name:
            raise ConfigError(f"the model has no input {name}: it has {', '.join(by_name)}")
        if not by_name[name].partial_shape.compatible(shape):
            raise ConfigError(f"input {name} takes the shape {by_name[name].partial_shape}, not {list(shape)}")
    generator = np.random.default_rng(0)
    return [_example(port, shapes.get(name), generator) for name, port in by_name.items()]


def _example(port: Output, shape: Shape | None, generator: np.random.Generator) -> np.ndarray:
    shape = assumed_shape(port.partial_shape) if shape is None else shape
    kind = Type.f32 if port.element_type.is_dynamic() else port.element_type
    if kind.is_real():
        return generator.standard_normal(shape, np.float32).astype(kind.to_dtype())
    return np.zeros(shape, kind.to_dtype())


def calibrate(
    core: Core,
    model: Model,
    device: str,
    inputs: Sequence[np.ndarray],
    config: Mapping[str, Any] | None = None,
    seconds: float = 10.0,
    progress: Progress = lambda text, done, total: None,
) -> Calibration:
    """Time the operations of a model on the devices of ``HETERO:A,B``, and keep the times in COSTS_DIR.

    Measures for about so many seconds for each device. Raises ConfigError where no devices are named.
    """
    return _Calibration(core, model, device, inputs, dict(config or {}), seconds, progress).run()


class _Running:
    """A compiled model that runs again and again: medians of its time, and of the parts that it tells of."""

    def __init__(self, compiled: CompiledModel, inputs: Sequence[np.ndarray]) -> None:
        self.compiled = compiled
        self.report: PlacementReport = compiled.get_property("PLACEMENT_REPORT")
        self._request = compiled.create_infer_request()
        self._request.infer(list(inputs), share_outputs=True)
        self._seconds: list[float] = []
        #: By the index of the subgraph its own seconds in each run, and those of the steps in it by name.
        self._subgraphs: dict[int, list[float]] = defaultdict(list)
        self._steps: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    @property
    def seconds(self) -> float:
        return median(self._seconds)

    @property
    def subgraphs(self) -> dict[int, float]:
        return {index: median(taken) for index, taken in self._subgraphs.items()}

    def steps(self, subgraph: int) -> dict[str, float]:
        return {name: median(taken) for name, taken in self._steps[subgraph].items()}

    def measure(self) -> float:
        self._request.infer(share_outputs=True)  # to wake what has gone to sleep
        started = time.perf_counter()
        self._request.infer(share_outputs=True)
        taken = time.perf_counter() - started
        self._seconds.append(taken)
        for index, part in enumerate(_parts(self._request.get_profiling_info())):
            self._subgraphs[index].append(part[0].real_time.total_seconds())
            sums: dict[str, float] = defaultdict(float)  # of a step that takes several kernels
            for info in part[1:]:
                if info.node_type != STAGE and info.status is ProfilingInfo.EXECUTED:
                    sums[info.node_name] += info.real_time.total_seconds()
            for name, seconds in sums.items():
                self._steps[index][name].append(seconds)
        return taken


def _parts(infos: Sequence[ProfilingInfo]) -> Iterator[Sequence[ProfilingInfo]]:
    """What is told of each subgraph, beginning with the subgraph itself."""
    starts = [index for index, info in enumerate(infos) if info.node_type == "Subgraph"]
    for start, end in zip(starts, [*starts[1:], len(infos)]):
        yield infos[start:end]


class _Calibration:
    def __init__(
        self,
        core: Core,
        model: Model,
        device: str,
        inputs: Sequence[np.ndarray],
        config: dict[str, Any],
        seconds: float,
        progress: Progress,
    ) -> None:
        names = core.resolve_device(device)[1].get(props.device.priorities, ())
        if not names:
            raise ConfigError(f"{device} names no devices to calibrate: write HETERO:A,B")
        self._core, self._model, self._inputs, self._progress = core, model, inputs, progress
        self._key, self._seconds = model_key(model), seconds
        make_names_unique(model)
        self._kind = device.partition(":")[0]
        self._config = config
        self._measured = CostDatabase(config.get("COSTS_DIR", ""))
        self._devices = [Device(name, *core.resolve_device(name)) for name in names]
        self._nodes = {node.friendly_name: node for node in model.get_ordered_ops() if is_placed(node)}
        self._done, self._total = 0, 2 * len(names) + 3

    def run(self) -> Calibration:
        self._measured.write_input_shapes(self._key, [array.shape for array in self._inputs])
        plain, profiled = {}, {}
        for device in self._devices:
            self._tell(f"Compiling for {device.name}")
            plain[device] = self._compile(device)
            profiled[device] = self._compile(device, PERF_COUNT=True)
        self._tell("Measuring operations")
        self._measure([*plain.values(), *profiled.values()], len(plain))
        times = {device: self._operation_times(device, plain[device], profiled[device]) for device in self._devices}
        profiled.clear()
        found = self._try_cuts(plain, times)
        return self._result(plain, found)

    def _tell(self, text: str) -> None:
        self._progress(text, self._done, self._total)
        self._done += 1

    def _compile(self, first: Device | None, **options: Any) -> _Running:
        """All that a device can run there, the rest on the others; without a device where MIN_CUT puts it."""
        names = [device.name for device in self._devices]
        if first is not None:
            names = [first.name, *(name for name in names if name != first.name)]
        options = {**self._config, "PLACEMENT": "GREEDY" if first else "MIN_CUT", **options}
        with told_in_the_report():
            compiled = self._core.compile_model(self._model, f"{self._kind}:{','.join(names)}", options)
        return _Running(compiled, self._inputs)

    def _measure(self, running: Sequence[_Running], count: int = 1) -> list[list[float]]:
        """The seconds of each in every round. All run in turn: what else the machine does disturbs all alike."""
        began, rounds = time.perf_counter(), []
        for index in range(MOST_ROUNDS):
            rounds.append([one.measure() for one in running])
            if index >= LEAST_ROUNDS and time.perf_counter() - began > self._seconds * count:
                break
        return rounds

    def _operation_times(self, device: Device, plain: _Running, profiled: _Running) -> OperationTimes:
        """The seconds of all that ran on a device; what it does not tell of has become a part of something else."""
        costs = CostModel(self._model, self._key, [device], self._measured)
        seconds_of: dict[str, float] = {}
        originals = _originals(profiled.compiled)
        # Being observed takes time too.
        share = plain.seconds / sum(profiled.subgraphs.values())
        for subgraph in profiled.report.subgraphs:
            if subgraph.device == device.name:
                seconds_of |= dict.fromkeys(subgraph.operations, 0.0)
                inside = self._inside(share * profiled.subgraphs[subgraph.index], subgraph.operations, costs, device)
                steps = profiled.steps(subgraph.index) or {f"subgraph {subgraph.index}": inside}
                for name, seconds in _fitted(steps, inside).items():
                    nodes = [self._nodes[n] for n in originals.get(name, (name,)) if n in self._nodes]
                    for node, part in _shares(nodes, costs, device):
                        seconds_of[node.friendly_name] = seconds_of.get(node.friendly_name, 0.0) + part * seconds
        by_key: dict[str, list[float]] = defaultdict(list)
        for name, seconds in seconds_of.items():
            by_key[costs.key(self._nodes[name])].append(seconds)
        return OperationTimes({key: fmean(found) for key, found in by_key.items()}, costs.benchmark(device).subgraph)

    def _inside(self, seconds: float, names: Sequence[str], costs: CostModel, device: Device) -> float:
        """What a subgraph takes for its operations: without its own overhead and what goes in and out."""
        nodes = {self._nodes[name] for name in names}
        read = {value for node in nodes for value in node.input_values() if value.node not in nodes}
        arriving = [value for value in read if not is_constant(value)]
        leaving = [
            v for node in nodes for v in node.outputs() if any(t.node not in nodes for t in v.get_target_inputs())
        ]
        outside = sum(costs.arrive(v, device) for v in arriving) + sum(costs.leave(v, device) for v in leaving)
        # However wrong the figures are, there is something left for the operations.
        return max(seconds - outside - costs.benchmark(device).subgraph, seconds / 2)

    def _try_cuts(self, plain: Mapping[Device, _Running], times: Mapping[Device, OperationTimes]) -> _Running:
        """MIN_CUT's placement, which was measured to be faster than those before, or is one of them."""
        self._tell("Measuring MIN_CUT")
        for attempt in range(CUTS):
            self._keep(times, FACTOR**attempt)
            found = self._compile(None)
            same = self._same(plain, found)
            if same and not attempt:
                return same
            if same:
                break
            rounds = self._measure([found, *plain.values()])
            ratios = [median(own / others[index] for own, *others in rounds) for index in range(len(plain))]
            if max(ratios) < 1 - MARGIN:
                return found
        self._keep(times, 1.0, margin=1.0)
        found = self._compile(None)
        return self._same(plain, found) or found

    def _keep(self, times: Mapping[Device, OperationTimes], factor: float, margin: float | None = None) -> None:
        for device, known in times.items():
            dearer = dataclasses.replace(known, subgraph=known.subgraph * factor, margin=margin)
            self._measured.write_operation_times(device, self._key, dearer)

    def _same(self, plain: Mapping[Device, _Running], found: _Running) -> _Running | None:
        return next((one for one in plain.values() if _homes(one) == _homes(found)), None)

    def _result(self, plain: Mapping[Device, _Running], found: _Running) -> Calibration:
        costs = CostModel(self._model, self._key, self._devices, self._measured)
        able = {
            d.name: {o for s in plain[d].report.subgraphs if s.device == d.name for o in s.operations} for d in plain
        }
        homes = _homes(found)
        operations = []
        for name, node in self._nodes.items():
            on = {d.name: costs.operation(node, d) * 1e3 for d in self._devices if name in able[d.name]}
            if on and name in homes:
                operations.append(OperationCost(name, node.type_info.name, on, homes[name]))
        operations.sort(key=lambda operation: -max(operation.milliseconds.values()))
        milliseconds = {f"{device.name} first": running.seconds * 1e3 for device, running in plain.items()}
        shapes = {port_name(port): list(array.shape) for port, array in zip(self._model.inputs, self._inputs)}
        milliseconds["MIN_CUT"] = found.seconds * 1e3
        return Calibration(operations[:MOST_SHOWN], milliseconds, found.report.summary(), shapes)


def _homes(running: _Running) -> dict[str, str]:
    """The device of each operation that one runs."""
    return {name: subgraph.device for subgraph in running.report.subgraphs for name in subgraph.operations}


def _originals(compiled: CompiledModel) -> dict[str, list[str]]:
    """By the name of each step of a runtime model the operations that it came from."""
    steps = [node for node in compiled.get_runtime_model().get_ordered_ops() if isinstance(node, ExecutionNode)]
    return {node.friendly_name: node.rt_info[execution.ORIGINAL_LAYERS].split(",") for node in steps}


def _fitted(steps: Mapping[str, float], seconds: float) -> dict[str, float]:
    """The seconds of the steps brought to so many in all: what is missing lies between them, what is too much in them.

    Being observed takes time, and launching what is executed does too.
    """
    told = sum(steps.values())
    if told > seconds:
        return {name: own * seconds / told for name, own in steps.items()}
    return {name: own + (seconds - told) / len(steps) for name, own in steps.items()}


def _shares(nodes: Sequence[Node], costs: CostModel, device: Device) -> list[tuple[Node, float]]:
    """The part that each of some operations has in what they take together, by their work."""
    weights = [costs.by_work(node, device) for node in nodes]
    total = sum(weights)
    return [(node, weight / total if total else 1 / len(nodes)) for node, weight in zip(nodes, weights)]

"""What a placement strategy is, and those that go by costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from hetero import properties as props
from hetero.dispatch.affinity import Device
from hetero.dispatch.cost import Costs
from hetero.dispatch.cost_database import CostDatabase, model_key
from hetero.dispatch.groups import Group
from hetero.dispatch.placement.min_cut import min_cut
from hetero.dispatch.placement.pipeline import pipeline
from hetero.dispatch.placement.problem import Choice, Flow, Problem
from hetero.dispatch.support import EstimateError
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.ops.work_estimate import bytes_of

# The devices that each group may go to, in the user's order; of a pinned one that is one.
Candidates = Mapping[Group, Sequence[Device]]
# The device of each group, and why it was chosen; without a reason, because it was the first.
Assignment = Mapping[Group, tuple[Device, str]]
Strategy = Callable[[Model, Candidates], Assignment]

# The end of the key by which a device tells the bytes of its memory, such as OpenVINO's GPU_DEVICE_TOTAL_MEM_SIZE.
TOTAL_MEMORY = "DEVICE_TOTAL_MEM_SIZE"


class Placement(StrEnum):
    """The strategies, as values of the property PLACEMENT."""

    GREEDY = "GREEDY"
    MIN_CUT = "MIN_CUT"
    PIPELINE = "PIPELINE"


class ByCost:
    """A strategy that goes by the costs of a model."""

    def __init__(self, devices: Sequence[Device], measured: CostDatabase) -> None:
        self._devices, self._measured = devices, measured
        self._key: str | None = None

    def _problem(self, model: Model, candidates: Candidates) -> tuple[Problem, Costs]:
        """Return the placement in numbers, and its costs. Raises EstimateError."""
        # The key of the model as the user gave it: when a device fails it is placed again, changed by then.
        self._key = self._key or model_key(model)
        costs = Costs(model, self._key, self._devices, self._measured)
        problem = make_problem(model, candidates, self._devices, costs)
        if costs.failures:
            raise EstimateError(costs.failures)
        return problem, costs

    def min_cut(self, model: Model, candidates: Candidates) -> Assignment:
        problem, costs = self._problem(model, candidates)
        choice = min_cut(problem, costs.margin)
        return self._homes(candidates, choice, [self._why(problem, unit, home) for unit, home in enumerate(choice)])

    def pipeline(self, model: Model, candidates: Candidates) -> Assignment:
        choice = pipeline(self._problem(model, candidates)[0])
        count = len(self._devices)
        return self._homes(candidates, choice, [f"stage {device + 1} of {count}" for device in choice])

    def _homes(self, candidates: Candidates, choice: Choice, reasons: Sequence[str]) -> Assignment:
        chosen = zip(candidates.items(), choice, reasons)
        return {group: (self._devices[d], reason if len(able) > 1 else "") for (group, able), d, reason in chosen}

    def _why(self, problem: Problem, unit: int, home: int) -> str:
        seconds = problem.seconds[unit]
        quickest = min(problem.able(unit), key=lambda device: seconds[device])
        others = [device for device in problem.able(unit) if device != home]
        if seconds[home] == seconds[quickest]:
            nearest = min(others, key=lambda device: seconds[device], default=home)
            return f"faster here than on {self._devices[nearest].name}" if seconds[nearest] else "takes no time"
        return f"faster on {self._devices[quickest].name}, but not by what the way there takes"


def make_problem(model: Model, candidates: Candidates, devices: Sequence[Device], costs: Costs) -> Problem:
    """The placement of groups in numbers; they are the units, in the order of the candidates."""
    unit_of = {node: unit for unit, group in enumerate(candidates) for node in group.nodes}
    seconds = [
        [sum(costs.operation(n, d) for n in group.nodes) if d in able else math.inf for d in devices]
        for group, able in candidates.items()
    ]
    flows = []
    for node in model.get_ordered_ops():
        if not isinstance(node, (Constant, Result)):
            for value in node.outputs():
                flows += _flows_of(value, unit_of, devices, costs, len(model.parameters))
    weights = _weights(model, unit_of, len(seconds))
    largest = max((bytes_of(value, costs.shapes) for node in unit_of for value in node.outputs()), default=0)
    limits = [total_memory(device) - largest for device in devices]
    return Problem(seconds, flows, len(devices), weights, limits)


def _flows_of(
    value: Output, unit_of: Mapping[Node, int], devices: Sequence[Device], costs: Costs, input_count: int
) -> list[Flow]:
    targets = [target.node for target in value.get_target_inputs()]
    source = unit_of.get(value.node)
    readers = tuple(sorted({unit_of[node] for node in targets if node in unit_of} - {source}))
    is_input = isinstance(value.node, Parameter)
    is_result = any(isinstance(node, Result) for node in targets)
    if (source is None and not is_input) or not (readers or is_result) or (is_input and not readers):
        return []
    # What arrives begins a subgraph. All inputs of the model together begin the first one.
    share = input_count if is_input else 1
    leave = tuple(costs.leave(value, device) for device in devices)
    arrive = tuple(costs.arrive(value, device) + costs.subgraph(device) / share for device in devices)
    return [Flow(source, readers, leave, arrive, is_result)]


def _weights(model: Model, unit_of: Mapping[Node, int], count: int) -> list[float]:
    """The bytes of the constants of each unit; one that several read counts for the first."""
    weights = [0.0] * count
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            readers = [unit_of[t.node] for t in node.output(0).get_target_inputs() if t.node in unit_of]
            if readers:
                weights[min(readers)] += node.byte_size
    return weights


def total_memory(device: Device) -> float:
    """The bytes of a device's memory by the property whose key ends so; infinite where it does not tell."""
    table = device.plugin.property_table(device.options)
    keys = [key for key in table.get(props.supported_properties) if key.endswith(TOTAL_MEMORY)]
    return next((float(table.get(key)) for key in keys if table.get(key)), math.inf)

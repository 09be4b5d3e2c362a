"""Placement strategies by cost: MIN_CUT and PIPELINE, and the property values that select a strategy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from hetero import properties as props
from hetero.dispatch.cost.database import CostDatabase, CostModel, model_key
from hetero.dispatch.devices import EstimateError, ListedDevice
from hetero.dispatch.placement.affinity import Assignment, Candidates
from hetero.dispatch.placement.min_cut import min_cut
from hetero.dispatch.placement.pipeline import pipeline
from hetero.dispatch.placement.problem import Choice, Flow, Problem
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.ops.work_estimate import bytes_of

# The end of the property key that holds the bytes of a device's memory, such as OpenVINO's GPU_DEVICE_TOTAL_MEM_SIZE.
TOTAL_MEMORY = "DEVICE_TOTAL_MEM_SIZE"


class PlacementStrategy(StrEnum):
    """The values of the property PLACEMENT."""

    GREEDY = "GREEDY"
    UNDIVIDED = "UNDIVIDED"
    MIN_CUT = "MIN_CUT"
    PIPELINE = "PIPELINE"


class ByCost:
    """The strategies that minimize cost, for one model."""

    def __init__(self, devices: Sequence[ListedDevice], database: CostDatabase) -> None:
        self._devices, self._database = devices, database
        self._key: str | None = None

    def min_cut(self, model: Model, candidates: Candidates) -> Assignment:
        problem, costs = self._problem(model, candidates)
        choice = min_cut(problem, costs.margin)
        reasons = [self._reason(problem, unit, device) for unit, device in enumerate(choice)]
        return self._assignment(candidates, choice, reasons)

    def pipeline(self, model: Model, candidates: Candidates) -> Assignment:
        choice = pipeline(self._problem(model, candidates)[0])
        count = len(self._devices)
        return self._assignment(candidates, choice, [f"stage {device + 1} of {count}" for device in choice])

    def _problem(self, model: Model, candidates: Candidates) -> tuple[Problem, CostModel]:
        """Return the placement in numbers, and its costs. Raise EstimateError if devices failed to estimate costs."""
        # The key of the user's model: when a device fails, the model is placed again after it was changed.
        self._key = self._key or model_key(model)
        costs = CostModel(model, self._key, self._devices, self._database)
        problem = make_problem(model, candidates, self._devices, costs)
        if costs.failures:
            raise EstimateError(costs.failures)
        return problem, costs

    def _assignment(self, candidates: Candidates, choice: Choice, reasons: Sequence[str]) -> Assignment:
        chosen = zip(candidates.items(), choice, reasons)
        return {group: (self._devices[d], reason if len(able) > 1 else "") for (group, able), d, reason in chosen}

    def _reason(self, problem: Problem, unit: int, chosen: int) -> str:
        seconds = problem.seconds[unit]
        fastest = min(problem.able(unit), key=lambda device: seconds[device])
        others = [device for device in problem.able(unit) if device != chosen]
        if seconds[chosen] == seconds[fastest]:
            next_best = min(others, key=lambda device: seconds[device], default=chosen)
            return f"faster here than on {self._devices[next_best].name}" if seconds[next_best] else "takes no time"
        return f"faster on {self._devices[fastest].name}, but not by more than the transfers take"


def make_problem(model: Model, candidates: Candidates, devices: Sequence[ListedDevice], costs: CostModel) -> Problem:
    """Return the placement of groups in numbers; the groups are the units, in the order of the candidates."""
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
    value: Output, unit_of: Mapping[Node, int], devices: Sequence[ListedDevice], costs: CostModel, input_count: int
) -> list[Flow]:
    targets = [target.node for target in value.get_target_inputs()]
    source = unit_of.get(value.node)
    readers = tuple(sorted({unit_of[node] for node in targets if node in unit_of} - {source}))
    is_input = isinstance(value.node, Parameter)
    is_result = any(isinstance(node, Result) for node in targets)
    if (source is None and not is_input) or not (readers or is_result) or (is_input and not readers):
        return []
    # A value that arrives at a device begins a subgraph there. The inputs of the model begin one subgraph together.
    share = input_count if is_input else 1
    leave = tuple(costs.leave(value, device) for device in devices)
    arrive = tuple(costs.arrive(value, device) + costs.subgraph(device) / share for device in devices)
    return [Flow(source, readers, leave, arrive, is_result)]


def _weights(model: Model, unit_of: Mapping[Node, int], count: int) -> list[float]:
    """Return the bytes of the constants of each unit; a constant with several readers counts for the first."""
    weights = [0.0] * count
    for node in model.get_ordered_ops():
        if isinstance(node, Constant):
            readers = [unit_of[t.node] for t in node.output(0).get_target_inputs() if t.node in unit_of]
            if readers:
                weights[min(readers)] += node.byte_size
    return weights


def total_memory(device: ListedDevice) -> float:
    """Return the bytes of a device's memory by its property that ends in TOTAL_MEMORY; infinite if it has none."""
    table = device.plugin.property_table(device.options)
    keys = [key for key in table.get(props.supported_properties) if key.endswith(TOTAL_MEMORY)]
    return next((float(table.get(key)) for key in keys if table.get(key)), math.inf)

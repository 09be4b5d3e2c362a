"""Which device each operation runs on.

A model of three operations on ``HETERO:A,B``: ``relu`` is pinned to B by the user, A claims ``conv`` and
``softmax`` when asked what it can run. So conv and softmax go to A, relu to B. The rules, in this order:

1. A node with rt_info["affinity"], or whose name fits a pattern of the property AFFINITIES, is pinned.
2. Any other node goes to the first device, in the user's order, that claims it. Nodes that read or set one variable
   go together: where one of them is pinned, else to the first device that claims them all.
3. Parameters, Constants and Results go wherever they are needed; they are not placed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hetero.errors import DeviceError, device_errors
from hetero.graph import Constant, Model, Node, Parameter, Result
from hetero.graph.runtime_info import AFFINITY
from hetero.plugin import CompiledModel, Plugin, QueryResult
from hetero.tracing import span


@dataclass(frozen=True, eq=False)
class Device:
    """A device of the user's list, with the options that compile for it."""

    name: str
    plugin: Plugin
    options: dict[str, Any]

    def query(self, model: Model) -> QueryResult:
        problem = f"{self.name} failed to tell what it can run of '{model.friendly_name}'"
        with device_errors(problem), span("query", self.name):
            found = self.plugin.query_model(model, self.options)
        # A plain dictionary has no reasons, but is an answer.
        return found if isinstance(found, QueryResult) else QueryResult(found)

    def compile(self, model: Model) -> CompiledModel:
        problem = f"{self.name} failed to compile '{model.friendly_name}'"
        with device_errors(problem), span("compile", f"{model.friendly_name} on {self.name}"):
            return self.plugin.compile_model(model, self.options)


@dataclass(frozen=True)
class Placed:
    """Where a node runs, and why there."""

    device: Device
    reason: str


def is_placed(node: Node) -> bool:
    """Whether a node is one that runs on a device, and not an end of the graph."""
    return not isinstance(node, (Parameter, Constant, Result))


def pin(model: Model, patterns: Mapping[str, str]) -> None:
    """Write the affinities of the patterns into rt_info; the last pattern that fits a name wins.

    Raises DeviceError for a pattern that fits no node.
    """
    nodes = [node for node in model.get_ordered_ops() if is_placed(node)]
    for pattern, device in patterns.items():
        fitting = [n for n in nodes if n.friendly_name == pattern or fnmatch.fnmatchcase(n.friendly_name, pattern)]
        if not fitting:
            raise DeviceError(f"the affinity '{pattern}' fits no operation of model '{model.friendly_name}'")
        for node in fitting:
            node.rt_info[AFFINITY] = device


@dataclass(frozen=True)
class Placement:
    """Where every operation runs, and for those that no device can run why; what each device claimed."""

    placed: dict[Node, Placed]
    homeless: dict[Node, str]
    queries: dict[str, QueryResult]


def place(model: Model, devices: Sequence[Device]) -> Placement:
    """Place every operation by the rules above, and write its affinity. Names must be unique.

    Raises DeviceError for a pin to a device that is not in the list or cannot run the node.
    """
    queries = {device.name: device.query(model) for device in devices}
    together = _nodes_of_variables(model)
    placed: dict[Node, Placed] = {}
    homeless: dict[Node, str] = {}
    for node in model.get_ordered_ops():
        if not is_placed(node):
            continue
        if AFFINITY in node.rt_info:
            placed[node] = Placed(_pinned_device(node, devices, queries), "pinned")
            continue
        names = {other.friendly_name for other in together.get(node, [node])}
        claiming = [device for device in devices if names <= queries[device.name].keys()]
        if claiming:
            passed_over = devices[: devices.index(claiming[0])]
            placed[node] = Placed(claiming[0], _refusals(node, passed_over, queries) or "first device")
            node.rt_info[AFFINITY] = claiming[0].name
        else:
            homeless[node] = _refusals(node, devices, queries)
    return Placement(placed, homeless, queries)


def _nodes_of_variables(model: Model) -> dict[Node, list[Node]]:
    """For each node that reads or sets a variable all that do so; where one is pinned, the others are then too."""
    by_variable: dict[str, list[Node]] = {}
    for node in model.get_ordered_ops():
        if (info := getattr(node, "variable_info", None)) is not None:
            by_variable.setdefault(info.variable_id, []).append(node)
    for nodes in by_variable.values():
        pinned = [node.rt_info[AFFINITY] for node in nodes if AFFINITY in node.rt_info]
        for node in nodes if pinned else ():
            node.rt_info.setdefault(AFFINITY, pinned[0])
    return {node: nodes for nodes in by_variable.values() for node in nodes}


def _pinned_device(node: Node, devices: Sequence[Device], queries: Mapping[str, QueryResult]) -> Device:
    wanted = node.rt_info[AFFINITY]
    found = next((device for device in devices if device.name == wanted), None)
    if found is None:
        names = ", ".join(device.name for device in devices)
        raise DeviceError(f"'{node.friendly_name}' is pinned to {wanted}, which is not among the devices {names}")
    if node.friendly_name not in queries[wanted]:
        able = ", ".join(name for name, claimed in queries.items() if node.friendly_name in claimed) or "no device can"
        reason = _refusals(node, [found], queries)
        raise DeviceError(f"'{node.friendly_name}' is pinned to a device that cannot run it ({reason}); able: {able}")
    return found


def _refusals(node: Node, devices: Sequence[Device], queries: Mapping[str, QueryResult]) -> str:
    return "; ".join(f"{d.name}: {queries[d.name].refused.get(node.friendly_name, 'not supported')}" for d in devices)

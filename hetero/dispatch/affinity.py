"""Which device each operation runs on.

A model of three operations on ``HETERO:A,B``: ``relu`` is pinned to B by the user, A claims ``conv`` and
``softmax`` when asked what it can run. So conv and softmax go to A, relu to B. The rules, in this order:

1. A node with rt_info["affinity"], or whose name fits a pattern of the property AFFINITIES, is pinned.
2. Any other node goes to one of the devices that claim it, which one is for the placement strategy to choose: by
   default the first, in the user's order.
3. The nodes of a group, such as those that read or set one variable, go together: where one of them is pinned, else to
   a device that claims them all.
4. Parameters, Constants and Results go wherever they are needed; they are not placed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hetero.dispatch.groups import Group, find_groups
from hetero.errors import DeviceError, device_errors
from hetero.graph import Constant, Model, Node, Parameter, Result, walk_nested
from hetero.graph.runtime_info import AFFINITY
from hetero.plugin import CompiledModel, Plugin, QueryResult
from hetero.plugin.blob import read_blob
from hetero.plugin.blob_import import import_blob
from hetero.plugin.query import query_fault
from hetero.tracing import span

if TYPE_CHECKING:
    from hetero.dispatch.placement.strategy import Strategy


@dataclass(frozen=True, eq=False)
class Device:
    """A device of the user's list, with the options that compile for it."""

    name: str
    plugin: Plugin
    options: dict[str, Any]

    def query(self, model: Model) -> QueryResult:
        problem = f"{self.name} failed to query model '{model.friendly_name}'"
        with device_errors(problem), span("query", self.name):
            found = self.plugin.query_model(model, self.options)
        if fault := query_fault(found, model, self.plugin.name):
            raise DeviceError(f"{problem}: {fault}")
        # A plain dictionary has no reasons, but is an answer.
        return found if isinstance(found, QueryResult) else QueryResult(found)

    def compile(self, model: Model) -> CompiledModel:
        problem = f"{self.name} failed to compile '{model.friendly_name}'"
        with device_errors(problem), span("compile", f"{model.friendly_name} on {self.name}"):
            return _checked(self.plugin.compile_model(model, self.options), problem)

    def import_blob(self, content: memoryview) -> CompiledModel:
        with span("import", self.name):
            compiled = import_blob(self.plugin, read_blob(content), self.options)
        return _checked(compiled, f"{self.name} failed to import a subgraph")


def _checked(compiled: CompiledModel, problem: str) -> CompiledModel:
    """Return a compiled model. Raises DeviceError if the device returned something else."""
    if not isinstance(compiled, CompiledModel):
        raise DeviceError(f"{problem}: it returned {type(compiled).__name__}, not a CompiledModel")
    return compiled


@dataclass(frozen=True)
class Placed:
    """Where a node runs, and why there; ``is_pinned``: as the user wants it so."""

    device: Device
    reason: str
    is_pinned: bool = False


def is_placed(node: Node) -> bool:
    """Whether a node is one that runs on a device, and not an end of the graph."""
    return not isinstance(node, (Parameter, Constant, Result))


def pin(model: Model, patterns: Mapping[str, str]) -> None:
    """Write the affinities of the patterns into rt_info; the last pattern that fits a name wins.

    Raises DeviceError for a pattern that fits no node.
    """
    nodes = [node for node in model.get_ordered_ops() if is_placed(node)]
    for pattern, device in patterns.items():
        fitting = [node for node in nodes if _fits(node, pattern)]
        if not fitting:
            within = next((n for n in nodes if any(_fits(inner, pattern) for inner in walk_nested([n]))), None)
            hint = f" but in a body of '{within.friendly_name}', which runs whole: pin that" if within else ""
            raise DeviceError(f"the affinity '{pattern}' fits no operation of model '{model.friendly_name}'{hint}")
        for node in fitting:
            node.rt_info[AFFINITY] = device


def _fits(node: Node, pattern: str) -> bool:
    return node.friendly_name == pattern or fnmatch.fnmatchcase(node.friendly_name, pattern)


@dataclass(frozen=True)
class Placement:
    """Where every operation runs, and for those that no device can run why."""

    placed: dict[Node, Placed]
    unplaced: dict[Node, str]


def place(model: Model, devices: Sequence[Device], queries: Mapping[str, QueryResult], strategy: Strategy) -> Placement:
    """Place every operation by the rules above, and write its affinity. Names must be unique.

    ``queries``: what each device can run. Which one of the devices that can run a group gets it is for the strategy to
    choose. Raises DeviceError for pins that contradict each other, or to a device that is not in the list or cannot
    run the node.
    """
    groups = find_groups([node for node in model.get_ordered_ops() if is_placed(node)])
    able = {group: _able(group, devices, queries) for group in dict.fromkeys(groups.values())}
    homes = strategy(model, {group: found for group, (found, _) in able.items() if found})
    placed: dict[Node, Placed] = {}
    unplaced: dict[Node, str] = {}
    for node, group in groups.items():
        pinned = able[group][1]
        if group not in homes:
            unplaced[node] = _refusals(node, group, devices, queries)
        elif pinned is None:
            device, reason = homes[group]
            passed_over = devices[: devices.index(device)]
            placed[node] = Placed(device, reason or _refusals(node, group, passed_over, queries) or "first device")
        else:
            own = AFFINITY in node.rt_info
            placed[node] = Placed(
                homes[group][0], "pinned" if own else f"pinned with '{pinned.friendly_name}'", is_pinned=True
            )
    for node, where in placed.items():
        node.rt_info[AFFINITY] = where.device.name
    return Placement(placed, unplaced)


def _able(
    group: Group, devices: Sequence[Device], queries: Mapping[str, QueryResult]
) -> tuple[list[Device], Node | None]:
    """The devices that a group may go to, and the node by whose pin that is only one, if any is pinned."""
    pinned = group.pin(queries)
    if pinned is None:
        return [device for device in devices if group.fits(queries[device.name])], None
    wanted = pinned.rt_info[AFFINITY]
    found = next((device for device in devices if device.name == wanted), None)
    problem = f"'{pinned.friendly_name}' is pinned to"
    if found is None:
        names = ", ".join(device.name for device in devices)
        able = group.able(queries)
        raise DeviceError(f"{problem} {wanted}, which is not among the devices {names}; able: {able}")
    node = next(group.lacking(queries[wanted]), None)
    if node is not None:
        reason = group.refusal(node, wanted, queries[wanted])
        what = "it" if node is pinned else f"'{node.friendly_name}'"
        raise DeviceError(f"{problem} a device that cannot run {what} ({reason}); able: {group.able(queries)}")
    return [found], pinned


def _refusals(node: Node, group: Group, devices: Sequence[Device], queries: Mapping[str, QueryResult]) -> str:
    return "; ".join(group.refusal(node, device.name, queries[device.name]) for device in devices)

"""Affinity: the device that each operation runs on.

Example: a model of three operations on ``HETERO:A,B``. The user pins ``relu`` to B; A supports ``conv`` and
``softmax``. Then conv and softmax run on A, relu on B. The rules, in this order:

1. A node with rt_info["affinity"], or whose name matches a pattern of the property AFFINITIES, is pinned.
2. Every other node runs on one of the devices that support it. The placement strategy chooses which one: by default
   the first, in the user's order.
3. The nodes of a group, such as those that read or set one variable, run on one device: the one that a node of the
   group is pinned to, else one that supports all of them.
4. Parameters, Constants and Results are not placed; they follow their readers.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hetero.dispatch.devices import ListedDevice
from hetero.dispatch.placement.groups import Group
from hetero.graph import Model, Node, is_terminal, walk_nested
from hetero.graph.rt_info import AFFINITY
from hetero.plugin import QueryResult
from hetero.system.errors import DeviceError

# The reason for the first device of the user's order.
FIRST_DEVICE = "first device"

#: The devices that each group may run on, in the user's order; one device for a pinned group.
Candidates = Mapping[Group, Sequence[ListedDevice]]
#: The device of each group, and the reason; an empty reason if it is simply the first candidate.
Assignment = Mapping[Group, tuple[ListedDevice, str]]
#: A placement strategy: chooses one of the candidates for each group.
Strategy = Callable[[Model, Candidates], Assignment]


@dataclass(frozen=True)
class Placed:
    """The device of a node, and the reason; ``is_pinned`` if the user chose it."""

    device: ListedDevice
    reason: str
    is_pinned: bool = False


@dataclass(frozen=True)
class Placement:
    """The device of every operation, and for operations that no device supports the reason."""

    placed: dict[Node, Placed]
    unplaced: dict[Node, str]


def pin(model: Model, patterns: Mapping[str, str], devices: Sequence[ListedDevice]) -> None:
    """Write the devices of name patterns into rt_info["affinity"]; the last pattern that matches a name wins.

    Another name of a device, such as ``GPU.0`` from ``query_model`` for ``GPU`` in the list, becomes that of the list.
    Raises DeviceError for a pattern that matches no operation.
    """
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    for pattern, device in patterns.items():
        matching = [node for node in nodes if _matches(node, pattern)]
        if not matching:
            owner = next((n for n in nodes if any(_matches(inner, pattern) for inner in walk_nested([n]))), None)
            hint = f" but in a body of '{owner.friendly_name}', which runs whole: pin that" if owner else ""
            raise DeviceError(f"the affinity '{pattern}' matches no operation of model '{model.friendly_name}'{hint}")
        for node in matching:
            node.rt_info[AFFINITY] = device
    for node in walk_nested(nodes):
        name = node.rt_info.get(AFFINITY)
        if isinstance(name, str):
            node.rt_info[AFFINITY] = next((device.name for device in devices if device.is_named(name)), name)


def _matches(node: Node, pattern: str) -> bool:
    return node.friendly_name == pattern or fnmatch.fnmatchcase(node.friendly_name, pattern)


def place(
    model: Model,
    groups: Mapping[Node, Group],
    devices: Sequence[ListedDevice],
    queries: Mapping[str, QueryResult],
    strategy: Strategy,
) -> Placement:
    """Place every operation by the rules above, and write its affinity. Names must be unique.

    ``groups`` has the group of each operation, ``queries`` the supported operations by device name. Raises DeviceError
    for contradicting pins, and for a pin to a device that is not in the list or does not support the node.
    """
    candidates: dict[Group, list[ListedDevice]] = {}
    pinned_by: dict[Group, Node | None] = {}
    for group in dict.fromkeys(groups.values()):
        candidates[group], pinned_by[group] = _candidates(group, devices, queries)
    assignment = strategy(model, {group: able for group, able in candidates.items() if able})
    placed: dict[Node, Placed] = {}
    unplaced: dict[Node, str] = {}
    for node, group in groups.items():
        pinned = pinned_by[group]
        if group not in assignment:
            unplaced[node] = _refusals(node, group, devices, queries)
        elif pinned is None:
            device, reason = assignment[group]
            earlier = devices[: devices.index(device)]
            placed[node] = Placed(device, reason or _refusals(node, group, earlier, queries) or FIRST_DEVICE)
        else:
            reason = "pinned" if AFFINITY in node.rt_info else f"pinned with '{pinned.friendly_name}'"
            placed[node] = Placed(assignment[group][0], reason, is_pinned=True)
    for node, where in placed.items():
        node.rt_info[AFFINITY] = where.device.name
    return Placement(placed, unplaced)


def _candidates(
    group: Group, devices: Sequence[ListedDevice], queries: Mapping[str, QueryResult]
) -> tuple[list[ListedDevice], Node | None]:
    """Return the devices that a group may run on, and the pinned node that leaves only one, or None."""
    pinned = group.pin(queries)
    if pinned is None:
        return [device for device in devices if group.fits(queries[device.name])], None
    name = pinned.rt_info.get(AFFINITY)
    device = next((device for device in devices if device.name == name), None)
    problem = f"'{pinned.friendly_name}' is pinned to"
    if device is None:
        names = ", ".join(device.name for device in devices)
        raise DeviceError(
            f"{problem} {name}, which is not among the devices {names}; able: {group.able_names(queries)}"
        )
    node = next(group.lacking(queries[name]), None)
    if node is not None:
        reason = group.refusal(node, name, queries[name])
        what = "it" if node is pinned else f"'{node.friendly_name}'"
        able = group.able_names(queries)
        raise DeviceError(f"{problem} a device that cannot run {what} ({reason}); able: {able}")
    return [device], pinned


def _refusals(node: Node, group: Group, devices: Sequence[ListedDevice], queries: Mapping[str, QueryResult]) -> str:
    return "; ".join(group.refusal(node, device.name, queries[device.name]) for device in devices)

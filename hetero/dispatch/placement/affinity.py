"""Affinity: the device that each operation runs on.

Example: a model of three operations on ``HETERO:A,B``. The user pins ``relu`` to B; A supports ``conv`` and
``softmax``. Then conv and softmax run on A, relu on B. The rules, in this order:

1. A node with rt_info["affinity"], or whose name matches a pattern of the property AFFINITIES, is pinned.
2. Every other node runs on one of the devices that support it. The placement strategy chooses which one: by default
   the first, in the user's order.
3. The nodes of a group, such as those that read or set one variable, or an operation with its bodies, run on one
   device: the one that a node of the group is pinned to, else one that supports all of them.
4. Parameters, Constants and Results are not placed; they follow their readers.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model, Node, is_terminal, walk_nested
from hetero.graph.rt_info import AFFINITY
from hetero.ops.checks import is_exact
from hetero.plugin import QueryResult
from hetero.system.errors import DeviceError


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that run on one device together, and the reason; most nodes are a group of their own."""

    nodes: tuple[Node, ...]
    reason: str = ""

    def pin(self, queries: Mapping[str, QueryResult]) -> Node | None:
        """Return a pinned node of the group or of its bodies, None if there is none.

        Raises DeviceError if nodes are pinned to different devices.
        """
        pinned = [node for node in walk_nested(self.nodes) if AFFINITY in node.rt_info]
        for other in pinned:
            if other.rt_info.get(AFFINITY) != pinned[0].rt_info.get(AFFINITY):
                where = [
                    f"'{node.friendly_name}' is pinned to {node.rt_info.get(AFFINITY)}" for node in (pinned[0], other)
                ]
                what = self.reason or f"{self.nodes[0].type_info.name} '{self.nodes[0].friendly_name}' with its bodies"
                raise DeviceError(
                    f"{what} must be on one device, but {' and '.join(where)}; able: {self.able_names(queries)}"
                )
        return pinned[0] if pinned else None

    def waits_for(self, device: str, queries: Mapping[str, QueryResult], others: Collection[str]) -> bool:
        """Return whether no queried device has the group yet and this one may; ``others`` are not queried either.

        If that one refuses a group that is pinned to it, all others are asked too, for the message.
        """
        pins = {node.rt_info.get(AFFINITY) for node in walk_nested(self.nodes) if AFFINITY in node.rt_info}
        able = {name for name, supported in queries.items() if self.fits(supported)}
        has_device = bool(able) and pins <= able and len(pins) < 2
        return not has_device and (device in pins or pins.isdisjoint(others))

    def able_names(self, queries: Mapping[str, QueryResult]) -> str:
        """Return the names of the devices that support the whole group, for messages."""
        return ", ".join(device for device, supported in queries.items() if self.fits(supported)) or "no device"

    def fits(self, supported: QueryResult) -> bool:
        """Return whether a device supports the whole group."""
        return not any(self.lacking(supported))

    def lacking(self, supported: QueryResult) -> Iterator[Node]:
        """Yield the nodes that a device does not support. Nodes with values known at compile time do not count."""
        return (n for n in self.nodes if n.friendly_name not in supported and not _is_known(n))

    def refusal(self, node: Node, device: str, supported: QueryResult) -> str:
        """Return why a device does not get a node: it does not support the node, or another one of the group."""
        if node.friendly_name not in supported:
            return f"{device}: {supported.refused.get(node.friendly_name, 'not supported')}"
        other = next(self.lacking(supported))
        return f"{device}: cannot run '{other.friendly_name}' of {self.reason}"


def find_groups(nodes: Sequence[Node]) -> dict[Node, Group]:
    """Return the group of each node, in the order given. An operation also has the variables of its bodies."""
    by_variable: dict[str, list[Node]] = {}
    variables_of: dict[Node, list[str]] = {}
    for node in nodes:
        for name in dict.fromkeys(_variables(node)):
            by_variable.setdefault(name, []).append(node)
            variables_of.setdefault(node, []).append(name)
    groups: dict[Node, Group] = {}
    for node in nodes:
        if node in variables_of and node not in groups:
            names = _connected_variables(node, by_variable, variables_of)
            members = dict.fromkeys(member for name in names for member in by_variable[name])
            group = Group(tuple(members), " and ".join(f"variable '{name}'" for name in names))
            groups |= dict.fromkeys(members, group)
    return {node: groups.get(node) or Group((node,)) for node in nodes}


def _is_known(node: Node) -> bool:
    return all(is_exact(output.value) for output in node.outputs())


def _variables(node: Node) -> Iterator[str]:
    for inner in walk_nested([node]):
        if (info := getattr(inner, "variable_info", None)) is not None:
            yield info.variable_id


def _connected_variables(
    node: Node, by_variable: Mapping[str, list[Node]], variables_of: Mapping[Node, list[str]]
) -> list[str]:
    """Return the variables of a node, of all nodes that share a variable with it, and so on (transitive closure)."""
    connected = dict.fromkeys(variables_of[node])
    waiting = list(connected)
    while waiting:
        for member in by_variable[waiting.pop()]:
            new = [name for name in variables_of[member] if name not in connected]
            connected |= dict.fromkeys(new)
            waiting += new
    return list(connected)


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
    """Place every operation by the rules above. Names must be unique.

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

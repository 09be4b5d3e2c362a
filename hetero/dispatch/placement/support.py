"""Support: the operations that each device runs, without those that it failed at; and placements that follow from it.

With GREEDY every operation but shape computations runs on the first device, in the user's order, that supports it.
Shape computations run on the device of their readers. Example: Reshape(x) runs on B; its pattern comes from ShapeOf(x)
→ Gather → Concat, which A would get as the first device. On A these three would be an island between two parts of B: x
would be copied to A and the pattern back. So they are moved to B if B supports them. So are the operations that
decompress weights for readers on B.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from hetero.dispatch.devices import EstimateError, Failure, ListedDevice, named, names_of
from hetero.dispatch.placement.affinity import (
    Assignment,
    Candidates,
    Group,
    Placed,
    Placement,
    Strategy,
    find_groups,
    place,
)
from hetero.dispatch.placement.fusions import over_fusions
from hetero.graph import Model, Node, Output, is_terminal
from hetero.graph.rt_info import AFFINITY
from hetero.ops.checks import MAX_VALUE_SIZE
from hetero.passes.constant_folding import constant_nodes
from hetero.plugin import QueryResult, Rank, unsupported
from hetero.system.errors import DeviceError, HeteroError


def greedy(model: Model, candidates: Candidates) -> Assignment:
    """Return the device of each group, with a reason if it is not the first candidate."""
    device_of = {node: devices[0] for group, devices in candidates.items() for node in group.nodes}
    movable = {group.nodes[0]: devices for group, devices in candidates.items() if len(group.nodes) == 1}
    reasons = _move_beside_readers(device_of, movable)
    return {group: (device_of[group.nodes[0]], reasons.get(group.nodes[0], "")) for group in candidates}


def undivided(model: Model, candidates: Candidates) -> Assignment:
    """Give all operations to the first device that supports all of them; without one return what ``greedy`` does.

    A reference is not such a device: it is slower than any division.
    """
    for whole in next(iter(candidates.values()), ()):
        is_reference = whole.plugin.device(whole.options).rank is Rank.REFERENCE
        if not is_reference and all(whole in devices for devices in candidates.values()):
            reason = f"all operations can run on {whole.name}"
            return {group: (whole, reason if devices[0] is not whole else "") for group, devices in candidates.items()}
    return greedy(model, candidates)


def _move_beside_readers(
    device_of: dict[Node, ListedDevice], movable: Mapping[Node, Sequence[ListedDevice]]
) -> dict[Node, str]:
    """Move small integer computations to the device to which the fewest large values must be copied for them.

    Computations on Constants, such as weights, count as small: they are not copied. Of several such devices they go to
    the one with most of their readers and sources. ``device_of`` must be in topological order; it is changed.
    ``movable`` are the nodes that may move, with the devices that support them.
    Returns the reason for each node that moved. Linear in nodes and edges.
    """
    reasons = {}
    constant = constant_nodes(list(device_of))
    large = _LargeValues(device_of, constant)
    for node in reversed(list(device_of)):
        if len(movable.get(node, ())) < 2 or not (
            node in constant or all(_is_small(value) for value in node.outputs())
        ):
            continue
        readers = [t.node for value in node.outputs() for t in value.get_target_inputs() if t.node in device_of]
        sources = [value.node for value in node.input_values() if value.node in device_of]
        neighbor_on: dict[ListedDevice, Node] = {}
        for other in (*readers, node, *sources):
            if device_of[other] in movable[node]:
                neighbor_on.setdefault(device_of[other], other)
        counts = Counter(device_of[other] for other in (*readers, *sources))
        best = min(neighbor_on, key=lambda d: (large.copies_for(node, d), -counts[d]))
        if best is not device_of[node]:
            large.move(node, best)
            device_of[node] = best
            reasons[node] = f"beside '{neighbor_on[best].friendly_name}'"
    return reasons


class _LargeValues:
    """Large values that shapes are computed from, each with the number of its readers on each device."""

    def __init__(self, device_of: Mapping[Node, ListedDevice], constant: Set[Node]) -> None:
        self._device_of, self._constant = device_of, constant
        self._readers: dict[Output, Counter[ListedDevice]] = {}

    def copies_for(self, node: Node, device: ListedDevice) -> int:
        """Return how many large values are copied to a device for this node alone: not made or read by others there."""
        is_there = self._device_of[node] is device
        return sum(
            self._device_of[value.node] is not device and self._readers_of(value)[device] <= is_there
            for value in self._large_inputs(node)
        )

    def move(self, node: Node, device: ListedDevice) -> None:
        for value in self._large_inputs(node):
            self._readers_of(value).subtract([self._device_of[node]])
            self._readers_of(value).update([device])

    def _large_inputs(self, node: Node) -> list[Output]:
        return [
            value
            for value in set(node.input_values())
            if value.node in self._device_of and value.node not in self._constant and not _is_small(value)
        ]

    def _readers_of(self, value: Output) -> Counter[ListedDevice]:
        if value not in self._readers:
            readers = {target.node for target in value.get_target_inputs() if target.node in self._device_of}
            self._readers[value] = Counter(self._device_of[reader] for reader in readers)
        return self._readers[value]


def _is_small(value: Output) -> bool:
    """Return whether a value is a shape or a part of one: a few integers."""
    if value.value is not None:
        return True
    shape = value.partial_shape
    return value.element_type.is_integer() and shape.is_static and math.prod(value.shape) <= MAX_VALUE_SIZE


@dataclass(frozen=True)
class Support:
    """The supported operations by device name, for the devices queried so far, and the failures so far."""

    queries: Mapping[str, QueryResult] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def query(self, model: Model, device: ListedDevice) -> Support:
        """Query one more device. A device that fails to answer supports nothing."""
        try:
            return Support({**self.queries, device.name: device.query(model)}, self.failures)
        except HeteroError as error:
            return self.without_devices(model, {device.name: error})

    def needed(self, groups: Collection[Group], devices: Sequence[ListedDevice]) -> list[ListedDevice]:
        """Return those of the devices, which are not queried yet, that may get a group that has no device yet."""
        names = [device.name for device in devices]
        groups = set(groups)
        return [d for d in devices if any(group.waits_for(d.name, self.queries, names) for group in groups)]

    def refusing(self, device: str, reasons: Mapping[str, str]) -> Support:
        """Return the support that remains if a device refuses operations, by name with the reasons."""
        return Support({**self.queries, device: _refusing(self.queries[device], reasons)}, self.failures)

    def without(self, failures: Iterable[Failure]) -> Support:
        """Return the support that remains after these failures; their errors become the reasons for refusal."""
        queries, failures = dict(self.queries), tuple(failures)
        for failure in failures:
            before = queries.get(failure.device, QueryResult())
            queries[failure.device] = _refusing(before, dict.fromkeys(failure.operations, str(failure.error)))
        return Support(queries, self.failures + failures)

    def without_devices(self, model: Model, errors: Mapping[str, Exception]) -> Support:
        """Return the support that remains without whole devices, by name, each with the error that it raised."""
        placed = names_of(node for node in model.get_ordered_ops() if not is_terminal(node))
        return self.without(
            Failure(name, tuple(self.queries.get(name, placed)), error) for name, error in errors.items()
        )

    def place(self, model: Model, devices: Sequence[ListedDevice], strategy: Strategy) -> tuple[Support, Placement]:
        """Place every operation, and write its affinity. Return the placement, and the support that it is based on.

        That support has new queries, not the operations at which a cost estimate failed or that need their readers.

        GREEDY and UNDIVIDED query devices in the user's order, if they may get operations that have none yet; other
        strategies query all.
        Raises DeviceError as ``affinity.place`` does.
        """
        groups = find_groups([node for node in model.get_ordered_ops() if not is_terminal(node)])
        support, chooses_first = self, strategy in (greedy, undivided)
        while new := [device for device in devices if device.name not in support.queries]:
            if chooses_first:
                new = support.needed(groups.values(), new)
            if not new:
                break
            support = support.query(model, new[0])
        queried = [device for device in devices if device.name in support.queries]
        while True:
            try:
                choose = strategy if chooses_first else over_fusions(strategy, support.queries)
                placement = place(model, groups, queried, support.queries, choose)
            except EstimateError as error:
                support = support.without(error.failures)
                continue
            lost = _needed_elsewhere(placement, support.queries)
            if not lost:
                for node, where in placement.placed.items():
                    node.rt_info[AFFINITY] = where.device.name
                return support, placement
            remaining = {
                name: _refusing(result, dict.fromkeys(lost.get(name, ()), "its readers are on other devices"))
                for name, result in support.queries.items()
            }
            return Support(remaining, support.failures).place(model, devices, strategy)

    def release_prepared(self) -> None:
        """Forget the models that devices prepared for their queries: they take memory."""
        for result in self.queries.values():
            result.prepared = None

    def without_tracebacks(self) -> Support:
        """Return the same support with plain errors: tracebacks keep alive what a device was working on."""
        failures = (replace(failure, error=DeviceError(str(failure.error))) for failure in self.failures)
        return Support(self.queries, tuple(failures))

    def unsupported_error(self, device: str, unplaced: Mapping[Node, str]) -> DeviceError:
        """Return the error for operations that no device runs: the first failure at one of them, if there is any."""
        for failure in self.failures:
            names = set(failure.operations)
            lost = [node for node in unplaced if node.friendly_name in names]
            if lost:
                error = DeviceError(f"{failure.error}; no other device can run {named(lost)}")
                error.__cause__ = failure.error
                return error
        return unsupported(device, unplaced)


def _refusing(before: QueryResult, reasons: Mapping[str, str]) -> QueryResult:
    """Return the result of a query without these operations."""
    if not reasons:
        return before
    after = QueryResult({name: device for name, device in before.items() if name not in reasons})
    after.refused = {**before.refused, **reasons}
    after.with_readers = before.with_readers.difference(reasons)
    after.prepared = before.prepared
    return after


def _needed_elsewhere(placement: Placement, queries: Mapping[str, QueryResult]) -> dict[str, list[str]]:
    """Return, by device name, the operations that it supports only with their readers, which are on another device."""
    lost: dict[str, list[str]] = {}
    for node, where in placement.placed.items():
        if node.friendly_name in queries[where.device.name].with_readers and _is_read_elsewhere(node, placement.placed):
            lost.setdefault(where.device.name, []).append(node.friendly_name)
    return lost


def _is_read_elsewhere(node: Node, placed: Mapping[Node, Placed]) -> bool:
    """Return whether another device reads a node, or what the node's own device computes of it outside of bodies."""
    waiting, seen = [node], {node}
    while waiting:
        current = waiting.pop()
        readers = {target.node for value in current.outputs() for target in value.get_target_inputs()} & placed.keys()
        if any(placed[reader].device is not placed[node].device for reader in readers):
            return True
        new = {reader for reader in readers - seen if not reader.bodies}
        seen |= new
        waiting += new
    return False

"""GREEDY: every operation but shape computations runs on the first device, in the user's order, that supports it.

Shape computations run on the device of their readers. Example: Reshape(x) runs on B; its pattern comes from ShapeOf(x)
→ Gather → Concat, which A would get as the first device. On A these three would be an island between two parts of B: x
would be copied to A and the pattern back. So they are moved to B if B supports them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from hetero.dispatch.devices import ListedDevice
from hetero.dispatch.placement.affinity import Assignment, Candidates
from hetero.graph import Model, Node, Output
from hetero.ops.values import MAX_VALUE_SIZE


def greedy(model: Model, candidates: Candidates) -> Assignment:
    """Return the device of each group, with a reason if it is not the first candidate."""
    device_of = {node: devices[0] for group, devices in candidates.items() for node in group.nodes}
    movable = {group.nodes[0]: devices for group, devices in candidates.items() if len(group.nodes) == 1}
    reasons = _move_shapes_beside_readers(device_of, movable)
    return {group: (device_of[group.nodes[0]], reasons.get(group.nodes[0], "")) for group in candidates}


def _move_shapes_beside_readers(
    device_of: dict[Node, ListedDevice], movable: Mapping[Node, Sequence[ListedDevice]]
) -> dict[Node, str]:
    """Move small integer computations to the device to which the fewest large values must be copied for them.

    Of several such devices they go to the one with most of their readers and sources. ``device_of`` must be in
    topological order; it is changed. ``movable`` are the nodes that may move, with the devices that support them.
    Returns the reason for each node that moved. Linear in nodes and edges.
    """
    reasons = {}
    large = _LargeValues(device_of)
    for node in reversed(list(device_of)):
        if len(movable.get(node, ())) < 2 or not all(_is_small(value) for value in node.outputs()):
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

    def __init__(self, device_of: Mapping[Node, ListedDevice]) -> None:
        self._device_of = device_of
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
        return [value for value in set(node.input_values()) if value.node in self._device_of and not _is_small(value)]

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

"""Keeping computations of shapes beside what reads them.

Of x → Reshape on B, whose pattern comes from ShapeOf(x) → Gather → Concat, which A claims first: on A the three would
be an island between two parts of B, for which x goes to A and a pattern comes back. So they go to B, where B
claims them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from hetero.dispatch.affinity import Device
from hetero.graph import Node, Output
from hetero.ops.values import MAX_VALUE_SIZE


def keep_shapes_beside_readers(device_of: dict[Node, Device], able: Mapping[Node, Sequence[Device]]) -> dict[Node, str]:
    """Move small computations of integers to where the fewest values come from elsewhere; of these, beside a reader.

    ``device_of`` has sources before readers; of its nodes those may move that have several devices in ``able``.
    Returns why each went where it is now. Linear.
    """
    reasons = {}
    large = _LargeValues(device_of)
    for node in reversed(list(device_of)):
        if len(able.get(node, ())) < 2 or not all(_is_small(value) for value in node.outputs()):
            continue
        readers = [t.node for value in node.outputs() for t in value.get_target_inputs() if t.node in device_of]
        sources = [value.node for value in node.input_values() if value.node in device_of]
        beside: dict[Device, Node] = {}
        for other in (*readers, node, *sources):
            if device_of[other] in able[node]:
                beside.setdefault(device_of[other], other)
        neighbours = Counter(device_of[other] for other in (*readers, *sources))
        best = min(beside, key=lambda d: (large.brought(node, d), -neighbours[d]))
        if best is not device_of[node]:
            large.move(node, best)
            device_of[node] = best
            reasons[node] = f"beside '{beside[best].friendly_name}'"
    return reasons


class _LargeValues:
    """Which large values that shapes are computed from are on which devices: by how many readers there."""

    def __init__(self, device_of: Mapping[Node, Device]) -> None:
        self._device_of = device_of
        self._readers: dict[Output, Counter[Device]] = {}

    def brought(self, node: Node, device: Device) -> int:
        """How many large values go to a device for a node alone: not made there, nor read by others there."""
        is_there = self._device_of[node] is device
        return sum(
            self._device_of[value.node] is not device and self._readers_of(value)[device] <= is_there
            for value in self._values(node)
        )

    def move(self, node: Node, device: Device) -> None:
        for value in self._values(node):
            self._readers_of(value).subtract([self._device_of[node]])
            self._readers_of(value).update([device])

    def _values(self, node: Node) -> list[Output]:
        return [value for value in set(node.input_values()) if value.node in self._device_of and not _is_small(value)]

    def _readers_of(self, value: Output) -> Counter[Device]:
        if value not in self._readers:
            readers = {target.node for target in value.get_target_inputs() if target.node in self._device_of}
            self._readers[value] = Counter(self._device_of[reader] for reader in readers)
        return self._readers[value]


def _is_small(value: Output) -> bool:
    """Whether a value is of integers, and few: a shape, or what shapes are made of."""
    if value.value is not None:
        return True
    shape = value.partial_shape
    return value.element_type.is_integral() and shape.is_static and math.prod(value.shape) <= MAX_VALUE_SIZE

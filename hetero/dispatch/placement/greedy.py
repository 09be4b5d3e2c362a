"""GREEDY: every operation but shape computations runs on the first device, in the user's order, that supports it."""

from __future__ import annotations

from hetero.dispatch.affinity import Assignment, Candidates
from hetero.dispatch.placement.shape_values import move_shapes_beside_readers
from hetero.graph import Model


def greedy(model: Model, candidates: Candidates) -> Assignment:
    """Return the device of each group, with a reason if it is not the first candidate."""
    device_of = {node: devices[0] for group, devices in candidates.items() for node in group.nodes}
    movable = {group.nodes[0]: devices for group, devices in candidates.items() if len(group.nodes) == 1}
    reasons = move_shapes_beside_readers(device_of, movable)
    return {group: (device_of[group.nodes[0]], reasons.get(group.nodes[0], "")) for group in candidates}

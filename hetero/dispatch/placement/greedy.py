"""GREEDY: everything goes to the first device, in the user's order, that can run it; but for what computes shapes."""

from __future__ import annotations

from hetero.dispatch.placement.shape_values import keep_shapes_beside_readers
from hetero.dispatch.placement.strategy import Assignment, Candidates
from hetero.graph import Model


def greedy(model: Model, candidates: Candidates) -> Assignment:
    """The device of each group; a reason only where that is not the first one."""
    device_of = {node: devices[0] for group, devices in candidates.items() for node in group.nodes}
    able = {group.nodes[0]: devices for group, devices in candidates.items() if len(group.nodes) == 1}
    reasons = keep_shapes_beside_readers(device_of, able)
    return {group: (device_of[group.nodes[0]], reasons.get(group.nodes[0], "")) for group in candidates}

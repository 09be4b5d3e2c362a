"""GREEDY: everything goes to the first device, in the user's order, that can run it."""

from __future__ import annotations

from hetero.dispatch.placement.strategy import Candidates, Homes
from hetero.graph import Model


def greedy(model: Model, candidates: Candidates) -> Homes:
    """The device of each group, without a reason of its own."""
    return {group: (devices[0], "") for group, devices in candidates.items()}

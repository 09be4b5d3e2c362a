"""PIPELINE: one stage for each device, in the user's order, so that several inferences can overlap.

Stages are contiguous in topological order; the time of the slowest stage is minimal within the memory of the devices.
A unit that the device of its stage does not support, or that is pinned, runs on the first device that may run it.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence

from hetero.dispatch.placement.problem import Choice, Problem
from hetero.system.errors import DeviceError

# Factor by which the slowest stage may exceed the best balance if that makes the transfers between stages cheaper.
SLACK = 1.05
# Steps of the bisection for the time of the slowest stage.
BISECTIONS = 40


def pipeline(problem: Problem) -> Choice:
    """Return the device of each unit. Raise DeviceError if the model does not fit into the memory of the devices."""
    stages = _Stages(problem)
    cuts = stages.fill(math.inf)
    if cuts is None:
        needed, available = sum(problem.bytes) / 1e6, ", ".join(f"{limit / 1e6:.6g}" for limit in problem.limits)
        raise DeviceError(f"a pipeline needs {needed:.6g} MB on its devices, which have {available} MB")
    low, high = 0.0, max(stages.loads(cuts).seconds)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        filled = stages.fill(middle)
        low, high, cuts = (middle, high, cuts) if filled is None else (low, middle, filled)
    return stages.choice(stages.cheapest_cuts(cuts, high * SLACK))


class _Stages:
    """Stages of a problem. ``cuts`` are the first units of the second and all later stages."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._count = problem.device_count
        self._able = [problem.able(unit) for unit in range(len(problem.seconds))]
        self._bytes = problem.bytes or [0.0] * len(problem.seconds)
        self._limits = problem.limits or [math.inf] * self._count
        self._fixed = _Loads(self._count)  # of units that only one device may run
        for unit, able in enumerate(self._able):
            if len(able) == 1:
                self._add(self._fixed, unit, able[0])

    def _home(self, unit: int, stage: int) -> int:
        return stage if stage in self._able[unit] else self._able[unit][0]

    def _add(self, loads: _Loads, unit: int, device: int) -> None:
        loads.seconds[device] += self._problem.seconds[unit][device]
        loads.bytes[device] += self._bytes[unit]

    def _fits(self, loads: _Loads, unit: int, device: int, limit: float) -> bool:
        seconds = loads.seconds[device] + self._problem.seconds[unit][device]
        return seconds <= limit and loads.bytes[device] + self._bytes[unit] <= self._limits[device]

    def fill(self, limit: float) -> list[int] | None:
        """Return cuts for stages filled greedily up to ``limit`` seconds and the memory; None if units are left."""
        loads = copy.deepcopy(self._fixed)
        cuts: list[int] = []
        if any(used > size for used, size in zip(loads.bytes, self._limits)) or max(loads.seconds) > limit:
            return None
        for unit, able in enumerate(self._able):
            if len(able) == 1:
                continue
            while not self._fits(loads, unit, device := self._home(unit, len(cuts)), limit):
                if len(cuts) + 1 == self._count:
                    return None
                cuts.append(unit)
            self._add(loads, unit, device)
        return cuts + [len(self._able)] * (self._count - 1 - len(cuts))

    def choice(self, cuts: Sequence[int]) -> Choice:
        spans = zip((0, *cuts), (*cuts, len(self._able)))
        stages = [stage for stage, (start, end) in enumerate(spans) for _ in range(start, end)]
        return [self._home(unit, stage) for unit, stage in enumerate(stages)]

    def loads(self, cuts: Sequence[int]) -> _Loads:
        loads = _Loads(self._count)
        for unit, device in enumerate(self.choice(cuts)):
            self._add(loads, unit, device)
        return loads

    def cheapest_cuts(self, cuts: Sequence[int], limit: float) -> list[int]:
        """Move each cut, from the last on, to an earlier unit where transfers are cheapest, as far as limits allow."""
        cuts, loads = list(cuts), self.loads(cuts)
        for stage in range(self._count - 1, 0, -1):
            crossing = self._crossing(stage)
            start = cuts[stage - 2] if stage > 1 else 0
            best = cuts[stage - 1]
            for unit in range(cuts[stage - 1] - 1, start - 1, -1):
                before, after = self._home(unit, stage - 1), self._home(unit, stage)
                if before != after:
                    if not self._fits(loads, unit, after, limit):
                        break
                    self._add(loads, unit, after)
                if crossing[unit] < crossing[best]:
                    best = unit
            cuts[stage - 1] = best
            loads = self.loads(cuts)
        return cuts

    def _crossing(self, stage: int) -> list[float]:
        """Return the seconds of the transfers into a stage for each unit that it may begin with, and for the end."""
        change = [0.0] * (len(self._able) + 1)
        for flow in self._problem.flows:
            if flow.source is not None and flow.readers:
                seconds = flow.between(stage - 1, stage)
                change[flow.source + 1] += seconds
                change[max(flow.readers) + 1] -= seconds
        return list(itertools.accumulate(change))


class _Loads:
    """Seconds and bytes on each device."""

    def __init__(self, count: int) -> None:
        self.seconds, self.bytes = [0.0] * count, [0.0] * count

"""PIPELINE: one stage for each device, in the user's order, so that several inferences can be under way at once.

The stages are contiguous in the order in which units can run, and the slowest of them is as fast as can be within the
memory of the devices. A unit that the device of its stage cannot run, or that is pinned, goes to the first device that
it can go to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero.dispatch.placement.problem import Choice, Problem
from hetero.errors import DeviceError

# Stages may be so much slower than the best balance has them where less crosses by that.
SLACK = 1.05
# Halvings of the interval in which the seconds of the slowest stage are sought.
HALVINGS = 40


def pipeline(problem: Problem) -> Choice:
    """The devices of the units by the rules above. Raises DeviceError where the model does not fit into the devices."""
    stages = _Stages(problem)
    cuts = stages.fill(math.inf)
    if cuts is None:
        needed, there = sum(problem.bytes) / 1e6, ", ".join(f"{limit / 1e6:.6g}" for limit in problem.limits)
        raise DeviceError(f"a pipeline needs {needed:.6g} MB on its devices, which have {there} MB")
    low, high = 0.0, max(stages.loads(cuts))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = stages.fill(middle)
        low, high, cuts = (middle, high, cuts) if found is None else (low, middle, found)
    return stages.choice(stages.moved(cuts, high * SLACK))


class _Stages:
    """Stages by the units with which the second and all later ones begin."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._count = problem.device_count
        self._able = [problem.able(unit) for unit in range(len(problem.seconds))]
        self._bytes = problem.bytes or [0.0] * len(problem.seconds)
        self._limits = problem.limits or [math.inf] * self._count
        self._fixed = _Loads(self._count)
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
        """Stages that each take as many units as so many seconds and the memory allow; None where some are left."""
        loads, cuts = self._fixed.copy(), []
        if any(used > there for used, there in zip(loads.bytes, self._limits)) or max(loads.seconds) > limit:
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
        stages = [stage for stage, (start, end) in enumerate(self._spans(cuts)) for _ in range(start, end)]
        return [self._home(unit, stage) for unit, stage in enumerate(stages)]

    def loads(self, cuts: Sequence[int]) -> list[float]:
        """The seconds of each device."""
        loads = _Loads(self._count)
        for unit, device in enumerate(self.choice(cuts)):
            self._add(loads, unit, device)
        return loads.seconds

    def _spans(self, cuts: Sequence[int]) -> list[tuple[int, int]]:
        return list(zip((0, *cuts), (*cuts, len(self._able))))

    def moved(self, cuts: Sequence[int], limit: float) -> list[int]:
        """The same stages, but from the last one on each begins where least crosses, as far as the limits allow."""
        cuts, loads = list(cuts), _Loads(self._count)
        for unit, device in enumerate(self.choice(cuts)):
            self._add(loads, unit, device)
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
            loads = _Loads(self._count)
            for unit, device in enumerate(self.choice(cuts)):
                self._add(loads, unit, device)
        return cuts

    def _crossing(self, stage: int) -> list[float]:
        """The seconds of what crosses where a stage begins with a unit, for each unit and behind the last one."""
        change = [0.0] * (len(self._able) + 1)
        for flow in self._problem.flows:
            if flow.source is not None and flow.readers:
                seconds = flow.between(stage - 1, stage)
                change[flow.source + 1] += seconds
                change[max(flow.readers) + 1] -= seconds
        total, crossing = 0.0, []
        for step in change:
            total += step
            crossing.append(total)
        return crossing


class _Loads:
    def __init__(self, count: int) -> None:
        self.seconds, self.bytes = [0.0] * count, [0.0] * count

    def copy(self) -> _Loads:
        other = _Loads(0)
        other.seconds, other.bytes = list(self.seconds), list(self.bytes)
        return other

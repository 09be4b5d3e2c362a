"""Timing several candidates in turn, so that what slows the machine slows them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Comparison(NamedTuple):
    """Median seconds of each candidate for one task."""

    task: str
    medians: dict[str, float]

    def lines(self) -> list[str]:
        """One line a candidate: the median, and the ratio to the first candidate's."""
        first = next(iter(self.medians.values()))
        return [
            f"{self.task:32} {name:16} {seconds * 1e3:10.2f} ms   {seconds / first:6.2f} x"
            for name, seconds in self.medians.items()
        ]


def interleave(task: str, candidates: Mapping[str, Callable[[], object]], rounds: int) -> Comparison:
    """Run each candidate once to warm up, then all of them in turn, ``rounds`` times."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for run in candidates.values():
        run()
    for _ in range(rounds):
        for name, run in candidates.items():
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return Comparison(task, {name: statistics.median(taken) for name, taken in times.items()})

"""Timing several candidates in turn, so that what slows the machine slows them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

# Threads of some runtimes wait for the next run by spinning: a candidate is not timed while those of another still do.
SETTLING = 0.05


class Comparison(NamedTuple):
    """Median seconds of each candidate for one task."""

    task: str
    medians: dict[str, float]

    def lines(self) -> list[str]:
        """One line a candidate: the median, and the ratio to the first candidate's."""
        first = next(iter(self.medians.values()))
        return [
            f"{self.task:32} {name:16} {seconds * 1e3:12.4f} ms   {seconds / first:6.2f} x"
            for name, seconds in self.medians.items()
        ]


def interleave(task: str, candidates: Mapping[str, Callable[[], object]], rounds: int) -> Comparison:
    """Run all candidates in turn, ``rounds`` times; of two runs of each the second is timed."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            time.sleep(SETTLING)
            run()  # to wake what has gone to sleep
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return Comparison(task, {name: statistics.median(taken) for name, taken in times.items()})

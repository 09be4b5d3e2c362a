"""Measurement of several candidates in turn, so that other work on the machine slows all of them equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

# Seconds between candidates. Threads of some runtimes spin for a while after an inference.
SETTLING = 0.05


class Comparison(NamedTuple):
    """Median seconds of each candidate for one task."""

    task: str
    medians: dict[str, float]

    def lines(self) -> list[str]:
        """Return one line per candidate: the median, and the ratio to the first candidate's."""
        first = next(iter(self.medians.values()))
        return [
            f"{self.task:32} {name:16} {seconds * 1e3:12.4f} ms   {seconds / first:6.2f} x"
            for name, seconds in self.medians.items()
        ]


def interleave(task: str, candidates: Mapping[str, Callable[[], object]], rounds: int) -> Comparison:
    """Run all candidates in turn, ``rounds`` times. Each runs twice, and the second run is measured."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            time.sleep(SETTLING)
            run()  # wakes sleeping threads
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return Comparison(task, {name: statistics.median(seconds) for name, seconds in times.items()})

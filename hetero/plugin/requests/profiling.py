"""Times of inferences: Timer of a block, ProfilingInfo of the last inference, ExecutionTimes of all so far."""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from hetero.system.fork import renew_after_fork

# The node types of what is no operation.
STAGE, SUBGRAPH, COPY = "Stage", "Subgraph", "Copy"


class Timer:
    """Context manager that measures its block: the time that passes, and the processor time of the thread."""

    __slots__ = ("_cpu", "_real", "cpu_time", "real_time")

    def __init__(self) -> None:
        self.real_time = self.cpu_time = timedelta(0)

    def __enter__(self) -> Timer:
        self._real, self._cpu = time.perf_counter(), time.thread_time()
        return self

    def __exit__(self, *error: object) -> None:
        cpu = time.thread_time() - self._cpu
        self.real_time = timedelta(seconds=time.perf_counter() - self._real)
        self.cpu_time = min(timedelta(seconds=cpu), self.real_time)  # the two clocks differ by some nanoseconds


class Status(enum.Enum):
    """Whether a node was executed, as in OpenVINO."""

    NOT_RUN = 0
    OPTIMIZED_OUT = 1
    EXECUTED = 2


@dataclass
class ProfilingInfo:
    """The time that one operation, stage or subgraph of the last inference took. The fields are OpenVINO's.

    ``exec_type`` is the kernel or device that executed it. ``cpu_time`` is the part of ``real_time`` in which the
    host's processor was busy.
    """

    node_name: str = ""
    node_type: str = ""
    exec_type: str = ""
    real_time: timedelta = timedelta(0)
    cpu_time: timedelta = timedelta(0)
    status: Status = Status.EXECUTED

    Status = Status
    NOT_RUN, OPTIMIZED_OUT, EXECUTED = Status


def operation_times(infos: Iterable[ProfilingInfo]) -> dict[str, timedelta]:
    """Return the time of each executed operation by its name. Entries of one name, its kernels, are summed."""
    times: dict[str, timedelta] = {}
    for info in infos:
        if info.status is Status.EXECUTED and info.node_type != STAGE:
            times[info.node_name] = times.get(info.node_name, timedelta(0)) + info.real_time
    return times


class ExecutionTimes:
    """The times of the operations of a compiled model in all inferences of all requests so far."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[timedelta, int]] = {}
        self._renew()
        renew_after_fork(self, ExecutionTimes._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def add(self, infos: Iterable[ProfilingInfo]) -> None:
        """Add the profile of one inference."""
        with self._lock:
            for name, time in operation_times(infos).items():
                total, count = self._sums.get(name, (timedelta(0), 0))
                self._sums[name] = total + time, count + 1

    def mean(self, name: str) -> timedelta | None:
        """Return the mean over the inferences in which an operation ran, None if there are none."""
        with self._lock:
            total, count = self._sums.get(name, (timedelta(0), 0))
        return total / count if count else None

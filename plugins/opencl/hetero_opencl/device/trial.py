"""Trial of an OpenCL device at its first use on a machine.

A driver's compiler may abort, and a driver may compute wrong results. So child processes first build and run a few
kernels, and measure how fast they are. The verdict is cached per driver, processor and version of this package.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyopencl as cl

from hetero.plugin import Executor, cache_folder, get_logger, write_cached
from hetero_opencl.device import pocl
from hetero_opencl.device.caches import default_folder
from hetero_opencl.device.child_process import ChildProcess, ProcessFailure
from hetero_opencl.device.platforms import identity, target_of
from hetero_opencl.profiles.profile import Measurements

if sys.platform != "win32":
    import fcntl

log = get_logger("hetero.opencl")

# A trial takes up to 10 s on an idle processor, also of a device that computes some MFLOP/s, as it measures that with
# less work. PoCL's compiler may crash after minutes, or not end.
TRIAL_SECONDS = 180
_MOST_PROCESSES = 4


@dataclass(frozen=True)
class Verdict:
    """Result of a trial: the reason why the device cannot be used, empty if it can, and what was measured."""

    reason: str = ""
    measurements: Measurements = field(default_factory=Measurements)

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Verdict:
        """Return the verdict with these fields, as asdict returns them. Raises TypeError or LookupError for others."""
        measurements = Measurements(**fields["measurements"])
        if asdict(measurements) != fields["measurements"]:
            raise LookupError("a figure is missing, which an earlier version did not measure")
        return cls(fields["reason"], measurements)


def verdict_on(device: cl.Device) -> Verdict:
    """Return the cached verdict on a device, or try the device in a child process."""
    file = verdict_file(device)
    folder = cache_folder(file.parent)
    with contextlib.ExitStack() as stack:
        if folder and sys.platform != "win32":
            # One process runs the trial undisturbed, while others wait and then read its verdict.
            with contextlib.suppress(OSError):  # a folder that is not writable cannot store verdicts either
                fcntl.flock(stack.enter_context(open(folder / "lock", "w")), fcntl.LOCK_EX)
        try:
            return Verdict.of(json.loads(file.read_bytes()))
        except (OSError, LookupError, TypeError, ValueError):  # no file, or a damaged one
            pass
        log.warning("testing %s of %s before its first use, for some seconds", device.name, device.platform.name)
        verdict, is_final = _try(device)
        if verdict.reason:
            log.warning("%s of %s cannot be used: %s", device.name, device.platform.name, verdict.reason)
        if is_final and folder:
            if verdict.reason:
                verdict = Verdict(f"{verdict.reason}; delete {file} to test it again")
            write_cached(file, [json.dumps(asdict(verdict)).encode()])
        return verdict


def verdict_file(device: cl.Device) -> Path:
    """Return the file of the verdict. Its name depends on the device, the driver, the processor and the software."""
    versions = [importlib.metadata.version(package) for package in ("hetero-opencl", "pyopencl")]
    driver = [device.platform.name, device.platform.version, device.name, device.version, device.driver_version]
    cores = str(device.max_compute_units)
    processor = [platform.machine(), cores, *sorted(pocl.processor_flags()), target_of(device)]
    key = hashlib.sha256("\0".join([*versions, *driver, *processor]).encode()).hexdigest()
    return default_folder().parent / "trials" / f"{key}.json"


def _try(device: cl.Device) -> tuple[Verdict, bool]:
    """Try a device; return the verdict, and whether it is final."""
    count = min(os.cpu_count() or 1, _MOST_PROCESSES)
    with contextlib.ExitStack() as stack:
        try:
            children = (ChildProcess("trial_process", "try_device") for _ in range(count))
            calls = [partial(stack.enter_context(contextlib.closing(c)).call, TRIAL_SECONDS) for c in children]
            return run_steps(calls, identity(device)), True
        except ProcessFailure as failure:
            return Verdict(f"the process that tested it {failure}"), failure.is_final


def run_steps(calls: Sequence[Callable[..., Any]], device_identity: list[str | int]) -> Verdict:
    """Return the verdict of ``trial_process.try_device``, which each of ``calls`` calls, in a process of its own.

    The cases are divided among them, as most of their time is that of compilers. Raises ProcessFailure.
    """

    def call(index: int, step: str, verdict: Verdict) -> Verdict:
        part = [index, len(calls)]
        fields = {"device_identity": device_identity, "measurements": asdict(verdict.measurements), "part": part}
        return Verdict.of(calls[index](step=step, **fields))

    measured = call(0, "vectors", Verdict())
    if measured.reason:
        return measured
    # Not threads of concurrent.futures, which would keep a program from ending until all cases are done.
    executor, answers = Executor("device trial", len(calls)), [Future[Verdict]() for _ in calls]
    for index, answer in enumerate(answers):
        executor.submit(_set_result, answer, partial(call, index, "cases", measured))
    for verdict in [answer.result() for answer in answers]:
        if verdict.reason:
            return verdict
    return call(0, "speeds", measured)


def _set_result(answer: Future[Verdict], compute: Callable[[], Verdict]) -> None:
    try:
        answer.set_result(compute())
    except BaseException as error:
        answer.set_exception(error)

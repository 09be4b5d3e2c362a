"""Trial of an OpenCL device at its first use on a machine.

A driver's compiler may abort, and a driver may compute wrong results. So a child process first builds and runs a few
kernels, and measures how fast they are. The verdict is cached per driver, processor and version of this package.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import platform
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyopencl as cl

from hetero.plugin import cache_folder, get_logger, write_cached
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
    try:
        with contextlib.closing(ChildProcess("trial_process", "try_device")) as process:
            return Verdict.of(process.call(TRIAL_SECONDS, device_identity=identity(device))), True
    except ProcessFailure as failure:
        return Verdict(f"the process that tested it {failure}"), failure.is_final

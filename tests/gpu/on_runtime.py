"""A pytest plugin (``-p tests.gpu.on_runtime``): device GPU is the one of an OpenCL runtime, with a GPU's profile.

It runs in processes that plugin_tests.py starts, with options in an environment variable, and writes what each test did
to a file.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from zlib import crc32

import pyopencl as cl
import pytest
from hetero_opencl.compile import lower_model
from hetero_opencl.device import device, platforms, trial
from hetero_opencl.device.launch import SLACK
from hetero_opencl.execute.workspace import Arena
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Measurements

from tests.devices import GPU_LIMITS
from tests.gpu.plugin_tests import VARIABLE, Options, Record

# A mid-range GPU. What is measured on a simulator would select kernels for that.
MEASUREMENTS = Measurements(flops_per_second=1e13, bytes_per_second=4e11, launch_seconds=5e-6, sub_group_size=32)


OPTIONS = Options(**json.loads(os.environ[VARIABLE]))


def use_runtime() -> None:
    """Let the platform's device be the only one, with a GPU's profile and no trial."""
    all_devices, profile_of = platforms.all_devices, device.profile_of

    def only() -> list[cl.Device]:
        return [handle for handle in all_devices() if handle.platform.name.strip() == OPTIONS.platform]

    def profile(handle: cl.Device, measurements: Measurements) -> DeviceProfile:
        return replace(profile_of(handle, measurements), builds_in_child=False, **GPU_LIMITS)

    platforms.all_devices = device.all_devices = only
    device.profile_of = profile
    # Oclgrind's compiler crashes if two threads use it.
    device.ThreadPoolExecutor = lambda count: ThreadPoolExecutor(1)
    trial.verdict_on = lambda handle: trial.Verdict("", MEASUREMENTS)


def separate_buffers() -> None:
    """Give each value a buffer of its own."""

    def part(arena: Arena, slot: object) -> cl.Buffer:
        if slot not in arena._parts:
            arena._parts[slot] = cl.Buffer(arena._context, cl.mem_flags.READ_WRITE, slot.byte_size + SLACK)
        return arena._parts[slot]

    Arena.part = part
    Lowering.shares_part = lambda *arguments: False
    lower_model.find_concat_parts = lambda *arguments: {}


use_runtime()
if OPTIONS.is_separate:
    separate_buffers()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Select a sample of the tests, with the profile of the runtime."""
    selected = [item for item in items if _is_selected(item)]
    config.hook.pytest_deselected(items=list(set(items).difference(selected)))
    items[:] = selected
    yield


def _is_selected(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return not parameters.get("processor") and crc32(item.nodeid.encode()) % OPTIONS.one_in == 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    def end(*_: object) -> None:
        raise TimeoutError(f"the test took more than {OPTIONS.seconds} s")

    previous = signal.signal(signal.SIGALRM, end)
    signal.alarm(OPTIONS.seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a record, in the process that starts the others; its report of a crash has no lines of an error."""
    if "PYTEST_XDIST_WORKER" not in os.environ and (report.when == "call" or report.outcome != "passed"):
        errors = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")]
        problem = " ".join(errors) or (report.longreprtext if report.failed else "")
        record = Record(report.nodeid, report.outcome, problem, report.duration, report.capstderr)
        with open(OPTIONS.records, "a", encoding="utf-8") as file:
            print(json.dumps(record), file=file)

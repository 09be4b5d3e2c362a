"""Environments in which new Python processes have a faulty OpenCL driver.

A module ``sitecustomize``, which Python imports at its start, changes pyopencl to behave like that.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from hetero_opencl.device.device import present_devices
from hetero_opencl.device.trial import verdict_file

_ABORT = """
import os, sys
import pyopencl as cl

def is_faulty(device):
    return {platform!r} in device.platform.name

build = cl.Program.build

def abort(self, *arguments, **options):
    source = getattr(self, "_source", None) or ""
    if {marker!r} in source and any(map(is_faulty, self.get_info(cl.program_info.DEVICES))):
        print("LLVM ERROR: Cannot emit physreg copy instruction", file=sys.stderr, flush=True)
        os.{end}()
    return build(self, *arguments, **options)

cl.Program.build = abort
"""
_COMPUTE_NOTHING = """
import pyopencl as cl

enqueue = cl.enqueue_nd_range_kernel

def skip(queue, kernel, *arguments, **options):
    if {platform!r} in queue.device.platform.name:
        return cl.enqueue_marker(queue)
    return enqueue(queue, kernel, *arguments, **options)

cl.enqueue_nd_range_kernel = skip
"""


def aborting_driver(folder: Path, platform: str = "", marker: str = "", end: str = "abort") -> dict[str, str]:
    """Return an environment in which building a source that has the marker ends the process."""
    return _environment(
        folder, _ABORT.format(platform=platform, marker=marker, end=end), "none" if marker else platform
    )


def idle_driver(folder: Path, platform: str = "") -> dict[str, str]:
    """Return an environment in which kernels do nothing."""
    return _environment(folder, _COMPUTE_NOTHING.format(platform=platform), platform)


def _environment(folder: Path, code: str, untried: str) -> dict[str, str]:
    """Use empty caches, except for verdicts on platforms whose names do not contain ``untried``."""
    (folder / "sitecustomize.py").write_text(code)
    verdicts = folder / "cache/hetero/trials"
    verdicts.mkdir(mode=0o700, parents=True, exist_ok=True)
    for device in present_devices().usable:
        if untried not in device.handle.platform.name:
            shutil.copy(verdict_file(device.handle), verdicts)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache")}

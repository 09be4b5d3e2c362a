"""PoCL's cache folder. PoCL writes every kernel there, and aborts the process if a write fails."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import platformdirs
import pyopencl as cl

from hetero.plugin import cache_folder, get_logger, has_space
from hetero.system.errors import DeviceError
from hetero_opencl.device import pocl

log = get_logger("hetero.opencl")

VARIABLE = "POCL_CACHE_DIR"
# Required free space in bytes: the kernels of a program take up to 180 kB.
SPACE = 1 << 18
# Parents of a temporary folder for use if the cache is not writable; None is the system's default.
_TEMPORARY = (None, "/dev/shm")


def choose_folder() -> None:
    """Set POCL_CACHE_DIR to a writable folder: the user's cache folder, or else a temporary one.

    PoCL reads the variable when its devices are first listed.
    """
    path = Path(os.environ.setdefault(VARIABLE, str(platformdirs.user_cache_path("pocl") / "kcache")))
    if cache_folder(path) and has_space(path, SPACE):
        return
    for parent in _TEMPORARY:
        try:
            folder = tempfile.mkdtemp(prefix="hetero-pocl-", dir=parent)
        except OSError:
            continue
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        if has_space(Path(folder), SPACE):
            log.warning("PoCL keeps its kernels in %s until this process ends", folder)
            os.environ[VARIABLE] = folder
            return


def check_space(device: cl.Device) -> None:
    """Raise DeviceError if a device is PoCL's and its cache folder is not writable or has no space left."""
    folder = os.environ.get(VARIABLE)
    if folder and pocl.is_pocl(device) and not has_space(Path(folder), SPACE):
        raise DeviceError(f"{device.name.strip()} cannot build kernels: PoCL cannot write to its cache folder {folder}")

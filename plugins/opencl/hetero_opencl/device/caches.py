"""Caches of kernels: our binaries, and those of PoCL and pyopencl, whose folders may not be writable."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs
import pyopencl as cl

from hetero.system.cache_folder import cache_folder, has_space, write_cached
from hetero.system.errors import DeviceError
from hetero.system.messages import get_logger
from hetero_opencl.device import pocl

log = get_logger("hetero.opencl")

# Each file begins with the SHA-256 digest of the binary.
DIGEST_SIZE = hashlib.sha256().digest_size
POCL_FOLDER = "POCL_CACHE_DIR"
# Required free space in PoCL's folder in bytes: the kernels of a program take up to 180 kB.
POCL_SPACE = 1 << 18
# Parents of a temporary folder for use if PoCL's is not writable; None is the system's default.
_TEMPORARY = (None, "/dev/shm")


class BinaryCache:
    """Kernel binaries by name. The name depends on the source, the device and the driver."""

    def __init__(self, folder: Path, imported: Mapping[str, bytes | memoryview]) -> None:
        self._folder, self._imported = cache_folder(folder), imported

    def get(self, name: str) -> bytes | None:
        """Return an imported or cached binary, or None if there is none or the cached one is damaged.

        Some drivers crash on damaged binaries.
        """
        if name in self._imported:
            return bytes(self._imported[name])
        if self._folder is None:
            return None
        try:
            content = (self._folder / name).read_bytes()
        except OSError:
            return None
        digest, binary = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        return binary if hashlib.sha256(binary).digest() == digest else None

    def store(self, name: str, binary: bytes) -> None:
        """Write a binary to the folder. Failures are ignored: the kernel is then built again the next time."""
        if self._folder:
            write_cached(self._folder / name, [hashlib.sha256(binary).digest(), binary])


def default_folder() -> Path:
    """Return the folder of binaries that is used unless CACHE_DIR is set."""
    return platformdirs.user_cache_path("hetero") / "opencl"


def choose_pocl_folder() -> None:
    """Set POCL_CACHE_DIR to a writable folder: the user's cache folder, or else a temporary one.

    PoCL writes every kernel there, and aborts the process if a write fails. It reads the variable when its devices
    are first listed.
    """
    path = Path(os.environ.setdefault(POCL_FOLDER, str(platformdirs.user_cache_path("pocl") / "kcache")))
    if cache_folder(path) and has_space(path, POCL_SPACE):
        return
    for parent in _TEMPORARY:
        try:
            folder = tempfile.mkdtemp(prefix="hetero-pocl-", dir=parent)
        except OSError:
            continue
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        if has_space(Path(folder), POCL_SPACE):
            log.warning("PoCL keeps its kernels in %s until this process ends", folder)
            os.environ[POCL_FOLDER] = folder
            return


def check_pocl_space(device: cl.Device) -> None:
    """Raise DeviceError if a device is PoCL's and its cache folder is not writable or has no space left."""
    folder = os.environ.get(POCL_FOLDER)
    if folder and pocl.is_pocl(device) and not has_space(Path(folder), POCL_SPACE):
        raise DeviceError(f"{device.name.strip()} cannot build kernels: PoCL cannot write to its cache folder {folder}")


class _InMemory(dict[Any, Any]):
    """The part of pytools' WriteOncePersistentDict that pyopencl uses."""

    store_if_not_present = dict.setdefault


def keep_invokers_in_memory() -> None:
    """Keep pyopencl's invokers, the Python functions that set kernel arguments, in memory, for the whole process.

    pyopencl keeps them in an SQLite database and cannot make kernels if that is not writable. In memory, making a
    kernel again takes 17 µs instead of 105.
    """
    disabled = cl._PYOPENCL_NO_CACHE
    cl._PYOPENCL_NO_CACHE = True  # the import opens no database then
    try:
        from pyopencl import invoker
    finally:
        cl._PYOPENCL_NO_CACHE = disabled
    invoker.invoker_cache = _InMemory()  # type: ignore[assignment]  # any mapping with that method works


def make_kernel(program: cl.Program, name: str) -> cl.Kernel:
    """Make a kernel of a built program."""
    # Not from the wrapper around the program, which pyopencl takes 20 µs to look into.
    return cl.Kernel(program._get_prg(), name)


def build_uncached(program: cl.Program) -> cl.Program:
    """Build a program without pyopencl's cache, and without its warning about compiler output."""
    with warnings.catch_warnings(action="ignore", category=cl.CompilerWarning):
        return program.build(cache_dir=False)  # type: ignore[arg-type]  # the stub does not know that False is accepted

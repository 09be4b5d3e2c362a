"""The shared library of oneDNN: finding the installed one and loading it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hetero.plugin import ForkGuard
from hetero.system.errors import DeviceError

#: The command in messages to users who have no library.
INSTALL = "pip install onednn-cpu-gomp"
# With 1000 spins, threads fall asleep between primitives: a text embedder takes 2 times as long for 5 tokens and 1.2
# times for 120 on a Sapphire Rapids. With 30,000 it takes 10 times as long beside one other process.
_SPIN_COUNT, _SPINS = "GOMP_SPINCOUNT", "3000"
_PREFIX = "onednn"
_PREFERRED = "onednn-cpu-"
_MAJOR = 3
# Sequential, OpenMP and TBB: executions return with their results. Those of SYCL are asynchronous.
_RUNTIMES = (1, 2, 4)

#: The threads of OpenMP are gone in forked processes, so that oneDNN hangs there.
fork_guard = ForkGuard("ONEDNN", "the library oneDNN was loaded")


class Library(NamedTuple):
    """A loaded library, the package that it comes from, and its version."""

    handle: ctypes.CDLL
    package: str
    version: str


class _Version(ctypes.Structure):
    """dnnl_version_t, up to the fields of interest."""

    _fields_ = (
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
    )


@functools.cache
def load_library() -> Library:
    """Load the library of the first installed package of oneDNN that loads and that waits for its results.

    Packages for the processor alone come first, the newest one before the others.

    Raises DeviceError if there is none, with the reason of each that does not load.
    """
    fork_guard.watch()
    problems: list[str] = []
    for package, path in _candidates():
        try:
            with _short_spins():
                handle = ctypes.CDLL(str(path))
            version = _version_of(handle)
        except (OSError, AttributeError) as error:
            problems.append(f"{package} does not load: {error}")
            continue
        if version.major != _MAJOR:
            problems.append(f"{package} is oneDNN {version.major}, not {_MAJOR}")
        elif version.cpu_runtime not in _RUNTIMES:
            problems.append(f"{package} runs on SYCL or on threads of the caller's, not on OpenMP, TBB or one thread")
        else:
            return Library(handle, package, f"{version.major}.{version.minor}.{version.patch}")
    reasons = "; ".join(problems) or "no package of oneDNN is installed"
    raise DeviceError(f"ONEDNN needs the library oneDNN {_MAJOR}, but {reasons}: {INSTALL}")


@contextlib.contextmanager
def _short_spins() -> Iterator[None]:
    """Let GNU's OpenMP, if it is loaded inside the ``with`` block, spin at most some microseconds for other threads.

    By default it spins for milliseconds: then inferences take up to ten times as long if other processes use the cores,
    because a spinning thread keeps the core from the thread that it waits for.
    """
    is_set = any(name in os.environ for name in (_SPIN_COUNT, "OMP_WAIT_POLICY"))
    if not is_set:
        os.environ[_SPIN_COUNT] = _SPINS
    try:
        yield
    finally:
        if not is_set:
            del os.environ[_SPIN_COUNT]


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield the names of the packages, with their versions, and the paths of their libraries."""
    packages = [
        (package.version, package)
        for package in importlib.metadata.distributions()
        if (package.name or "").lower().startswith(_PREFIX)
    ]

    def rank(pair: tuple[str, importlib.metadata.Distribution]) -> tuple[bool, list[int]]:
        return pair[1].name.lower().replace("_", "-").startswith(_PREFERRED), _numbers(pair[0])

    for version, package in sorted(packages, key=rank, reverse=True):
        files = [file for file in package.files or () if file.name == f"libdnnl.so.{_MAJOR}"]
        for file in files[:1]:
            yield f"{package.name} {version}", Path(str(package.locate_file(file))).resolve()


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _version_of(handle: ctypes.CDLL) -> _Version:
    handle.dnnl_version.restype = ctypes.POINTER(_Version)
    return handle.dnnl_version().contents

"""Intel's OpenCL runtime for processors as pip installs it (``hetero-opencl[intel]``), made visible to the loader.

The wheel's own .icd file names a folder of the machine that built it. Here the loader is shown one that names the
library as it is installed, beside the drivers that it would have found anyway.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from hetero.messages import get_logger

log = get_logger("hetero.opencl")

_RUNTIME = "libintelocl.so"
# What it needs, each before what needs it, and the packages that bring these.
_NEEDED = ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so", "libtbb.so.12")
_PACKAGES = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb")

_lock = threading.Lock()  # the environment is the whole process's


@contextlib.contextmanager
def visible() -> Iterator[None]:
    """The loader finds Intel's runtime too when it first looks for drivers inside this block; it looks once only.

    Nothing is done where pip did not install the runtime, where another copy of it is installed for the whole machine,
    or where OCL_ICD_VENDORS names one driver, which then is the only one.
    """
    libraries = _installed()
    folders = _vendor_folders()
    if _RUNTIME not in libraries or folders is None or any(map(_names_runtime, _icd_files(folders))):
        yield
        return
    for name in _NEEDED:
        if name in libraries:
            # For all to see: another copy of TBB may be loaded already (OpenVINO brings one), and too old.
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(libraries[name]), mode=ctypes.RTLD_GLOBAL)
    with _lock, tempfile.TemporaryDirectory(prefix="hetero-opencl-") as folder, _environment(OCL_ICD_VENDORS=folder):
        for file in _icd_files(folders):
            (Path(folder) / file.name).symlink_to(file.resolve())
        (Path(folder) / "hetero-intel.icd").write_bytes(os.fsencode(libraries[_RUNTIME]) + b"\n")
        yield
    reason = _why_unused(libraries[_RUNTIME])
    if reason:
        log.warning("Intel's OpenCL runtime (%s) is not in use: %s", libraries[_RUNTIME], reason)


def _installed() -> dict[str, Path]:
    """The libraries by their names, wherever pip put them."""
    found: dict[str, Path] = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for file in importlib.metadata.files(package) or ():
                if file.name in (_RUNTIME, *_NEEDED):
                    path = Path(file.locate()).resolve()
                    if path.exists():
                        found.setdefault(file.name, path)
    return found


def _vendor_folders() -> list[Path] | None:
    """Where the loader looks for drivers; None where it is told a single one instead."""
    named = os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH")
    if named:
        return [Path(named)] if Path(named).is_dir() else None
    folders = [Path("/etc/OpenCL/vendors")]
    if (Path(sys.prefix) / "conda-meta").is_dir():
        folders.append(Path(sys.prefix) / "etc/OpenCL/vendors")  # where conda's loader looks
    return folders


def _icd_files(folders: list[Path]) -> list[Path]:
    return list({file.name: file for folder in reversed(folders) for file in sorted(folder.glob("*.icd"))}.values())


def _names_runtime(file: Path) -> bool:
    """Whether an .icd file names a copy of Intel's runtime that is there."""
    try:
        library = Path(os.fsdecode(file.read_bytes().strip()))
    except OSError:
        return False
    return library.name == _RUNTIME and (library.exists() or library == Path(_RUNTIME))


def _why_unused(library: Path) -> str | None:
    """Why the loader did not load it; None where it did."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(str(library), mode=os.RTLD_NOLOAD)
        return None
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return str(error)
    return "OpenCL was used before hetero, and finds its drivers once"


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

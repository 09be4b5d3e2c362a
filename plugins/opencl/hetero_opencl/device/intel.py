"""Make Intel's OpenCL CPU runtime, as pip installs it (``hetero-opencl[intel]``), visible to the OpenCL loader.

The wheel's .icd file names a folder of the machine that built the wheel. So the loader gets a temporary vendor folder
with an .icd file that names the installed library, and links to those of all other drivers.
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

import pyopencl as cl

from hetero.system.messages import get_logger

log = get_logger("hetero.opencl")

_RUNTIME = "libintelocl.so"
# The libraries it depends on, in loading order, and the packages that contain all of these.
_DEPENDENCIES = ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so", "libtbb.so.12")
_PACKAGES = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb")

# Names the instruction set to generate code for, such as "core-avx2". The file cl.cfg beside the runtime can name one
# too, which is not read here.
TARGET = "CL_CONFIG_CPU_TARGET_ARCH"

_lock = threading.Lock()  # the environment variables belong to the whole process


def built_for(device: cl.Device) -> str:
    """Return the instruction set that Intel's runtime was told to generate code for, empty if none or for others."""
    return os.environ.get(TARGET, "") if device.platform.name.strip() == "Intel(R) OpenCL" else ""


@contextlib.contextmanager
def visible() -> Iterator[None]:
    """Let the loader find Intel's runtime if it looks for drivers in this block. It does so once per process.

    Does nothing if pip did not install the runtime, if another copy of it is installed on the machine, or if
    OCL_ICD_VENDORS names a single driver, which then is the only one.
    """
    libraries = _installed()
    folders = _vendor_folders()
    if _RUNTIME not in libraries or folders is None or any(map(_names_runtime, _icd_files(folders))):
        yield
        return
    for name in _DEPENDENCIES:
        if name in libraries:
            # With global symbols, because an older TBB may be loaded already (OpenVINO contains one).
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(libraries[name]), mode=ctypes.RTLD_GLOBAL)
    with _lock, tempfile.TemporaryDirectory(prefix="hetero-opencl-") as folder, _vendors_in(folder):
        for file in _icd_files(folders):
            (Path(folder) / file.name).symlink_to(file.resolve())
        (Path(folder) / "hetero-intel.icd").write_bytes(os.fsencode(libraries[_RUNTIME]) + b"\n")
        yield
    reason = _unused_reason(libraries[_RUNTIME])
    if reason:
        log.warning("Intel's OpenCL runtime (%s) is not used: %s", libraries[_RUNTIME], reason)


def _installed() -> dict[str, Path]:
    """Return the paths of the installed libraries by name."""
    paths: dict[str, Path] = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for file in importlib.metadata.files(package) or ():
                if file.name in (_RUNTIME, *_DEPENDENCIES):
                    path = Path(file.locate()).resolve()
                    if path.exists():
                        paths.setdefault(file.name, path)
    return paths


def _vendor_folders() -> list[Path] | None:
    """Return the folders where the loader looks for drivers, or None if the environment names a single driver."""
    vendors = os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH")
    if vendors:
        return [Path(vendors)] if Path(vendors).is_dir() else None
    folders = [Path("/etc/OpenCL/vendors")]
    if (Path(sys.prefix) / "conda-meta").is_dir():
        folders.append(Path(sys.prefix) / "etc/OpenCL/vendors")  # where conda's loader looks
    return folders


def _icd_files(folders: list[Path]) -> list[Path]:
    """Return the .icd files of the folders; of files with the same name, the one of the first folder."""
    return list({file.name: file for folder in reversed(folders) for file in sorted(folder.glob("*.icd"))}.values())


def _names_runtime(file: Path) -> bool:
    """Return whether an .icd file names an existing copy of Intel's runtime."""
    try:
        library = Path(os.fsdecode(file.read_bytes().strip()))
    except OSError:
        return False
    return library.name == _RUNTIME and (library.exists() or library == Path(_RUNTIME))


def _unused_reason(library: Path) -> str | None:
    """Return why the loader did not load a library, or None if it did."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(str(library), mode=getattr(os, "RTLD_NOLOAD", 0))  # succeeds only if loaded already
        return None
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return str(error)
    return "OpenCL was used before hetero, and its loader looks for drivers only once per process"


@contextlib.contextmanager
def _vendors_in(folder: str) -> Iterator[None]:
    """Let the loader look for drivers in this folder only."""
    before = os.environ.get("OCL_ICD_VENDORS")
    os.environ["OCL_ICD_VENDORS"] = folder
    try:
        yield
    finally:
        del os.environ["OCL_ICD_VENDORS"]
        if before is not None:
            os.environ["OCL_ICD_VENDORS"] = before

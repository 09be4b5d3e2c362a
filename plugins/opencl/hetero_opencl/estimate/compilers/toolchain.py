"""Compilers of vendors: where they and their files are, running them, and what identifies a version.

They are installed, or unpacked to the folder that the environment variable HETERO_GPU_TOOLS names, which then has
``usr/bin`` and ``usr/lib``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hetero.system.errors import ConfigError, DeviceError

VARIABLE = "HETERO_GPU_TOOLS"
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
# Compiling a kernel of the worst kind takes half a minute on a busy machine.
TIMEOUT = 300
# Maximum length of an error message, in characters. Compilers repeat some for each line.
MAX_ERROR = 2000

# Packages of Debian with these programs and files.
_PACKAGES = {
    "clang-19": "clang-19",
    "llvm-nm-19": "llvm-19",
    "llvm-readelf-19": "llvm-19",
    "clang-15": "clang-15",
    "llvm-spirv-15": "llvm-spirv-15",
    "spirv-val": "spirv-tools",
    "ocloc": "intel-opencl-icd",
    "ptxas": "nvidia-cuda-toolkit",
    "ocml.bc": "rocm-device-libs",
    "libigc.so.1": "libigc1",
    "nvptx64--nvidiacl.bc": "libclc-19",
}


def find_tool(name: str) -> Path:
    """Return the path of a program. Raises ConfigError if it is neither in the folder of tools nor on PATH."""
    folder = _root() / "usr/bin"
    found = shutil.which(name, path=f"{folder}{os.pathsep}{os.environ.get('PATH', '')}")
    if not found:
        raise _missing(name, f"in {folder} nor on PATH")
    return Path(found)


def find_file(path: Path) -> Path:
    """Return the path of a file of a compiler. Raises ConfigError if it is missing."""
    found = _root() / path
    if not found.exists():
        raise _missing(path.name, f"at {found}")
    return found


def run_tool(name: str, arguments: Sequence[str], folder: Path) -> tuple[str, bool]:
    """Run a program in ``folder``; return what it writes, and whether it succeeds.

    Raises ConfigError if it is missing, and DeviceError if it takes longer than TIMEOUT, which depends on the machine.
    """
    command = [str(find_tool(name)), *arguments]
    paths = [str(_root() / LIBRARIES), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join(paths)}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"{name} did not compile a program in {TIMEOUT} seconds") from None
    return done.stdout + done.stderr, done.returncode == 0


def error_of(output: str) -> str:
    """Return what a program says from its first error on, shortened."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "error" in line.lower()), 0)
    return "\n".join(lines[first:])[:MAX_ERROR] or "the compiler fails without a message"


def identity_of(tools: Sequence[str], files: Sequence[Path]) -> str:
    """Return a text that changes with the versions of programs and files: their sizes and times.

    Raises ConfigError if one is missing.
    """
    found = [path.resolve().stat() for path in (*map(find_tool, tools), *map(find_file, files))]
    return " ".join(f"{stat.st_size} {stat.st_mtime:.0f}" for stat in found)


def _root() -> Path:
    return Path(os.environ.get(VARIABLE) or "/").absolute()


def _missing(name: str, places: str) -> ConfigError:
    return ConfigError(
        f"{name} is not found {places}: install {_PACKAGES[name]}, or set {VARIABLE} to a folder that has it"
    )

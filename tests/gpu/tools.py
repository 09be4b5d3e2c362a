"""Compilers and OpenCL runtimes for GPUs that are not at hand. ``python -m tests.gpu.tools`` fetches them.

Packages of Debian 12 and NVIDIA's assembler from PyPI are unpacked into ``build/gpu-tools`` of the repository; nothing
is installed, and the system's package lists are not changed. In that folder:

- ``usr/bin``: clang, llvm-*, lld, llvm-spirv, spirv-val, Intel's ocloc, NVIDIA's ptxas;
- ``usr/lib/x86_64-linux-gnu``: their libraries, and AMD's device libraries in ``amdgcn/bitcode``;
- ``usr/lib/clc``: libclc, the builtin functions for NVIDIA's GPUs;
- ``vendors/RUNTIME``: for each OpenCL runtime, a folder to find only that one; see ``environment``.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.zoo import Wheel, locked

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "gpu-tools"

# In this order: libclc-15 and libclc-19 share files, of which NVIDIA's have to be those for clang-19.
PACKAGES = (
    *("libclc-15", "libclc-19"),
    *("clang-19", "libclang-cpp19", "libclang-common-19-dev", "libllvm19", "llvm-19", "lld-19", "rocm-device-libs"),
    *("clang-15", "libclang-cpp15", "libclang-common-15-dev", "libllvm15"),
    *("llvm-spirv-15", "libllvmspirvlib15", "spirv-tools"),
    *("intel-opencl-icd", "libigc1", "libigdfcl1", "libigdgmm12"),
    *("libopencl-clang14", "libllvmspirvlib14", "libclang-cpp14", "libllvm14"),
    *("oclgrind", "liboclgrind-21.10", "mesa-opencl-icd", "clinfo", "ocl-icd-libopencl1"),
)
# What these packages need of a system. Most have all; only the missing ones are fetched.
LIBRARIES = (
    *("libbsd0", "libdrm2", "libdrm-nouveau2", "libedit2", "libexpat1", "libffi8", "libicu72", "liblzma5", "libmd0"),
    *("libreadline8", "libsensors5", "libstdc++6", "libtinfo6", "libxml2", "libz3-4", "libzstd1", "zlib1g"),
)
PTXAS = Wheel("nvidia-cuda-nvcc==13.5.37", (("/bin/ptxas", "ptxas"),))

_BIN, _LIB = Path("usr/bin"), Path("usr/lib/x86_64-linux-gnu")
_DEVICE_LIBRARIES = _LIB / "amdgcn/bitcode"
# Absolute paths in Mesa's runtime, and links to what they name below FOLDER.
_RUSTICL = _LIB / "libRusticlOpenCL.so.1"
_RUSTICL_FILES = {
    "/usr/lib/clc/spirv64-mesa3d-.spv": "spirv64",
    "/usr/lib/clc/spirv-mesa3d-.spv": "spirv",
    "/usr/lib/llvm-15/lib/clang/15.0.6/include": "include",
}


class Runtime(NamedTuple):
    """An OpenCL runtime: its library, relative to FOLDER, and the environment variables that it needs."""

    library: Path
    variables: dict[str, str]


RUNTIMES = {
    "oclgrind": Runtime(Path("usr/lib/oclgrind/liboclgrind-rt-icd.so"), {}),
    # On the processor, for which Mesa's runtime has to be asked.
    "rusticl": Runtime(_RUSTICL, {"RUSTICL_ENABLE": "llvmpipe"}),
    # A GPU of generation 9 whose commands are written to a file instead of executed: to none here.
    "intel-gpu": Runtime(
        _LIB / "intel-opencl/libigdrcl.so",
        {
            "NEOReadDebugKeys": "1",
            "SetCommandStreamReceiver": "1",
            "ProductFamilyOverride": "skl",
            "AUBDumpCaptureFileName": "/dev/null",
        },
    ),
}


def environment(runtime: str) -> dict[str, str]:
    """Return the environment variables for processes that are to find this OpenCL runtime of RUNTIMES.

    pyopencl's wheels list PoCL too, whatever OCL_ICD_VENDORS says. Processes that use rusticl have to run in the root
    of the repository.
    """
    return {
        "OCL_ICD_VENDORS": str(FOLDER / "vendors" / runtime),
        "LD_LIBRARY_PATH": str(FOLDER / _LIB),
        **RUNTIMES[runtime].variables,
    }


def is_complete() -> bool:
    """Return whether the folder has the tools that this module lists."""
    return _stamp().is_file() and _stamp().read_text() == _contents()


def fetch() -> None:
    """Fetch the tools unless all are there. Several processes may do so at the same time.

    Raises RuntimeError if the system is not Debian 12 on x86-64, or a package cannot be fetched.
    """
    FOLDER.parent.mkdir(exist_ok=True)
    with locked(FOLDER.with_suffix(".lock")):
        if is_complete():
            return
        _check_system()
        # Moved into place when all is there, so that no process takes a part for the whole.
        with tempfile.TemporaryDirectory(prefix="gpu-tools-", dir=FOLDER.parent) as scratch:
            unpacked = Path(scratch) / "unpacked"
            for line in _unpack(Path(scratch), unpacked):
                print(line, flush=True)
            _set_up(unpacked)
            _check_libraries(unpacked)
            (unpacked / _stamp().name).write_text(_contents())
            shutil.rmtree(FOLDER, ignore_errors=True)
            unpacked.rename(FOLDER)


def _stamp() -> Path:
    return FOLDER / "contents.txt"


def _contents() -> str:
    """Return what identifies a complete folder. It has its path, which files in it name."""
    return "\n".join([str(FOLDER.resolve()), *PACKAGES, *LIBRARIES, PTXAS.requirement])


def _check_system() -> None:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    system = f"{release.get('PRETTY_NAME', platform.system())} on {platform.machine()}"
    if (release.get("ID"), release.get("VERSION_ID"), platform.machine()) != ("debian", "12", "x86_64"):
        raise RuntimeError(f"the tools are packages of Debian 12 for x86_64, and this system is {system}")


def _unpack(scratch: Path, unpacked: Path) -> Iterator[str]:
    """Download all packages into ``scratch`` and unpack them. Yields lines about the progress."""
    names = [*PACKAGES, *(name for name in LIBRARIES if not _is_installed(name))]
    yield "fetching the lists of Debian's packages"
    # Lists of its own: those of the system may be missing or out of date, and only an administrator may fetch them.
    for folder in ("lists/partial", "archives/partial"):
        (scratch / folder).mkdir(parents=True)
    options = [f"Dir::State::Lists={scratch}/lists", f"Dir::Cache={scratch}", "APT::Sandbox::User="]
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    try:
        _run([*apt, "update", "--error-on=any"], scratch)
    except RuntimeError as error:  # sources of other packages may be out of reach
        yield f"warning: {error}"
    yield f"fetching {len(names)} packages"
    _run([*apt, "download", *names], scratch)
    for number, name in enumerate(names, 1):
        (file,) = scratch.glob(f"{name}_*.deb")
        yield f"unpacking {number} of {len(names)}: {file.name}"
        _run(["dpkg", "-x", str(file), str(unpacked)], scratch)
    yield f"fetching {PTXAS.requirement}"
    PTXAS.write(scratch)
    shutil.move(scratch / "ptxas", unpacked / _BIN)
    (unpacked / _BIN / "ptxas").chmod(0o755)


def _is_installed(package: str) -> bool:
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout.startswith("installed")


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = done.stderr.splitlines()
        reason = next((line for line in lines if line.startswith("E:")), lines[-1] if lines else "no message")
        raise RuntimeError(f"{command[0]} failed: {reason}")
    return done.stdout


def _set_up(unpacked: Path) -> None:
    """Make what the tools need besides the packages' files."""
    # On Debian, /lib is a link to /usr/lib; some packages still have files there.
    if (unpacked / "lib").exists():
        shutil.copytree(unpacked / "lib", unpacked / "usr/lib", symlinks=True, dirs_exist_ok=True)
    # gfx1100 is newer than the library. Each file has the number of an instruction set; that of gfx1036 is the nearest.
    bitcode = unpacked / _DEVICE_LIBRARIES
    shutil.copy(bitcode / "oclc_isa_version_1036.bc", bitcode / "oclc_isa_version_1100.bc")
    _relocate_rusticl(unpacked)
    for name, runtime in RUNTIMES.items():
        vendor = unpacked / "vendors" / name
        vendor.mkdir(parents=True)
        (vendor / f"{name}.icd").write_text(f"{FOLDER / runtime.library}\n")


def _relocate_rusticl(unpacked: Path) -> None:
    """Replace the absolute paths in Mesa's runtime by ones relative to the root of the repository, of equal length.

    No variable sets them, and an absolute path may be longer than the place for it.
    """
    (unpacked / "rusticl").mkdir()
    content = (unpacked / _RUSTICL).read_bytes()
    for path, link in _RUSTICL_FILES.items():
        (unpacked / "rusticl" / link).symlink_to(".." + path)
        folder = str(FOLDER.relative_to(ROOT) / "rusticl")
        relative = folder + "/" * (len(path) - len(folder) - len(link)) + link
        if content.count(path.encode() + b"\0") != 1:
            raise RuntimeError(f"{_RUSTICL.name} of mesa-opencl-icd does not have the path {path}, which it had")
        content = content.replace(path.encode() + b"\0", relative.encode() + b"\0")
    (unpacked / _RUSTICL).resolve().write_bytes(content)


def _check_libraries(unpacked: Path) -> None:
    """Raise RuntimeError if a tool or a runtime needs a library that is neither unpacked nor installed."""
    tools = ["clang-19", "clang-15", "llvm-mca-19", "lld-19", "llvm-spirv-15", "spirv-val", "ocloc", "clinfo"]
    libraries = ["libocloc.so", "libigc.so.1", "libigdfcl.so.1", "libopencl-clang.so.14", "libiga64.so.1"]
    files = [_BIN / tool for tool in tools] + [_LIB / library for library in libraries]
    files += [runtime.library for runtime in RUNTIMES.values()]
    command = ["env", f"LD_LIBRARY_PATH={unpacked / _LIB}", "ldd", *map(str, files)]
    missing = [line.split()[0] for line in _run(command, unpacked).splitlines() if line.endswith("not found")]
    if missing:
        raise RuntimeError(f"no package in {__file__} has the libraries {', '.join(sorted(set(missing)))}")


def main() -> None:
    try:
        fetch()
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    print(f"the tools are in {FOLDER}")


if __name__ == "__main__":
    main()

"""Workarounds for PoCL 3.0, the version on PyPI.

LLVM 14 calls a processor that it does not know "generic", and clang then rejects that name, so no kernel builds
(https://github.com/pocl/pocl/issues/1049, open). It calls AMD's Zen 4 "znver3", which has no AVX-512, while PoCL
enables AVX-512 because the processor has it: code generation then aborts on most kernels. No option or environment
variable of PoCL changes the name. But the device object has a pointer to it, ``llvm_cpu``, read at every build.
``repair`` sets the pointer to the name of a processor that LLVM 14 knows, with the instructions of this one.

That is a processor for which PoCL's library of built-in functions was compiled. LLVM inlines a function only into code
for a processor with all features of the function's. LLVM 14 calls Emerald Rapids "icelake-client", which lacks one of
"skylake-avx512": without the repair every vload16 is a call there, and a matrix product runs at a tenth of the speed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pyopencl as cl

from hetero.system.messages import get_logger

log = get_logger("hetero.opencl")

# Processors of PoCL's libraries, the most capable first, with the flags of /proc/cpuinfo that they require.
_PROCESSORS = (
    (b"skylake-avx512", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma", "bmi2"}),
    (b"haswell", {"avx2", "fma", "bmi1", "bmi2", "f16c", "lzcnt", "movbe"}),
    (b"sandybridge", {"avx", "sse4_2", "aes", "popcnt"}),
    (b"x86-64", {"sse2"}),
)
# PoCL generates different code for a grid with a dimension of this many work-items or more.
_WIDE_GRID = 65535
_SEARCHED_WORDS = 160  # the device object of PoCL 3.0 is longer than that; llvm_cpu is word 80 of it
_names: list[ctypes.Array[Any]] = []  # keeps the strings alive that devices point to

_checked: set[int] = set()  # the handles of devices that were checked and, if needed, repaired


def built_for() -> str:
    """Return the name of the processor that repaired devices build for, empty if none was repaired."""
    return _names[-1].value.decode() if _names else ""


def is_pocl(device: cl.Device) -> bool:
    return device.platform.name.strip() == "Portable Computing Language"


def repair(device: cl.Device) -> None:
    """Give a PoCL 3.0 device the processor name for which its library of built-in functions was compiled."""
    if not (is_pocl(device) and device.driver_version.startswith("3.0")) or device.int_ptr in _checked:
        return
    _checked.add(device.int_ptr)
    name, flags = processor_name(device), processor_flags()
    substitute = next((processor for processor, required in _PROCESSORS if required <= flags), None)
    if substitute is not None and substitute.decode() == name:
        return
    field = processor_field(device, name) if substitute else None  # other systems have no /proc
    if substitute is None or field is None:
        log.warning("PoCL takes this processor for %s: its kernels do not build, or are slow", name)
        return
    _names.append(ctypes.create_string_buffer(substitute))
    field.value = ctypes.addressof(_names[-1])
    log.info("PoCL takes this processor for %s; kernels are built for %s", name, substitute.decode())


def smallest_grid(global_size: Sequence[int], local_size: Sequence[int]) -> tuple[int, ...]:
    """Return the smallest global size for which PoCL generates the same code as for this launch.

    PoCL generates code when a kernel is first launched with a local size, and separate code for wide grids.
    """
    widest = max(range(len(global_size)), key=global_size.__getitem__)
    grid = list(local_size)
    if global_size[widest] >= _WIDE_GRID:
        grid[widest] *= -(-_WIDE_GRID // local_size[widest])
    return tuple(grid)


def processor_name(device: cl.Device) -> str:
    """Return the processor's name, the last part of "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3"."""
    return device.version.rpartition("HSTR: ")[2].split("-", 5)[-1]


def processor_flags() -> set[str]:
    """Return the instruction sets listed in /proc/cpuinfo, or an empty set if there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    flags = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())
    return flags | ({"lzcnt"} if "abm" in flags else set())  # Linux calls lzcnt "abm"


def processor_field(device: cl.Device, name: str) -> ctypes.c_void_p | None:
    """Return the word of the device object that points to the processor's name, or None if there is none."""
    text = name.encode() + b"\0"
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for address in range(device.int_ptr, device.int_ptr + 8 * _SEARCHED_WORDS, 8):
            pointer = int.from_bytes(_read(memory, address, 8), sys.byteorder)
            if _read(memory, pointer, len(text)) == text:
                return ctypes.c_void_p.from_address(address)
    return None


def _read(memory: IO[bytes], address: int, size: int) -> bytes:
    """Return the bytes at an address of this process, or none if the address is not mapped."""
    try:
        memory.seek(address)
        return memory.read(size)
    except (OSError, OverflowError):
        return b""

"""PoCL 3.0, the version on PyPI: a repair for processors newer than its compiler, and when it generates code.

LLVM 14 calls a processor that it does not know "generic", and clang then refuses that name, so that no kernel builds
(https://github.com/pocl/pocl/issues/1049, open). It calls AMD's Zen 4 "znver3", which has no AVX-512, while PoCL
enables AVX-512 because the processor has it: code generation then aborts on most kernels. No option or variable of PoCL
changes the name. But the device object holds it as a pointer to a string, ``llvm_cpu``, read at every build. ``repair``
lets it point to the name of a known processor with the instructions that this one has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import pyopencl as cl

from hetero.messages import get_logger

log = get_logger("hetero.opencl")

# From the most able: processors that LLVM 14 knows, with flags of /proc/cpuinfo that they stand for.
_PROCESSORS = (
    (b"skylake-avx512", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma", "bmi2"}),
    (b"haswell", {"avx2", "fma", "bmi1", "bmi2", "f16c", "lzcnt", "movbe"}),
    (b"sandybridge", {"avx", "sse4_2", "aes", "popcnt"}),
    (b"x86-64", {"sse2"}),
)
# The processors with AVX-512 by their names in LLVM 14.
_WITH_AVX512 = {
    "knl", "knm", "skylake-avx512", "cannonlake", "cascadelake", "cooperlake", "icelake-client", "icelake-server",
    "rocketlake", "tigerlake", "sapphirerapids", "x86-64-v4",
}  # fmt: skip
# PoCL generates other code for a grid with a dimension of this many work-items or more.
_WIDE_GRID = 65535
_WORDS_OF_DEVICE = 160  # the device object of PoCL 3.0 is longer; llvm_cpu is word 80 of it
_names: list[ctypes.Array] = []  # keeps the strings alive that devices point to

_repaired: set[int] = set()  # handles of devices that need no second look


def built_for() -> str:
    """The processor that repaired devices build for; empty where none was repaired."""
    return _names[-1].value.decode() if _names else ""


def is_pocl(device: cl.Device) -> bool:
    return device.platform.name.strip() == "Portable Computing Language"


def repair(device: cl.Device) -> None:
    """Give a PoCL 3.0 device a processor name that its compiler can use, if the one it has cannot work."""
    if not (is_pocl(device) and device.driver_version.startswith("3.0")) or device.int_ptr in _repaired:
        return
    _repaired.add(device.int_ptr)
    name, flags = _processor_name(device), processor_flags()
    if name != "generic" and (name in _WITH_AVX512 or "avx512f" not in flags):
        return
    usable = next((usable for usable, needed in _PROCESSORS if needed <= flags), None)
    field = _processor_field(device, name)
    if usable is None or field is None:
        log.warning("PoCL calls this processor %s, and building kernels will fail", name)
        return
    _names.append(ctypes.create_string_buffer(usable))
    field.value = ctypes.addressof(_names[-1])
    log.info("PoCL calls this processor %s; kernels are built for %s", name, usable.decode())


def smallest_grid(global_size: Sequence[int], local_size: Sequence[int]) -> tuple[int, ...]:
    """Return the smallest global size of a launch for which PoCL generates the same code.

    PoCL generates code for a kernel and a local size when they are first launched: for wide grids, and for all others.
    """
    widest = max(range(len(global_size)), key=global_size.__getitem__)
    grid = list(local_size)
    if global_size[widest] >= _WIDE_GRID:
        grid[widest] *= -(-_WIDE_GRID // local_size[widest])
    return tuple(grid)


def _processor_name(device: cl.Device) -> str:
    """Return the name of the processor, the last part of "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3"."""
    return device.version.rpartition("HSTR: ")[2].split("-", 5)[-1]


def processor_flags() -> set[str]:
    """Return the instruction sets that /proc/cpuinfo lists; none if there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    # The kernel calls lzcnt "abm".
    found = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())
    return found | ({"lzcnt"} if "abm" in found else set())


def _processor_field(device: cl.Device, name: str) -> ctypes.c_void_p | None:
    """Return the word of the device object that points to the processor's name."""
    mapped, text = _readable_memory(), name.encode() + b"\0"
    for index in range(_WORDS_OF_DEVICE):
        address = device.int_ptr + 8 * index
        if not _is_mapped(mapped, address, ctypes.sizeof(ctypes.c_void_p)):
            return None
        word = ctypes.c_void_p.from_address(address)
        if word.value and _is_mapped(mapped, word.value, len(text)) and ctypes.string_at(word.value, len(text)) == text:
            return word
    return None


def _readable_memory() -> list[tuple[int, int]]:
    ranges = []
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        span, rights, *_ = line.split()
        if rights.startswith("r"):
            start, end = span.split("-")
            ranges.append((int(start, 16), int(end, 16)))
    return ranges


def _is_mapped(ranges: list[tuple[int, int]], address: int, size: int) -> bool:
    return any(start <= address and address + size <= end for start, end in ranges)

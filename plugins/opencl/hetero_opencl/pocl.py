"""A repair of PoCL 3.0, the version on PyPI, on processors newer than the compiler inside it.

Its LLVM 14 calls a processor that it does not know "generic", and its clang then refuses that name, so that no
kernel builds (https://github.com/pocl/pocl/issues/1049, open). No option or variable of PoCL changes the name.
But the device object holds it as a pointer to a string, ``llvm_cpu``, read at every build. We let it point to the name
of a known processor with the instructions that this one has.
"""

from __future__ import annotations

import ctypes
import logging
from pathlib import Path

import pyopencl as cl

log = logging.getLogger("hetero.opencl")

# From the most able: processors that LLVM 14 knows, with flags of /proc/cpuinfo that they stand for.
_PROCESSORS = (
    (b"skylake-avx512", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma", "bmi2"}),
    (b"haswell", {"avx2", "fma", "bmi1", "bmi2", "f16c", "lzcnt", "movbe"}),
    (b"sandybridge", {"avx", "sse4_2", "aes", "popcnt"}),
    (b"x86-64", {"sse2"}),
)
_WORDS_OF_DEVICE = 160  # the device object of PoCL 3.0 is longer; llvm_cpu is word 80 of it
_names: list[ctypes.Array] = []  # keeps the strings alive that devices point to

_repaired: set[int] = set()  # handles of devices that need no second look


def built_for() -> str:
    """The processor that repaired devices build for; empty where none was repaired."""
    return _names[-1].value.decode() if _names else ""


def is_pocl(device: cl.Device) -> bool:
    return device.platform.name.strip() == "Portable Computing Language"


def repair(device: cl.Device) -> None:
    """Give a PoCL device that does not know its processor a processor that it knows; leave any other device alone."""
    if not (device.version.endswith("-generic") and device.driver_version.startswith("3.0")):
        return
    if device.int_ptr in _repaired:
        return
    _repaired.add(device.int_ptr)
    flags = _processor_flags()
    name = next((name for name, needed in _PROCESSORS if needed <= flags), None)
    field = _processor_field(device)
    if name is None or field is None:
        log.warning("PoCL does not know this processor, and building kernels will fail")
        return
    _names.append(ctypes.create_string_buffer(name))
    field.value = ctypes.addressof(_names[-1])
    log.info("PoCL does not know this processor; kernels are built for %s", name.decode())


def _processor_flags() -> set[str]:
    """What /proc/cpuinfo says of the instructions of the processor; nothing where there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    # The kernel calls lzcnt "abm".
    found = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())
    return found | ({"lzcnt"} if "abm" in found else set())


def _processor_field(device: cl.Device) -> ctypes.c_void_p | None:
    """The word of the device object that points to the string "generic"."""
    mapped = _readable_memory()
    for index in range(_WORDS_OF_DEVICE):
        address = device.int_ptr + 8 * index
        if not _is_mapped(mapped, address):
            return None
        word = ctypes.c_void_p.from_address(address)
        if word.value and _is_mapped(mapped, word.value) and ctypes.string_at(word.value, 8) == b"generic\0":
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


def _is_mapped(ranges: list[tuple[int, int]], address: int) -> bool:
    return any(start <= address and address + 8 <= end for start, end in ranges)

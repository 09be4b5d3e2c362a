"""What a compiler makes of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class KernelResources:
    """What a kernel takes on a GPU. A wave is what a SIMD unit runs together: a wavefront, a warp, a hardware thread.

    ``registers`` are 32-bit registers of a work-item (AMD's vector registers, NVIDIA's registers) or, for Intel, the
    registers of 32 bytes that a wave has. ``spilled_registers`` are moved to memory and back because these are too few.
    ``scratch_bytes`` is the private memory of a work-item that is not in registers, spilled ones included.
    ``local_bytes`` is the local memory that the kernel declares. ``wave_width`` is the number of work-items in a wave.
    ``waves`` is the number of waves that fit a SIMD unit, or None if the compiler does not report it.
    """

    registers: int
    spilled_registers: int
    scratch_bytes: int
    local_bytes: int
    wave_width: int
    waves: int | None = None


@dataclass(frozen=True)
class Compilation:
    """The kernels of a program by name, or the error of the compiler, which is empty if it accepts the program."""

    kernels: Mapping[str, KernelResources] = field(default_factory=dict)
    error: str = ""

"""Device profile: everything that kernels and cost estimates need to know about a device."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import pyopencl as cl

from hetero_opencl.device import pocl

# Linux describes each cache of the first core in a folder here.
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# The size of the first-level cache of most processors, for systems without that folder.
_L1_BYTES = 32 * 1024


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """Figures that are measured. The defaults are those of two processor cores, for the trial that measures.

    ``flops_per_second`` is that of a large f32 gemm, with a multiplication and an addition as two operations.
    ``bytes_per_second`` counts the bytes read and those written, in arrays larger than the caches. ``launch_seconds``
    is the time of a kernel that does nothing, in a queue of many. ``sub_group_size`` is 0 without sub-groups.
    """

    flops_per_second: float = 1e11
    bytes_per_second: float = 2e10
    launch_seconds: float = 5e-6
    sub_group_size: int = 0


@dataclass(frozen=True, kw_only=True)
class DeviceProfile(Measurements):
    """A device as kernels see it. Tests replace fields to run kernels for GPUs on CPUs and the other way round.

    ``is_cpu_like`` selects between kernels with explicit vectors in register tiles and kernels with work-groups that
    share local memory. ``vector_width`` is the number of f32 in a hardware vector, 1 if the compiler forms vectors
    from work-items. ``vector_registers`` is the number of these vectors that a core has names for. ``l1_bytes`` and
    ``l2_bytes`` are the caches of one core; for GPUs, the local memory and the cache of all compute units.
    ``builds_in_child`` is set for drivers whose compiler may abort its process, ``spills_in_loops`` for those whose
    compiler moves the sums of nested loops between registers and the stack.
    """

    is_cpu_like: bool
    vector_width: int
    vector_registers: int
    l1_bytes: int
    l2_bytes: int
    local_memory_bytes: int
    max_work_group_size: int
    max_parameter_bytes: int
    compute_units: int
    builds_in_child: bool
    spills_in_loops: bool

    def describe_speed(self) -> str:
        return (
            f"{self.flops_per_second / 1e9:.0f} GFLOP/s, {self.bytes_per_second / 1e9:.1f} GB/s, "
            f"{self.launch_seconds * 1e6:.1f} µs per launch"
        )

    def describe_work_group(self) -> str:
        memory, groups = self.local_memory_bytes // 1024, self.sub_group_size
        sub_groups = f"sub-groups of {groups}" if groups else "no sub-groups"
        return f"{memory} KiB local memory, {self.max_work_group_size} work-items, {sub_groups}"

    def describe_caches(self) -> str:
        return f"{self.l1_bytes // 1024} KiB L1, {self.l2_bytes // 1024} KiB L2"


def profile_of(handle: cl.Device, measurements: Measurements) -> DeviceProfile:
    """Return the profile of a device: what OpenCL and the operating system report, and what was measured."""
    is_cpu = bool(handle.type & cl.device_type.CPU)
    width = handle.native_vector_width_float
    caches = cache_sizes() if is_cpu else {1: handle.local_mem_size}
    return DeviceProfile(
        **asdict(measurements),
        is_cpu_like=is_cpu,
        vector_width=width,
        vector_registers=32 if width >= 16 else 16,  # AVX-512 has 32, AVX2 and SSE have 16
        l1_bytes=caches.get(1, _L1_BYTES),
        l2_bytes=caches.get(2, handle.global_mem_cache_size),
        local_memory_bytes=handle.local_mem_size,
        max_work_group_size=handle.max_work_group_size,
        max_parameter_bytes=handle.max_parameter_size,
        compute_units=handle.max_compute_units,
        # A compiler for GPUs is part of a driver that this process has to trust anyway.
        builds_in_child=is_cpu,
        spills_in_loops=pocl.is_pocl(handle),
    )


def cache_sizes(folder: Path = _CACHES) -> dict[int, int]:
    """Return the bytes of the data caches of a core by their level, as far as the operating system lists them."""
    sizes: dict[int, int] = {}
    for cache in folder.glob("index*"):
        try:
            level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            sizes[int(level)] = 1024 * int(size.removesuffix("K"))
    return sizes

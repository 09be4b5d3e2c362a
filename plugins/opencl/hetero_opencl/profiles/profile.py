"""Device profile: everything that kernels and cost estimates need to know about a device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Family(Enum):
    """What kernels are written for.

    On a processor a work-group runs on a core, one work-item after another, in vectors that a kernel has explicitly. On
    a GPU neighboring work-items run at once, and those of a work-group share local memory.
    """

    PROCESSOR = "processor"
    GPU = "GPU"


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """Figures that are measured. The defaults are those of two processor cores, for the trial that measures.

    ``flops_per_second`` is that of a large f32 gemm, with a multiplication and an addition as two operations.
    ``bytes_per_second`` counts the bytes read and those written, in arrays larger than the caches. ``launch_seconds``
    is the time of a kernel that does nothing, in a queue of many. ``sub_group_size`` is 0 without sub-groups.
    ``vector_width`` is the number of f32 in a hardware vector, 1 if the compiler forms vectors from work-items.
    ``vector_registers`` is the number of these vectors that a core has names for.
    """

    flops_per_second: float = 1e11
    bytes_per_second: float = 2e10
    launch_seconds: float = 5e-6
    sub_group_size: int = 0
    vector_width: int = 8
    vector_registers: int = 16


# 64 are one or two of the units' instructions on GPUs of all vendors.
_TEAM_SIZES = {Family.PROCESSOR: 1, Family.GPU: 64}


@dataclass(frozen=True, kw_only=True)
class DeviceProfile(Measurements):
    """A device as kernels see it. Tests replace fields to run kernels for GPUs on CPUs and the other way round.

    ``family`` selects between definitions of kernels; nothing but the table of implementations depends on it.
    ``team_size`` is the number of work-items that share a task that one could do, such as the scores of a query.
    ``item_registers`` are the registers of 4 bytes that a work-item of a GPU has. ``l1_bytes`` and ``l2_bytes`` are the
    caches of one core; for GPUs, the local memory and the cache of all compute units.
    ``compute_units`` are what takes a work-group: a core, AMD's compute unit, NVIDIA's multiprocessor, Intel's Xe-core.
    A buffer has at most ``max_allocation_bytes``, and a part of one begins at a multiple of ``base_alignment`` bytes.
    ``builds_in_child`` is set for drivers whose compiler may abort its process, ``spills_in_loops`` for those whose
    compiler moves the sums of nested loops between registers and the stack.
    """

    name: str
    family: Family
    item_registers: int
    l1_bytes: int
    l2_bytes: int
    local_memory_bytes: int
    max_work_group_size: int
    max_parameter_bytes: int
    compute_units: int
    max_allocation_bytes: int
    base_alignment: int
    has_doubles: bool
    builds_in_child: bool
    spills_in_loops: bool

    @property
    def team_size(self) -> int:
        return _TEAM_SIZES[self.family]

    def largest_group(self, most: int, local_bytes: int = 0) -> int:
        """Return ``most`` work-items, or the largest power of two that the device allows in a work-group.

        ``local_bytes`` is the local memory that each work-item needs.
        """
        allowed = min(self.max_work_group_size, self.local_memory_bytes // max(1, local_bytes))
        return most if most <= allowed else 1 << max(0, allowed.bit_length() - 1)

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

"""GPUs that may not be at hand: what their vendors' documents say, in a file for each beside this one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from hetero.system.errors import ConfigError
from hetero_opencl.profiles.profile import DeviceProfile, Family

_FOLDER = Path(__file__).parent
# NVIDIA's blog "Getting Started with CUDA Graphs" measures 2.2 µs between kernels of a stream that are launched one by
# one, and 3.8 µs with the launch itself in the way. Other vendors publish no figure.
LAUNCH_SECONDS = 4e-6


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """A GPU. Times are in cycles of ``clock``, in Hz; sizes in bytes; bandwidths in bytes per second.

    A work-group runs on one of ``units`` units. Each has ``schedulers`` that issue an instruction of a wave, ``wave``
    work-items in step, to ``lanes`` lanes, of which each multiplies and adds an f32 per cycle. A scheduler holds at
    most ``waves`` waves, whose registers fit ``register_bytes``; a wave has up to ``most_registers`` registers of
    ``register_size`` bytes before it spills.
    A unit has ``local_bytes`` of local memory, and reads that and its first-level cache at ``local_bytes_per_cycle``
    and ``cache_bytes_per_cycle``, ``lines_per_cycle`` lines of ``line_bytes``. A work-item reads up to 16 bytes at
    once, but only ``unaligned_bytes`` if the address is a multiple of an element's size alone. ``compiler`` is the
    target of its compiler.
    ``largest_work_group`` and ``largest_local_bytes`` are the limits that its OpenCL driver reports.
    """

    name: str
    compiler: str
    units: int
    schedulers: int
    lanes: int
    clock: float
    wave: int
    waves: int
    register_bytes: int
    register_size: int
    most_registers: int
    local_bytes: int
    local_bytes_per_cycle: int
    cache_bytes_per_cycle: int
    l2_bytes: int
    line_bytes: int
    lines_per_cycle: int
    unaligned_bytes: int
    bandwidth: float
    memory_bytes: int
    transfer_bandwidth: float
    sub_groups: list[int]
    extensions: list[str]
    largest_work_group: int
    largest_local_bytes: int

    @property
    def flops_per_second(self) -> float:
        """The peak: an f32 multiplication and an addition per lane and cycle."""
        return 2 * self.units * self.schedulers * self.lanes * self.clock

    def profile(self) -> DeviceProfile:
        """Return what kernels are chosen by: the profile that a device of this kind would have at its peak speeds."""
        return DeviceProfile(
            name=self.name,
            family=Family.GPU,
            vector_width=1,
            vector_registers=16,
            item_registers=self.most_registers * self.register_size // (4 * self.wave),
            flops_per_second=self.flops_per_second,
            bytes_per_second=self.bandwidth,
            launch_seconds=LAUNCH_SECONDS,
            sub_group_size=self.wave,
            l1_bytes=self.local_bytes,
            l2_bytes=self.l2_bytes,
            local_memory_bytes=self.largest_local_bytes,
            max_work_group_size=self.largest_work_group,
            max_parameter_bytes=1024,  # the least that OpenCL 1.2 allows
            compute_units=self.units,
            max_allocation_bytes=self.memory_bytes // 4,  # the least that OpenCL 1.2 allows
            base_alignment=128,  # the largest that OpenCL 1.2 allows
            has_doubles="cl_khr_fp64" in self.extensions,
            builds_in_child=False,
            spills_in_loops=False,
        )


def known_gpus() -> list[str]:
    """Return the names of the files."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def hardware_of(name: str) -> Hardware:
    """Return the GPU of a file. Raises ConfigError for an unknown name."""
    if name not in known_gpus():
        raise ConfigError(f"unknown profile '{name}': the profiles are {', '.join(known_gpus())}")
    with (_FOLDER / f"{name}.toml").open("rb") as stream:
        return Hardware(**tomllib.load(stream))

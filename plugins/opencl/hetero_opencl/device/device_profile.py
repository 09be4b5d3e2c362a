"""The profile of a device of this machine: what OpenCL and the operating system report, and what was measured."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pyopencl as cl

from hetero_opencl.device import pocl
from hetero_opencl.device.platforms import name_of
from hetero_opencl.profiles.profile import DeviceProfile, Family, Measurements

# Linux describes each cache of the first core in a folder here.
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# The size of the first-level cache of most processors, for systems without that folder.
_L1_BYTES = 32 * 1024
# Registers of 4 bytes of a work-item of a GPU: Intel's have 128 of 32 bytes for 16 work-items. AMD's and NVIDIA's have
# twice as many as is assumed of all others.
_INTEL, _INTEL_REGISTERS, _REGISTERS = 0x8086, 64, 128
# Intel's driver counts execution units. Work-groups are given to 8 of them together (Gen9, Gen11) or more.
_INTEL_ENGINES = 8


def profile_of(handle: cl.Device, measurements: Measurements) -> DeviceProfile:
    """Return the profile of a device: what OpenCL and the operating system report, and what was measured."""
    is_cpu = bool(handle.type & cl.device_type.CPU)
    is_intel = handle.vendor_id == _INTEL
    caches = cache_sizes() if is_cpu else {1: handle.local_mem_size}
    return DeviceProfile(
        **asdict(measurements),
        name=name_of(handle),
        family=Family.PROCESSOR if is_cpu else Family.GPU,
        item_registers=_INTEL_REGISTERS if is_intel else _REGISTERS,
        l1_bytes=caches.get(1, _L1_BYTES),
        l2_bytes=caches.get(2, handle.global_mem_cache_size),
        local_memory_bytes=handle.local_mem_size,
        max_work_group_size=handle.max_work_group_size,
        max_parameter_bytes=handle.max_parameter_size,
        compute_units=max(1, handle.max_compute_units // (1 if is_cpu or not is_intel else _INTEL_ENGINES)),
        max_allocation_bytes=handle.max_mem_alloc_size,
        base_alignment=handle.mem_base_addr_align // 8,  # it is given in bits
        has_doubles="cl_khr_fp64" in handle.extensions.split(),
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

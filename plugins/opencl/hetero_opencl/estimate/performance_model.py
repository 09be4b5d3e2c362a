"""Estimated time of kernel launches on a GPU, from what its vendor documents and what the kernel's code does.

The time of a launch is the longest of six, and the cost of the launch. Each is that of the unit that gets the most
work-groups, or of the memory that all share:

- issue: cycles in which a scheduler issues instructions;
- latency: of waves one after another, as many at once as registers and local memory hold;
- cache: requests to the first-level cache of a unit, private memory and registers that do not fit included. These are
  moved there and back in each iteration of the innermost loops;
- local memory: accesses to that of a unit, one after another if they are in the same bank;
- L2: sectors that a unit's work-groups read or write, each once, as the first-level cache keeps them;
- memory: the bytes of all buffers that are read or written, each once, as the last-level cache keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.estimate.compilers.resources import KernelResources
from hetero_opencl.estimate.llvm_ir import KernelCode, parse_kernels
from hetero_opencl.estimate.static_cost import KernelCosts
from hetero_opencl.estimate.trace import SECTOR, Geometry, Work, trace_group
from hetero_opencl.profiles.hardware import LAUNCH_SECONDS, Hardware

# Bytes per cycle between the L2 and a unit: NVIDIA gives 5,120 for the 108 units of an A100. Others give no figure.
L2_BYTES_PER_CYCLE = 5120 / 108
# Work-groups of a launch that are followed; they lie evenly among all.
_SAMPLES = 5


@dataclass(frozen=True)
class LaunchEstimate:
    """The estimate of a launch: its seconds by what they are spent on, without the cost of the launch itself.

    ``groups``: work-groups. ``waves``: waves that a scheduler holds at once. ``flops``: floating-point operations of
    all work-items. ``is_complete``: whether the kernel was followed to its end.
    """

    seconds_of: dict[str, float]
    groups: int
    waves: int
    flops: float
    is_complete: bool

    @property
    def limit(self) -> str:
        """What takes longest."""
        return max(self.seconds_of, key=lambda name: self.seconds_of[name])

    @property
    def seconds(self) -> float:
        return self.seconds_of[self.limit] + LAUNCH_SECONDS


class PerformanceModel:
    """Estimates launches on a GPU.

    ``compile_to_ir`` returns a program in LLVM IR; ``resources_of`` what the GPU's compiler makes of a kernel, given
    the program's text and the kernel's name.
    """

    def __init__(
        self,
        hardware: Hardware,
        compile_to_ir: Callable[[str], str],
        resources_of: Callable[[str, str], KernelResources],
    ) -> None:
        self.hardware = hardware
        self._compile_to_ir, self._resources_of = compile_to_ir, resources_of
        self._kernels: dict[str, dict[str, KernelCode]] = {}
        self._estimates: dict[tuple[object, ...], LaunchEstimate] = {}

    def estimate(self, launch: Launch) -> LaunchEstimate:
        arguments, byte_size = _arguments(launch)
        sizes = launch.global_size, launch.local_size
        key = launch.source, launch.kernel, tuple(arguments), byte_size, sizes
        if key not in self._estimates:
            self._estimates[key] = self._estimate(launch, arguments, byte_size)
        return self._estimates[key]

    def _estimate(self, launch: Launch, arguments: list[int], byte_size: int) -> LaunchEstimate:
        hardware, resources = self.hardware, self._resources_of(launch.source, launch.kernel)
        geometry, wave = _geometry(launch), resources.wave_width or hardware.wave
        if launch.source not in self._kernels:
            self._kernels[launch.source] = parse_kernels(self._compile_to_ir(launch.source))
        kernel = self._kernels[launch.source][launch.kernel]
        groups = math.prod(geometry.groups)
        issue_cycles = wave / hardware.lanes
        costs = KernelCosts(kernel, issue_cycles, hardware.unaligned_bytes)
        samples = [(2 * i + 1) * groups // (2 * min(groups, _SAMPLES)) for i in range(min(groups, _SAMPLES))]
        mean = Work()
        for group in samples:
            work = trace_group(kernel, costs, arguments, geometry, group, wave, hardware.line_bytes)
            mean.add(work, 1 / len(samples))
        held = self._waves_held(resources, kernel, mean.waves)
        busiest = -(-groups // hardware.units)  # work-groups of a unit
        waves = -(-busiest * mean.waves // hardware.schedulers)  # of a scheduler
        private = mean.private_bytes if resources.scratch_bytes else 0.0
        spilled = 2 * resources.spilled_registers * hardware.register_size * mean.inner
        sector_bytes = SECTOR * mean.sectors
        accesses = mean.accesses / hardware.lines_per_cycle
        moved = mean.cache_bytes + private + spilled
        cycles = {
            "issue": waves * mean.issued / mean.waves,
            "latency": -(-waves // held) * mean.alone / mean.waves,
            "cache": busiest * max(accesses, moved / hardware.cache_bytes_per_cycle),
            "local memory": busiest * mean.local_cycles,
            "L2": busiest * sector_bytes / L2_BYTES_PER_CYCLE,
        }
        seconds = {name: count / hardware.clock for name, count in cycles.items()}
        seconds["memory"] = min(byte_size, groups * sector_bytes) / hardware.bandwidth
        return LaunchEstimate(seconds, groups, held, groups * mean.flops, mean.is_complete)

    def _waves_held(self, resources: KernelResources, kernel: KernelCode, waves_of_group: float) -> int:
        """Return how many waves of a kernel a scheduler holds at once, at least one."""
        hardware = self.hardware
        held = hardware.waves
        if resources.waves is not None:
            held = min(held, resources.waves)
        elif hardware.compiler.startswith("sm_"):
            held = min(held, hardware.register_bytes // (hardware.register_size * max(1, resources.registers)))
        local_bytes = max(resources.local_bytes, sum(kernel.local_arrays.values()))
        if local_bytes:
            groups = max(1, hardware.local_bytes // local_bytes)
            held = min(held, math.ceil(groups * waves_of_group / hardware.schedulers))
        return max(1, held)


def _arguments(launch: Launch) -> tuple[list[int], int]:
    """Return the arguments of a launch, an address for each buffer, and the bytes of all its buffers."""
    buffers: dict[Buffer, int] = {}
    arguments, byte_size = [], 0
    for argument in launch.arguments:
        if isinstance(argument, Buffer):
            whole = argument.whole or argument
            if argument not in buffers:
                byte_size += argument.byte_size
            buffers.setdefault(whole, len(buffers) + 1)
            arguments.append((buffers[whole] << 40) + argument.offset)
        else:
            arguments.append(int(argument) if isinstance(argument, (np.integer, np.bool_)) else 0)
    return arguments, byte_size


def _geometry(launch: Launch) -> Geometry:
    x, y, z = (*launch.global_size, 1, 1)[:3]
    local = launch.local_size or (min(x, 64),)
    a, b, c = (*local, 1, 1)[:3]
    return Geometry((x, y, z), (a, b, c))

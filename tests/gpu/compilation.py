"""The programs of the zoo, a decoder and a sample of operations, compiled for each GPU of the profiles."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hetero_opencl.device.launch import Launch
from hetero_opencl.estimate.compilers.compilation import compile_program
from hetero_opencl.estimate.compilers.resources import Compilation, KernelResources
from hetero_opencl.estimate.lower_for_profile import lower_for_profile
from hetero_opencl.profiles.hardware import Hardware, hardware_of, known_gpus

from hetero.system.errors import UnsupportedOperationError
from tests.gpu.programs import examples

# The property of a test that has a row of the table, and the head of the table.
ROW = "row of the table of compilations"
HEAD = [
    "                                            fail- kernels that:    most bytes     occupancy",
    "GPU                      compiler programs  ures  spill  scratch  scratch  local  least  median",
]


@dataclass(frozen=True)
class Compiled:
    """The launches of all examples for a GPU, and what its compiler makes of their programs, by text."""

    hardware: Hardware
    launches: list[Launch]
    programs: dict[str, Compilation]

    @property
    def errors(self) -> list[str]:
        return [program.error for program in self.programs.values() if program.error]

    @property
    def kernels(self) -> list[tuple[str, KernelResources]]:
        """The name and resources of each kernel of each program."""
        return [pair for program in self.programs.values() for pair in program.kernels.items()]

    def row(self) -> str:
        """Return the GPU's line of the table."""
        kernels = [resources for _, resources in self.kernels]
        waves = sorted(self._occupancy(kernel) for kernel in kernels)
        scratch = [kernel.scratch_bytes for kernel in kernels]
        return (
            f"{self.hardware.name:24} {self.hardware.compiler:8} {len(self.programs):8} {len(self.errors):5} "
            f"{sum(kernel.spilled_registers > 0 for kernel in kernels):6} {sum(size > 0 for size in scratch):8} "
            f"{max(scratch):8} {max(kernel.local_bytes for kernel in kernels):6} "
            f"{waves[0]:6.0%} {waves[len(waves) // 2]:7.0%}"
        )

    def _occupancy(self, kernel: KernelResources) -> float:
        """Return the share of a scheduler's waves for which the registers suffice."""
        if kernel.waves is not None:
            return kernel.waves / self.hardware.waves
        # A register has 4 bytes for each work-item of an NVIDIA wave, and 32 bytes for a whole wave of Intel's.
        wave_bytes = kernel.registers * (4 * kernel.wave_width if self.hardware.compiler.startswith("sm_") else 32)
        return min(1.0, self.hardware.register_bytes // wave_bytes / self.hardware.waves)


@functools.cache
def compiled_for(name: str) -> Compiled:
    """Lower and compile all examples for a GPU of the profiles."""
    hardware = hardware_of(name)
    profile = hardware.profile()
    launches: list[Launch] = []
    for example in examples():
        try:
            launches += lower_for_profile(example.model, profile, example.inputs).commands
        except UnsupportedOperationError:
            if profile.has_doubles:
                raise
    sources = list(dict.fromkeys(launch.source for launch in launches))
    programs = compile_each(sources, functools.partial(compile_program, target=hardware.compiler))
    return Compiled(hardware, launches, dict(zip(sources, programs)))


def all_sources() -> list[str]:
    """Return the programs of all GPUs, each once."""
    return list(dict.fromkeys(source for name in known_gpus() for source in compiled_for(name).programs))


def compile_each(sources: Iterable[str], compiled: Callable[[str], Compilation]) -> list[Compilation]:
    """Compile programs side by side; the compilers are processes of their own."""
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        return list(executor.map(compiled, sources))

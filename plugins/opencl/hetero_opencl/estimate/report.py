"""Reports of estimates: a program's launches on a GPU that is not at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hetero.system.errors import DeviceError
from hetero_opencl.estimate.compilers.compilation import compile_program
from hetero_opencl.estimate.compilers.resources import KernelResources
from hetero_opencl.estimate.llvm_ir import compile_to_ir
from hetero_opencl.estimate.performance_model import LaunchEstimate, PerformanceModel
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.profiles.hardware import Hardware


@dataclass(frozen=True)
class ProgramEstimate:
    """The estimated launches of a program, and the seconds in which its inputs and outputs are transferred."""

    hardware: Hardware
    launches: list[LaunchEstimate]
    transfer_seconds: float

    @property
    def seconds(self) -> float:
        return sum(launch.seconds for launch in self.launches) + self.transfer_seconds

    @property
    def fraction_of_peak(self) -> float:
        """The floating-point operations per second, transfers left out, as a fraction of what the GPU can at most."""
        seconds = sum(launch.seconds for launch in self.launches)
        return sum(launch.flops for launch in self.launches) / max(seconds, 1e-12) / self.hardware.flops_per_second


def make_model(hardware: Hardware) -> PerformanceModel:
    """Return the performance model of a GPU. Its estimates raise ConfigError if compilers are not installed."""
    return PerformanceModel(hardware, compile_to_ir, _resources_for(hardware.compiler))


def _resources_for(target: str) -> Callable[[str, str], KernelResources]:
    def resources_of(source: str, kernel: str) -> KernelResources:
        compilation = compile_program(source, target)
        if compilation.error:
            raise DeviceError(f"the compiler for {target} does not accept kernel {kernel}: {compilation.error}")
        return compilation.kernels[kernel]

    return resources_of


def estimate_program(program: KernelProgram, model: PerformanceModel) -> ProgramEstimate:
    """Estimate a program on the GPU of a model."""
    moved = sum(buffer.byte_size for buffer in {*program.inputs, *program.outputs})
    seconds = moved / model.hardware.transfer_bandwidth
    return ProgramEstimate(model.hardware, [model.estimate(launch) for launch in program.launches], seconds)


def estimate_rows(program: KernelProgram, estimate: ProgramEstimate) -> list[tuple[str, ...]]:
    """Return a row for each launch: operation, kernel, work-groups, … ``ESTIMATE_COLUMNS`` names them."""
    peak = estimate.hardware.flops_per_second
    return [
        (
            launch.node_name,
            launch.kernel,
            f"{one.groups}",
            f"{one.groups / estimate.hardware.units:.1f}",
            f"{one.waves}",
            f"{one.seconds * 1e6:.1f}",
            one.limit if one.is_complete else f"{one.limit}, not followed to the end",
            f"{100 * one.flops / one.seconds / peak:.1f}",
        )
        for launch, one in zip(program.launches, estimate.launches)
    ]


ESTIMATE_COLUMNS = ("operation", "kernel", "groups", "per unit", "waves", "µs", "limited by", "% of peak")

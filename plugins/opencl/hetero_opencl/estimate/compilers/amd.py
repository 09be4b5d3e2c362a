"""Compile OpenCL C for AMD's GPUs with LLVM and AMD's device libraries, which are what its driver compiles with."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from hetero_opencl.estimate.compilers.resources import Compilation, KernelResources
from hetero_opencl.estimate.compilers.toolchain import LIBRARIES, error_of, find_file, run_tool

TOOLS = ("clang-19", "llvm-nm-19", "llvm-readelf-19")
FILES = (LIBRARIES / "amdgcn/bitcode/ocml.bc",)
# Any GPU: which functions are inlined without optimization does not depend on it.
UNOPTIMIZED_TARGET = "gfx1030"

# The program is compiled as drivers do without options: as OpenCL C 1.2.
_OPTIONS = ("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa", "-w")
_OCCUPANCY = re.compile(r"Function Name: (\S+).*?Occupancy \[waves/SIMD\]: (\d+)", re.DOTALL)


def compile_program(source: Path, target: str) -> Compilation:
    """Compile a file for a processor of LLVM's AMDGPU target, such as gfx1100.

    The resources are those of the metadata of the code object, described in LLVM's User Guide for AMDGPU Backend.
    """
    remarks, error = _compile(source, target, ["-O3", "-Rpass-analysis=kernel-resource-usage"])
    if error:
        return Compilation(error=error)
    occupancies = {name: int(waves) for name, waves in _OCCUPANCY.findall(remarks)}
    notes, _ = run_tool("llvm-readelf-19", ["--notes", _object(source)], source.parent)
    metadata = yaml.safe_load(notes[notes.index("---\n") :])
    return Compilation(
        {
            kernel[".name"]: KernelResources(
                registers=kernel[".vgpr_count"],
                spilled_registers=kernel[".vgpr_spill_count"],
                scratch_bytes=kernel[".private_segment_fixed_size"],
                local_bytes=kernel[".group_segment_fixed_size"],
                wave_width=kernel[".wavefront_size"],
                waves=occupancies[kernel[".name"]],
            )
            for kernel in metadata["amdhsa.kernels"]
        }
    )


def compile_unoptimized(source: Path) -> Compilation:
    """Compile a file without optimization. It is an error if symbols are undefined then, as nothing is inlined."""
    _, error = _compile(source, UNOPTIMIZED_TARGET, ["-O0"])
    if error:
        return Compilation(error=error)
    symbols, _ = run_tool("llvm-nm-19", ["-u", "-j", _object(source)], source.parent)
    return Compilation(error=f"undefined symbols: {', '.join(symbols.split())}" if symbols.strip() else "")


def _object(source: Path) -> str:
    return source.with_suffix(".o").name


def _compile(source: Path, target: str, options: list[str]) -> tuple[str, str]:
    """Compile a file to an object beside it; return what the compiler writes, and its error."""
    place = [f"--rocm-device-lib-path={find_file(FILES[0]).parent}", "-mcode-object-version=5", f"-mcpu={target}"]
    files = ["-c", source.name, "-o", _object(source)]
    output, is_built = run_tool("clang-19", [*_OPTIONS, *place, *options, *files], source.parent)
    return output, "" if is_built else error_of(output)

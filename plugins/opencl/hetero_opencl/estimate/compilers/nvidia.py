"""Compile OpenCL C for NVIDIA's GPUs: LLVM and libclc to PTX, and NVIDIA's assembler, which its driver uses too.

Only the front end is not NVIDIA's: that is in its driver alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from hetero_opencl.estimate.compilers.resources import Compilation, KernelResources
from hetero_opencl.estimate.compilers.toolchain import error_of, find_file, run_tool

TOOLS = ("clang-19", "ptxas")
FILES = (Path("usr/lib/clc/nvptx64--nvidiacl.bc"),)
WARP = 32

# The program is compiled as drivers do without options: as OpenCL C 1.2. libclc is compiled for PTX 7.8.
_OPTIONS = (
    *("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "nvptx64--nvidiacl", "-w", "-O3"),
    *("-Dcl_clang_storage_class_specifiers", "-Xclang", "-target-feature", "-Xclang", "+ptx78"),
)
_KERNEL = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<spilled>\d+) bytes spill stores.*?"
    r"Used (?P<registers>\d+) registers(?P<more>[^\n]*)",
    re.DOTALL,
)
_LOCAL = re.compile(r"(\d+) bytes smem")


def compile_program(source: Path, target: str) -> Compilation:
    """Compile a file for an architecture such as sm_80."""
    assembly = source.with_suffix(".ptx").name
    place = ["-mlink-builtin-bitcode", str(find_file(FILES[0])), "-target-cpu", target]
    passed = [word for option in place for word in ("-Xclang", option)]
    output, is_built = run_tool("clang-19", [*_OPTIONS, *passed, "-S", source.name, "-o", assembly], source.parent)
    if is_built:
        command = ["-v", f"-arch={target}", "-O3", assembly, "-o", source.with_suffix(".cubin").name]
        output, is_built = run_tool("ptxas", command, source.parent)
    if not is_built:
        return Compilation(error=error_of(output))
    return Compilation({kernel["name"]: _resources(kernel) for kernel in _KERNEL.finditer(output)})


def _resources(kernel: re.Match[str]) -> KernelResources:
    local = _LOCAL.search(kernel["more"])
    return KernelResources(
        registers=int(kernel["registers"]),
        spilled_registers=int(kernel["spilled"]) // 4,
        scratch_bytes=int(kernel["stack"]),
        local_bytes=int(local[1]) if local else 0,
        wave_width=WARP,
    )

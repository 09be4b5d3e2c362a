"""Compile OpenCL C to SPIR-V and validate it: what drivers with another front end than ours are given."""

from __future__ import annotations

from pathlib import Path

from hetero_opencl.estimate.compilers.resources import Compilation
from hetero_opencl.estimate.compilers.toolchain import error_of, run_tool

TOOLS = ("clang-15", "llvm-spirv-15", "spirv-val")
FILES: tuple[Path, ...] = ()

# The translator expects code as the front end makes it, before any pass of LLVM.
_OPTIONS = (
    *("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64-unknown-unknown", "-w"),
    *("-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm"),
)


def compile_program(source: Path) -> Compilation:
    """Compile and validate a file. There are no resources, as no kernel is made."""
    bitcode, binary = source.with_suffix(".bc").name, source.with_suffix(".spv").name
    for name, arguments in (
        ("clang-15", [*_OPTIONS, "-c", source.name, "-o", bitcode]),
        ("llvm-spirv-15", ["--spirv-max-version=1.2", bitcode, "-o", binary]),
        ("spirv-val", ["--target-env", "opencl2.2", binary]),
    ):
        output, is_built = run_tool(name, arguments, source.parent)
        if not is_built:
            return Compilation(error=error_of(output))
    return Compilation()

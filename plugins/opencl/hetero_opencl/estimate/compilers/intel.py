"""Compile OpenCL C for Intel's GPUs with the compiler of Intel's driver."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from hetero_opencl.estimate.compilers.resources import Compilation, KernelResources
from hetero_opencl.estimate.compilers.toolchain import LIBRARIES, error_of, run_tool

TOOLS = ("ocloc",)
FILES = (LIBRARIES / "libigc.so.1",)

_SPILLED = re.compile(r"kernel (\w+)\s+compiled SIMD(\d+) allocated \d+ regs and spilled around (\d+)")
# The section of the binary that describes its kernels. See ZEBIN in the documentation of Intel's graphics compiler.
_DESCRIPTION = re.compile(rb"\bversion: +'[\d.]+'\nkernels:\n.*?\n\.\.\.\n", re.DOTALL)


def compile_program(source: Path, target: str) -> Compilation:
    """Compile a file for a product such as dg2 (Arc), tgllp or skl."""
    # The format of the binary that has a description as text; the code in it is the same.
    command = ["compile", "-file", source.name, "-device", target, "-output", source.stem, "-output_no_suffix"]
    output, is_built = run_tool("ocloc", [*command, "--format", "zebin"], source.parent)
    if not is_built or "Build succeeded" not in output:
        return Compilation(error=error_of(output))
    found = _DESCRIPTION.search(source.with_suffix("").read_bytes())
    if not found:
        return Compilation(error="error: the binary has no description of its kernels")
    spilled = {(name, int(width)): int(count) for name, width, count in _SPILLED.findall(output)}
    kernels = {kernel["name"]: kernel for kernel in yaml.safe_load(found[0])["kernels"]}
    return Compilation({name: _resources(kernel, spilled) for name, kernel in kernels.items()})


def _resources(kernel: dict[str, Any], spilled: dict[tuple[str, int], int]) -> KernelResources:
    execution = kernel["execution_env"]
    width = execution["simd_size"]
    memory = kernel.get("per_thread_memory_buffers", [])
    return KernelResources(
        registers=execution["grf_count"],
        spilled_registers=spilled.get((kernel["name"], width), 0),
        # The size is that for a work-item if the buffer is marked so, else that for a hardware thread.
        scratch_bytes=sum(one["size"] if one.get("is_simt_thread") else one["size"] // width for one in memory),
        local_bytes=execution.get("slm_size", 0),
        wave_width=width,
    )

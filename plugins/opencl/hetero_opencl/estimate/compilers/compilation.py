"""Compile OpenCL C for GPUs that are not at hand, with the compilers of their vendors.

A compilation is cached in a folder of the user by the text of the program, the target and the version of the compiler.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import platformdirs

from hetero.plugin import cache_folder, write_cached
from hetero_opencl.estimate.compilers import amd, intel, nvidia, spirv
from hetero_opencl.estimate.compilers.resources import Compilation, KernelResources
from hetero_opencl.estimate.compilers.toolchain import identity_of

# To change if the same output of a compiler is read in another way.
_FORMAT = 1


def compile_program(source: str, target: str) -> Compilation:
    """Compile a program for a target: AMD's gfx…, NVIDIA's sm_…, or a product of Intel's, such as dg2.

    Raises ConfigError if the compiler is not installed. What a compiler rejects has the error in the result.
    """
    vendor = amd if target.startswith("gfx") else nvidia if target.startswith("sm_") else intel
    identity = identity_of(vendor.TOOLS, vendor.FILES)
    return _cached(source, f"{target} {identity}", partial(vendor.compile_program, target=target))


def compile_unoptimized(source: str) -> Compilation:
    """Compile a program for AMD's GPUs without optimization. Undefined symbols are an error."""
    return _cached(source, f"unoptimized {identity_of(amd.TOOLS, amd.FILES)}", amd.compile_unoptimized)


def compile_spirv(source: str) -> Compilation:
    """Compile a program to SPIR-V, which is an error if it is not valid."""
    return _cached(source, f"spirv {identity_of(spirv.TOOLS, spirv.FILES)}", spirv.compile_program)


def _cached(source: str, target: str, compiled: Callable[[Path], Compilation]) -> Compilation:
    """Return the cached compilation for a target, which has the version of the compiler in it, or make it."""
    text = "\0".join([str(_FORMAT), target, source])
    folder = cache_folder(platformdirs.user_cache_path("hetero") / "compilations")
    file = folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json" if folder else None
    if file and file.exists():
        stored = json.loads(file.read_bytes())
        kernels = {name: KernelResources(**resources) for name, resources in stored["kernels"].items()}
        return Compilation(kernels, stored["error"])
    with tempfile.TemporaryDirectory(prefix="hetero-compilation-") as scratch:
        program = Path(scratch) / "program.cl"
        program.write_text(source, encoding="utf-8")
        result = compiled(program)
    if file:
        write_cached(file, [json.dumps(asdict(result)).encode()])
    return result

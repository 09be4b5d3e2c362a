"""Builds kernels in a child process. If the driver's compiler aborts, only that process ends.

This module does not import the plugin API, so that the process starts in a fraction of a second.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyopencl as cl

from hetero_opencl.device.caches import build_uncached
from hetero_opencl.device.platforms import find_device

# Alignment of buffers in bytes: that of the largest vector type, double16.
ALIGNMENT = 128


def build(device_identity: list[str | int], source: str, launches: list[tuple[Any, ...]]) -> dict[str, str]:
    """Return the ``binary`` of a source text, in hexadecimal, or the compiler's ``error``.

    The binary includes the code that the driver generates at the launches, see compiler.BuildRequest.
    """
    context, queue = _context(*device_identity)
    try:
        program = build_uncached(cl.Program(context, source))
    except cl.Error as error:
        return {"error": str(error)}
    loaded = _loaded_files()
    for launch in launches:
        with contextlib.suppress(cl.Error, MemoryError):  # the driver then generates the code in the first inference
            _launch(queue, program, *launch)
    _use_as_generic_code(program, _loaded_files() - loaded)
    return {"binary": program.binaries[0].hex()}


def _loaded_files() -> set[Path]:
    """Return the files that are mapped by this process; none on systems other than Linux."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text(errors="replace").splitlines() if maps.exists() else []
    return {Path(line.split(maxsplit=5)[5]) for line in lines if line.endswith(".so")}


def _use_as_generic_code(program: cl.Program, files: set[Path]) -> None:
    """Let PoCL take the code that it made for launches, in ``files``, as its code for any work-group size too.

    A binary must have both, and the second takes PoCL longer to compile than all else. For a kernel that has one
    work-group size they do the same. PoCL keeps them in KERNEL/1-1-1-goffs0-smallgrid/KERNEL.so and KERNEL/0-0-0.
    """
    for file in files:
        if file.parent.parent.name == file.stem and _has_one_size(program, file.stem):
            generic = file.parent.with_name("0-0-0")
            with contextlib.suppress(OSError):
                generic.mkdir()
                os.link(file, generic / file.name)


def _has_one_size(program: cl.Program, kernel: str) -> bool:
    query = cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE
    try:
        sizes = cl.Kernel(program, kernel).get_work_group_info(query, program.devices[0])
        return any(cast(Sequence[int], sizes))
    except cl.Error:  # a file of something else
        return False


@functools.cache
def _context(*device_identity: str | int) -> tuple[cl.Context, cl.CommandQueue]:
    """Return a context, which Intel's queues do not keep alive, and a queue."""
    context = cl.Context([find_device(list(device_identity))])
    return context, cl.CommandQueue(context)


def _launch(
    queue: cl.CommandQueue,
    program: cl.Program,
    kernel_name: str,
    global_size: Sequence[int],
    local_size: Sequence[int],
    arguments: Sequence[int | tuple[str, str]],
) -> None:
    """Run a kernel on zeros. An argument is a buffer's byte size, or a number as its dtype and hexadecimal bytes."""
    kernel = cl.Kernel(program, kernel_name)
    values = [
        _zeros(queue.context, argument)
        if isinstance(argument, int)
        else np.frombuffer(bytes.fromhex(argument[1]), argument[0])[0]
        for argument in arguments
    ]
    kernel.set_args(*values)
    cl.enqueue_nd_range_kernel(queue, kernel, tuple(global_size), tuple(local_size))
    queue.finish()


def _zeros(context: cl.Context, size: int) -> cl.Buffer:
    """Return a zeroed buffer. The operating system provides memory only for the pages that a kernel writes to."""
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=memory[start : start + size])

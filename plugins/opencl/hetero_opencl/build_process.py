"""Builds kernels in a child process. If the driver's compiler aborts, only that process ends.

This module does not import the plugin API, so that the process starts in a fraction of a second.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence

import numpy as np
import pyopencl as cl

from hetero_opencl.platforms import find_device
from hetero_opencl.pyopencl_cache import build_uncached

# Alignment of buffers in bytes: that of the largest vector type, double16.
ALIGNMENT = 128


def build(device_identity: list[str | int], source: str, launches: list[tuple]) -> dict[str, str]:
    """Return the ``binary`` of a source text, in hexadecimal, or the compiler's ``error``.

    The binary includes the code that the driver generates at the launches, see compiler.BuildRequest.
    """
    context, queue = _context(*device_identity)
    try:
        program = build_uncached(cl.Program(context, source))
    except cl.Error as error:
        return {"error": str(error)}
    for launch in launches:
        with contextlib.suppress(cl.Error, MemoryError):  # the driver then generates the code in the first inference
            _launch(queue, program, *launch)
    return {"binary": program.binaries[0].hex()}


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

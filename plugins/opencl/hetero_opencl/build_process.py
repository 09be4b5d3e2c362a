"""The child process that builds kernels for one device. If the driver's compiler aborts, only this process ends.

It does not import the plugin API, so it starts in a fraction of a second. Requests and answers are messages on the
standard streams: 8 bytes of length (little endian), then the content.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import sys
import warnings
from typing import BinaryIO

import numpy as np
import pyopencl as cl

from hetero_opencl.platforms import find_device

# The process ends by itself when it has had no request for this many seconds.
IDLE_SECONDS = 5.0
BUILT, REFUSED = b"\0", b"\1"
# Alignment of buffers in bytes: that of the largest vector type, double16.
ALIGNMENT = 128
_LENGTH = struct.Struct("<Q")


def write_message(stream: BinaryIO, *parts: bytes) -> None:
    stream.write(_LENGTH.pack(sum(map(len, parts))) + b"".join(parts))
    stream.flush()


def read_message(stream: BinaryIO) -> bytes | None:
    """Return the next message, or None if the stream ends."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def serve(device_identity: list[str | int]) -> None:
    """Answer build requests until the input ends or the process has been idle.

    A request is a compiler.BuildRequest as JSON. The answer starts with the byte BUILT or REFUSED, followed by the
    binary or the error message. An empty request is answered by an empty message: it tests whether the process lives.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers that print to the standard output now print to the standard error
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    warnings.simplefilter("ignore")  # pyopencl's, about compiler output
    context = cl.Context([find_device(device_identity)])  # referenced here: Intel's queues do not keep it alive
    queue = cl.CommandQueue(context)
    while _has_input(requests) and (request := read_message(requests)) is not None:
        if not request:
            write_message(answers)
            continue
        try:
            write_message(answers, BUILT, _build(queue, **json.loads(request)))
        except cl.Error as error:
            write_message(answers, REFUSED, str(error).encode())


def _build(queue: cl.CommandQueue, source: str, launches: list[tuple]) -> bytes:
    """Return the binary of a source text, including the code that the driver generates at launches."""
    program = cl.Program(queue.context, source).build(cache_dir=False)
    for launch in launches:
        with contextlib.suppress(cl.Error, MemoryError):  # the driver then generates the code in the first inference
            _launch(queue, program, *launch)
    return program.get_info(cl.program_info.BINARIES)[0]


def _launch(
    queue: cl.CommandQueue,
    program: cl.Program,
    kernel_name: str,
    global_size: list[int],
    local_size: list[int],
    arguments: list[int | list[str]],
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
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
    queue.finish()


def _zeros(context: cl.Context, size: int) -> cl.Buffer:
    """Return a zeroed buffer. The operating system provides memory only for the pages that a kernel writes to."""
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=memory[start : start + size])


def _has_input(stream: BinaryIO) -> bool:
    """Wait for input for IDLE_SECONDS at most; return whether there is any, or the stream has ended."""
    if os.name == "nt":  # select does not support pipes on Windows
        return True
    return bool(select.select([stream], [], [], IDLE_SECONDS)[0])

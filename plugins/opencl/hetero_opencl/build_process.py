"""A process that builds kernels for one device: a compiler that aborts ends this process and not the user's.

It does not import the plugin API, so that it starts in a fraction of a second. Requests and answers are messages on the
standard streams: 8 bytes of length, then the content.
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
# In bytes; that of the largest vector, double16.
ALIGNMENT = 128
_LENGTH = struct.Struct("<Q")


def write_message(stream: BinaryIO, *parts: bytes) -> None:
    stream.write(_LENGTH.pack(sum(map(len, parts))) + b"".join(parts))
    stream.flush()


def read_message(stream: BinaryIO) -> bytes | None:
    """Return the next message, or None if the stream ends before its end."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def serve(wanted: list[str | int]) -> None:
    """Answer requests until there are no more: JSON objects with a source text, and launches for ``_launch``.

    A request without content is answered without content: it asks whether the process still takes requests.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what drivers print is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    warnings.simplefilter("ignore")  # of compilers, about their own messages
    context = cl.Context([find_device(wanted)])  # Intel's queues do not keep theirs alive
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
    """Return the binary of a source text, with the code that the launches make the driver generate."""
    program = cl.Program(queue.context, source).build(cache_dir=False)
    for launch in launches:
        with contextlib.suppress(cl.Error, MemoryError):  # the code is then generated in the first inference
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
    """Run a kernel on zeros. Arguments are the bytes of a buffer, or a number as its type and hexadecimal bytes."""
    kernel = cl.Kernel(program, kernel_name)
    buffers = [
        _zeros(queue.context, argument)
        if isinstance(argument, int)
        else np.frombuffer(bytes.fromhex(argument[1]), argument[0])[0]
        for argument in arguments
    ]
    kernel.set_args(*buffers)
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
    queue.finish()


def _zeros(context: cl.Context, size: int) -> cl.Buffer:
    """Return a buffer that takes memory only where a kernel writes to it."""
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=memory[start : start + size])


def _has_input(stream: BinaryIO) -> bool:
    if os.name == "nt":  # select takes no pipes there
        return True
    return bool(select.select([stream], [], [], IDLE_SECONDS)[0])

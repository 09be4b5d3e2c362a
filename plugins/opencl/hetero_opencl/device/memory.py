"""Device memory: counted allocations."""

from __future__ import annotations

import functools
import threading
import weakref

import numpy as np
import pyopencl as cl

from hetero.plugin import renew_after_fork
from hetero.properties import Mutability, Property

#: OpenVINO's: bytes that the plugin has in OpenCL buffers on the device, ``cl_mem``, and ``cl_mem_peak``, the most.
memory_statistics = Property("GPU_MEMORY_STATISTICS", dict, {}, Mutability.RO)


class CountedBuffer(cl.Buffer):
    """A buffer that supports weak references, unlike pyopencl's, to count it until it is collected."""


class Allocations:
    """The current and the peak number of bytes in buffers that the plugin has allocated on a device."""

    def __init__(self) -> None:
        self.current = self.peak = 0
        self._renew()
        renew_after_fork(self, Allocations._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()  # reentrant: a buffer may be collected while another one is counted

    def allocate(
        self, context: cl.Context, byte_size: int, flags: int = 0, hostbuf: np.ndarray | None = None
    ) -> cl.Buffer:
        """Allocate a read-write buffer, counted until it is collected."""
        size = 0 if hostbuf is not None else byte_size
        buffer = CountedBuffer(context, cl.mem_flags.READ_WRITE | flags, size, hostbuf)
        self._count(byte_size)
        weakref.finalize(buffer, self._count, -byte_size).atexit = False
        return buffer

    def statistics(self) -> dict[str, int]:
        """Return the value of GPU_MEMORY_STATISTICS."""
        return {"cl_mem": self.current, "cl_mem_peak": self.peak}

    def _count(self, change: int) -> None:
        with self._lock:
            self.current += change
            self.peak = max(self.peak, self.current)


@functools.cache
def allocations_on(handle: cl.Device) -> Allocations:
    """Return the allocations on a device, in all contexts."""
    return Allocations()

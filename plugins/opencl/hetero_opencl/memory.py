"""Memory on a device: what the plugin took of it, counted, and the arenas of a request, that its programs lie in."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyopencl as cl

from hetero.fork import renew_after_fork
from hetero.properties import Mutability, Property
from hetero_opencl.memory_plan import Slot

if TYPE_CHECKING:
    from hetero_opencl.device import OpenCLDevice

#: OpenVINO's: bytes that the plugin has in OpenCL buffers on the device, ``cl_mem``, and ``cl_mem_peak``, the most.
memory_statistics = Property("GPU_MEMORY_STATISTICS", dict, {}, Mutability.RO)


class CountedBuffer(cl.Buffer):
    """A buffer of which it is known when it goes: pyopencl's own take no weak references."""


class Allocations:
    """The bytes of the buffers that the plugin has on a device, and the most that they were so far."""

    def __init__(self) -> None:
        self.current = self.peak = 0
        self._renew()
        renew_after_fork(self, Allocations._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()  # a buffer may be collected while another one is counted

    def take(self, context: cl.Context, byte_size: int, flags: int = 0, hostbuf: np.ndarray | None = None) -> cl.Buffer:
        """A new buffer for kernels to read and write, counted until it is collected."""
        size = 0 if hostbuf is not None else byte_size
        buffer = CountedBuffer(context, cl.mem_flags.READ_WRITE | flags, size, hostbuf)
        self._count(byte_size)
        weakref.finalize(buffer, self._count, -byte_size).atexit = False
        return buffer

    def statistics(self) -> dict[str, int]:
        """Return the value of GPU_MEMORY_STATISTICS."""
        return {"cl_mem": self.current, "cl_mem_peak": self.peak}

    def reset_peak(self) -> None:
        """Count the peak from what there is now."""
        with self._lock:
            self.peak = self.current

    def _count(self, change: int) -> None:
        with self._lock:
            self.current += change
            self.peak = max(self.peak, self.current)


@functools.cache
def allocations_on(handle: cl.Device) -> Allocations:
    """What is taken of a device, in whatever contexts."""
    return Allocations()


class Arena:
    """The memory in which the programs of a request have their buffers, one after the other.

    It grows with what is reserved. Then all of it is new: a program whose ``version`` is another one has to take its
    parts again.
    """

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device
        self._memory: list[cl.Buffer] = []
        self._sizes: list[int] = []
        self._parts: dict[Slot, cl.Buffer] = {}
        self.version = 0

    @property
    def byte_size(self) -> int:
        return sum(self._sizes)

    def reserve(self, sizes: Sequence[int]) -> None:
        """See to it that there are arenas of at least so many bytes."""
        wanted = [max(pair) for pair in itertools.zip_longest(sizes, self._sizes, fillvalue=0)]
        if wanted != self._sizes:
            self.release()  # so that what there was and what comes are never there at once
            for size in wanted:
                self._memory.append(self._device.allocate(size))
                self._sizes.append(size)

    def release(self) -> None:
        """Give all memory back."""
        self.version += 1
        self._parts.clear()
        self._memory.clear()
        self._sizes.clear()

    def part(self, slot: Slot) -> cl.Buffer:
        """The part of an arena that a plan gave to a buffer."""
        if slot not in self._parts:
            self._parts[slot] = self._memory[slot.arena].get_sub_region(slot.offset, slot.byte_size)
        return self._parts[slot]

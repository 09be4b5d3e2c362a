"""Device memory: counted allocations, and the arenas in which the programs of a request have their buffers."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import pyopencl as cl

from hetero.plugin import renew_after_fork
from hetero.properties import Mutability, Property
from hetero_opencl.lowering.memory_plan import Slot

if TYPE_CHECKING:
    from hetero_opencl.device.device import OpenCLDevice
    from hetero_opencl.lowering.program import Program

#: OpenVINO's: bytes that the plugin has in OpenCL buffers on the device, ``cl_mem``, and ``cl_mem_peak``, the most.
memory_statistics = Property("GPU_MEMORY_STATISTICS", dict, {}, Mutability.RO)
#: Memory of a compiled model in bytes, for the programs it used last: ``weights``, the buffers of all constants, in the
#: layouts of the kernels; ``arena``, the memory that each request allocates for all other values; and
#: ``largest_live_set``, the most of the arena that is needed at the same time.
model_memory = Property("GPU_MODEL_MEMORY", dict, {}, Mutability.RO)


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


def memory_of(programs: Sequence[Program]) -> dict[str, int]:
    """Return the value of ``model_memory`` for programs that run one after another in one arena."""
    constants = dict.fromkeys(buffer for program in programs for buffer in program.constants())
    plans = [program.memory_plan() for program in programs]
    return {
        "weights": sum(buffer.memory.size for buffer in constants if buffer.memory),
        "arena": max((plan.byte_size for plan in plans), default=0),
        "largest_live_set": max((plan.largest_live_set for plan in plans), default=0),
    }


class Arena:
    """The memory of a request, shared by its programs, which run one after another.

    It consists of one or more OpenCL buffers, which the host sees if it shares memory with the device. When they grow,
    all are allocated anew and ``version`` changes: programs then have to get their parts again.
    """

    def __init__(self, device: OpenCLDevice) -> None:
        self._allocate = device.allocate_shared if device.shares_host_memory else device.allocate
        self._memory: list[cl.Buffer] = []
        self._sizes: list[int] = []
        self._parts: dict[Slot, cl.Buffer] = {}
        self._context = device.context
        self._counters: dict[int, cl.Buffer] = {}
        self.version = 0

    def counters(self, byte_size: int) -> cl.Buffer:
        """Return memory of this size that is zero before each launch, and after it."""
        if byte_size not in self._counters:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            self._counters[byte_size] = cl.Buffer(self._context, flags, hostbuf=np.zeros(byte_size, np.uint8))
        return self._counters[byte_size]

    @property
    def byte_size(self) -> int:
        return sum(self._sizes)

    def reserve(self, sizes: Sequence[int]) -> None:
        """Grow the buffers to at least these byte sizes."""
        new_sizes = [max(pair) for pair in itertools.zip_longest(sizes, self._sizes, fillvalue=0)]
        if new_sizes != self._sizes:
            self.release()  # first, so that the old and the new memory never exist at once
            self._memory = [self._allocate(size) for size in new_sizes]
            self._sizes = new_sizes

    def release(self) -> None:
        """Free all memory."""
        self.version += 1
        self._parts, self._memory, self._sizes = {}, [], []

    def part(self, slot: Slot) -> cl.Buffer:
        """Return the sub-buffer of a slot of a memory plan."""
        if slot not in self._parts:
            self._parts[slot] = self._memory[slot.arena].get_sub_region(slot.offset, slot.byte_size)
        return self._parts[slot]

    def array(self, slot: Slot, shape: Sequence[int], dtype: np.dtype) -> np.ndarray | None:
        """Return a dense array in a slot, or None if the host does not see the memory. No command may be using it."""
        memory = cast(np.ndarray | None, self._memory[slot.arena].hostbuf)
        return None if memory is None else np.ndarray(shape, dtype, memory, slot.offset)

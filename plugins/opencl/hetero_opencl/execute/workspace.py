"""Workspace: the queue and the memory of a request."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl

from hetero_opencl.device import process_guard
from hetero_opencl.device.device import OpenCLDevice, opencl_errors
from hetero_opencl.device.transfers import finish
from hetero_opencl.execute.remote import OpenCLContext
from hetero_opencl.lowering.memory_plan import Slot

# Statuses below are errors; those above are of commands that have not ended.
COMPLETE = cl.command_execution_status.COMPLETE

# Arenas of requests that were deleted while kernels ran. Shared virtual memory is freed at once, unlike buffers.
_abandoned: list[Arena] = []


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
        self._arrays: dict[Slot, np.ndarray] = {}  # those that the host used last
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
        self._parts, self._arrays, self._memory, self._sizes = {}, {}, [], []

    def part(self, slot: Slot) -> cl.Buffer:
        """Return the sub-buffer of a slot of a memory plan."""
        if slot not in self._parts:
            self._parts[slot] = self._memory[slot.arena].get_sub_region(slot.offset, slot.byte_size)
        return self._parts[slot]

    def array(self, slot: Slot, shape: Sequence[int], dtype: np.dtype) -> np.ndarray | None:
        """Return a dense array in a slot, or None if the host does not see the memory. No command may be using it."""
        array = self._arrays.get(slot)
        if array is None or array.shape != shape or array.dtype != dtype:
            memory: Any = self._memory[slot.arena].hostbuf
            if memory is None:
                return None
            array = self._arrays[slot] = np.ndarray(shape, dtype, memory, slot.offset)
        return array


class Workspace:
    """The queue and the arena of a request, shared by its programs, which run one after another. Not thread-safe."""

    def __init__(self, context: OpenCLContext, profiled: bool) -> None:
        self.context, device = context, context.device
        with opencl_errors(f"making a queue on {device.full_name}"):
            self.queue = device.make_queue(profiled)
            self.is_profiled = profiled and bool(self.queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
        self.arena = Arena(device)
        #: The last command that uses the arena, until somebody has waited for it.
        self.last_command: list[cl.Event] = []
        process_guard.watched.add(self)
        weakref.finalize(self, _keep_while_used, self.arena, self.last_command).atexit = False

    def is_running(self) -> bool:
        """Return whether commands have neither ended nor failed."""
        return _is_running(self.last_command)

    def mark(self) -> None:
        """Note that copies from or to the arena were started."""
        self.last_command[:] = [cl.enqueue_marker(self.queue)]

    def wait(self) -> None:
        """Wait for the commands of an inference that ended early, by an error or because it was canceled."""
        if self.last_command:
            with opencl_errors(f"waiting for {self.context.device.full_name}"):
                finish(self.queue)
            self.last_command.clear()


def execution_status(event: cl.Event) -> int:
    """Return the status of a command: negative if it failed or the driver no longer answers."""
    try:
        return event.command_execution_status
    except cl.Error:
        return -1


def _is_running(events: list[cl.Event]) -> bool:
    return any(execution_status(event) > COMPLETE for event in events)


def _keep_while_used(arena: Arena, events: list[cl.Event]) -> None:
    if _is_running(events):
        _abandoned.append(arena)

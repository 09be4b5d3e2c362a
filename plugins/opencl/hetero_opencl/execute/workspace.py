"""Workspace: the queue and the memory of a request."""

from __future__ import annotations

import weakref

import pyopencl as cl

from hetero_opencl.device import exit_guard
from hetero_opencl.device.device import opencl_errors
from hetero_opencl.device.memory import Arena
from hetero_opencl.execute.remote import OpenCLContext

# Statuses below are errors; those above are of commands that have not ended.
COMPLETE = cl.command_execution_status.COMPLETE

# Arenas of requests that were deleted while kernels ran. Shared virtual memory is freed at once, unlike buffers.
_abandoned: list[Arena] = []


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
        exit_guard.watched.add(self)
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
                self.queue.finish()
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

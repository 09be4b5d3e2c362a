"""Detection of forked processes, where OpenCL drivers do not work because their threads are gone."""

from __future__ import annotations

import os

from hetero.system.errors import DeviceError

#: Whether this process was forked after the drivers were loaded.
is_forked = False


def note_drivers() -> None:
    """Let ``check_process`` fail in every process forked from now on. To be called before the drivers are loaded."""
    check_process()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_note_fork)


def check_process() -> None:
    """Raise DeviceError if this process was forked after the drivers were loaded, as OpenCL calls may then hang."""
    if is_forked:
        raise DeviceError(
            "GPU cannot be used in this process, which was forked after the OpenCL drivers were loaded: start "
            'processes by the spawn method, as multiprocessing.get_context("spawn") does'
        )


def _note_fork() -> None:
    global is_forked
    is_forked = True

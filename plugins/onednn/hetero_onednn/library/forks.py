"""Detection of forked processes, in which oneDNN hangs because the threads of OpenMP are gone."""

from __future__ import annotations

import os

from hetero.system.errors import DeviceError

_is_forked = False


def note_library() -> None:
    """Let ``check_process`` fail in every process forked from now on. To be called before the library is loaded."""
    check_process()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_note_fork)


def check_process() -> None:
    """Raise DeviceError if this process was forked after the library was loaded."""
    if _is_forked:
        raise DeviceError(
            "ONEDNN cannot be used in this process, which was forked after the library oneDNN was loaded: start "
            'processes by the spawn method, as multiprocessing.get_context("spawn") does'
        )


def _note_fork() -> None:
    global _is_forked
    _is_forked = True

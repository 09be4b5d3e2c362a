"""Guards of this process: it may not use drivers after a fork, and can end while kernels hang or are built.

Intel's runtime waits for all its queues when the C library unloads it. Python has ended by then, so the process
is ended right before that, with the same exit status; so it is in a forked process, and if another thread builds a
program then, whose compiler would use what is being unloaded.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import sys
import weakref
from collections.abc import Iterator
from typing import Protocol

from hetero.plugin import ForkGuard


class Running(Protocol):
    """A user of kernels that may run when the program ends."""

    def is_running(self) -> bool:
        """Return whether kernels have neither ended nor failed."""


fork_guard = ForkGuard("GPU", "the OpenCL drivers were loaded")
# Kernels of these are not waited for when the program ends.
watched: weakref.WeakSet[Running] = weakref.WeakSet()
# One object for each program that is built in this process now.
_builds: set[object] = set()


@contextlib.contextmanager
def building() -> Iterator[None]:
    """Mark the block as one that builds a program."""
    mark = object()
    _builds.add(mark)
    try:
        yield
    finally:
        _builds.discard(mark)


@atexit.register
def _skip_unloading() -> None:
    is_busy = bool(_builds) or any(user.is_running() for user in list(watched))
    if sys.platform == "linux" and (fork_guard.is_forked or is_busy):
        library = ctypes.CDLL(None)
        # Handlers run in reverse order, so this one runs first, before anything is unloaded. It gets the exit status.
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)

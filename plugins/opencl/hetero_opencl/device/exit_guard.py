"""Exit guard: lets the program end while kernels hang or are built, or in a forked process.

Intel's runtime waits for all its queues when the C library unloads it. Python has ended by then, so the guard ends the
process right before that, with the same exit status. It does so too if another thread builds a program then, whose
compiler would use what is being unloaded.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hetero_opencl.device import forks

if TYPE_CHECKING:
    from hetero_opencl.execute.workspace import Workspace


# Kernels of these are not waited for when the program ends.
watched: weakref.WeakSet[Workspace] = weakref.WeakSet()
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
    is_busy = bool(_builds) or any(workspace.is_running() for workspace in list(watched))
    if sys.platform == "linux" and (forks.is_forked or is_busy):
        library = ctypes.CDLL(None)
        # Handlers run in reverse order, so this one runs first, before anything is unloaded. It gets the exit status.
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)

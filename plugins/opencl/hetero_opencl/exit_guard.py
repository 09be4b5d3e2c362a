"""Exit guard: lets the program end while kernels hang, or in a forked process.

Intel's runtime waits for all its queues when the C library unloads it. Python has ended by then, so the guard ends the
process right before that, with the same exit status.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import weakref
from typing import Protocol

from hetero_opencl import forks


class Work(Protocol):
    def is_running(self) -> bool:
        """Return, without waiting, whether kernels were started and have not ended."""


_watched: weakref.WeakSet[Work] = weakref.WeakSet()


def watch(work: Work) -> None:
    """Do not wait for this work when the program ends."""
    _watched.add(work)


@atexit.register
def _skip_unloading() -> None:
    if sys.platform == "linux" and (forks.is_forked or any(work.is_running() for work in list(_watched))):
        library = ctypes.CDLL(None)
        # Handlers run in reverse order, so this one runs first, before anything is unloaded. It gets the exit status.
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)

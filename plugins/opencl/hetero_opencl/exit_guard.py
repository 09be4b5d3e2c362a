"""The end of the program while kernels run that do not end, or in a forked process: it does not wait for drivers.

Intel's runtime waits for all its queues when the C library unloads it. Python has ended by then, so the process is
ended right before that, with its own exit status.
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
        """Whether kernels were started and have not ended yet; nothing is waited for."""


_watched: weakref.WeakSet[Work] = weakref.WeakSet()


def watch(work: Work) -> None:
    """The program may end while this is running."""
    _watched.add(work)


@atexit.register
def _wait_for_nothing() -> None:
    if sys.platform == "linux" and (forks.is_forked or any(work.is_running() for work in list(_watched))):
        library = ctypes.CDLL(None)
        # What was registered last is called first, with the exit status, before anything is unloaded.
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)

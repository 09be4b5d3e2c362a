"""Exit guard: lets the program end while kernels hang, or in a forked process.

Intel's runtime waits for all its queues when the C library unloads it. Python has ended by then, so the guard ends the
process right before that, with the same exit status.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import weakref
from typing import TYPE_CHECKING

from hetero_opencl import forks

if TYPE_CHECKING:
    from hetero_opencl.workspace import Workspace


# Kernels of these are not waited for when the program ends.
watched: weakref.WeakSet[Workspace] = weakref.WeakSet()


@atexit.register
def _skip_unloading() -> None:
    if sys.platform == "linux" and (forks.is_forked or any(workspace.is_running() for workspace in list(watched))):
        library = ctypes.CDLL(None)
        # Handlers run in reverse order, so this one runs first, before anything is unloaded. It gets the exit status.
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)

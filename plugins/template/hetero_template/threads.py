"""INFERENCE_NUM_THREADS: the number of threads of the linear algebra library that numpy uses."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator

from threadpoolctl import LibController, OpenBLASController, ThreadpoolController

_lock = threading.Lock()
_bounds: list[int] = []
_unbounded: list[int] = []


@contextlib.contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Limit the threads of matrix products inside the ``with`` block.

    The library has one thread pool for the process: if several inferences run, the lowest limit applies to all.
    """
    with _lock:
        if not _bounds:
            _unbounded[:] = [library.num_threads for library in _libraries()]
        _bounds.append(threads)
        _apply()
    try:
        yield
    finally:
        with _lock:
            _bounds.remove(threads)
            _apply()


def _renew() -> None:
    """Forget, in a child process of os.fork(), the inferences that run in the parent."""
    global _lock
    _lock = threading.Lock()
    if _bounds:
        _bounds.clear()
        _apply()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def _apply() -> None:
    # Otherwise only the thread that first set a number could set another.
    OpenBLASController.clear_controlling_thread(force=True)
    for library, unbounded in zip(_libraries(), _unbounded):
        library.set_num_threads(min([unbounded, *_bounds]))
    OpenBLASController.clear_controlling_thread(force=True)


@functools.cache
def _libraries() -> list[LibController]:
    return ThreadpoolController().select(user_api="blas").lib_controllers  # the search takes milliseconds

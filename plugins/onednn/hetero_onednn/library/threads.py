"""Threads of programs: those of short operations run on one thread, as waking others takes longer than it saves."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from hetero.graph import Model
from hetero.ops.work_estimate import work_of
from hetero_onednn.library.library import load_library

# The assumed speed of one thread: arithmetic operations and bytes per second.
_OPERATIONS, _BYTES = 5e10, 2e10
# The average seconds of an operation, weighted by its seconds, from which on more threads make a program faster.
_SHORT = 1e-4


def needs_one_thread(model: Model) -> bool:
    """Return whether a model of static shapes consists of operations that are too short for several threads."""
    seconds = []
    for node in model.get_ordered_ops():
        shapes = {value: tuple(value.shape) for value in (*node.outputs(), *node.input_values())}
        work = work_of(node, shapes)
        seconds.append(work.operations / _OPERATIONS + work.bytes / _BYTES)
    return sum(duration * duration for duration in seconds) < _SHORT * sum(seconds)


class OneThread:
    """Lets the calling thread create and execute primitives inside the ``with`` block without other threads.

    Primitives must be executed with the number of threads that they were created for. Libraries without OpenMP, whose
    threads have other limits, are left as they are. One thread at a time uses an object.
    """

    def __init__(self, applies: bool) -> None:
        self._functions = _openmp() if applies else None
        self._number = 0

    def __enter__(self) -> None:
        if self._functions is not None:
            get_threads, set_threads = self._functions
            self._number = get_threads()
            set_threads(1)

    def __exit__(self, *error: object) -> None:
        if self._functions is not None:
            self._functions[1](self._number)


def openmp_threads() -> int:
    """Return the number of the calling thread's threads, 0 for libraries without OpenMP."""
    functions = _openmp()
    return functions[0]() if functions is not None else 0


@functools.cache
def _openmp() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return the functions of the OpenMP that oneDNN uses to get and set the number of the calling thread's threads."""
    library: ctypes.CDLL = load_library().handle
    try:
        get_threads, set_threads = library["omp_get_max_threads"], library["omp_set_num_threads"]
    except AttributeError:
        return None
    get_threads.argtypes, get_threads.restype = [], ctypes.c_int
    set_threads.argtypes, set_threads.restype = [ctypes.c_int], None
    return get_threads, set_threads

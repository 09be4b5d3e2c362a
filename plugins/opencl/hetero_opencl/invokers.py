"""In-memory replacement for pyopencl's cache of invokers, the Python functions that set kernel arguments.

pyopencl keeps them in an SQLite database in the user's cache folder, and cannot make kernels if that is not writable.
In memory, making a kernel again takes 17 µs instead of 105.
"""

from __future__ import annotations

from typing import Any

import pyopencl as cl


class _InMemory(dict[Any, Any]):
    """The part of pytools' WriteOncePersistentDict that pyopencl uses."""

    store_if_not_present = dict.setdefault


def keep_in_memory() -> None:
    """Replace the database by a dictionary, for all users of pyopencl in this process."""
    disabled = cl._PYOPENCL_NO_CACHE
    cl._PYOPENCL_NO_CACHE = True  # the import opens no database then
    try:
        from pyopencl import invoker
    finally:
        cl._PYOPENCL_NO_CACHE = disabled
    invoker.invoker_cache = _InMemory()

"""Replacements for pyopencl's cache folder, which may not be writable."""

from __future__ import annotations

import warnings
from typing import Any

import pyopencl as cl


class _InMemory(dict[Any, Any]):
    """The part of pytools' WriteOncePersistentDict that pyopencl uses."""

    store_if_not_present = dict.setdefault


def keep_invokers_in_memory() -> None:
    """Keep pyopencl's invokers, the Python functions that set kernel arguments, in memory, for the whole process.

    pyopencl keeps them in an SQLite database and cannot make kernels if that is not writable. In memory, making a
    kernel again takes 17 µs instead of 105.
    """
    disabled = cl._PYOPENCL_NO_CACHE
    cl._PYOPENCL_NO_CACHE = True  # the import opens no database then
    try:
        from pyopencl import invoker
    finally:
        cl._PYOPENCL_NO_CACHE = disabled
    invoker.invoker_cache = _InMemory()  # type: ignore[assignment]  # any mapping with that method works


def make_kernel(program: cl.Program, name: str) -> cl.Kernel:
    """Make a kernel of a built program."""
    # Not from the wrapper around the program, which pyopencl takes 20 µs to look into.
    return cl.Kernel(program._get_prg(), name)


def build_uncached(program: cl.Program) -> cl.Program:
    """Build a program without pyopencl's cache, and without its warning about compiler output."""
    with warnings.catch_warnings(action="ignore", category=cl.CompilerWarning):
        return program.build(cache_dir=False)  # type: ignore[arg-type]  # the stub does not know that False is accepted

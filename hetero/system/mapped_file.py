"""Files mapped into memory for reading, and giving back the memory of the parts that were read."""

from __future__ import annotations

import mmap
import sys
from typing import BinaryIO

import numpy as np
from numpy.lib.array_utils import byte_bounds


class _MappedFile(mmap.mmap):
    """A mapping that only this module makes: shared with the file and never written, so pages can be dropped."""


def map_read_only(file: BinaryIO) -> memoryview:
    """Map a whole file. Raises OSError, and ValueError if it is empty."""
    return memoryview(_MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ))


def release_pages(array: np.ndarray | memoryview | bytes) -> None:
    """Give back the memory of an array that is a view of a mapped file; the next access reads the file again.

    Does nothing for other arrays and bytes, or if the system has no such call.
    """
    owner: object = array
    while isinstance(owner, np.ndarray) or (isinstance(owner, memoryview) and isinstance(owner.obj, np.ndarray)):
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    mapping = owner.obj if isinstance(owner, memoryview) else None
    if sys.platform != "win32" and isinstance(mapping, _MappedFile):
        first = np.frombuffer(mapping, np.uint8).ctypes.data
        begin, end = (address - first for address in byte_bounds(np.asarray(array)))
        begin, end = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
        if begin < end:  # only whole pages, as their neighbors may be in use
            mapping.madvise(mmap.MADV_DONTNEED, begin, end - begin)

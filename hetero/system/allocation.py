"""Checks of the available memory before large arrays are allocated.

Operating systems overcommit memory and kill a process that uses what they promised, so waiting for an allocation to
fail is not enough.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Arrays of fewer bytes are not checked: they are common, and the check takes longer than the allocation.
MIN_CHECKED_BYTES = 1 << 26

# Bytes of the largest string array that may be more than 8 times as large as its strings (at 4 bytes a character).
MAX_STRING_BYTES = 1 << 28

# Files that hold the memory limit of a container: cgroup version 2, then version 1.
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_allocation(byte_size: int, what: str) -> None:
    """Raise MemoryError if fewer than ``byte_size`` bytes are available. ``what`` names the array in the message."""
    if byte_size >= MIN_CHECKED_BYTES and byte_size > (available := available_memory()):
        raise MemoryError(f"{what} takes {byte_size:,} bytes, but only {available:,} are available")


def string_array(texts: Sequence[str]) -> np.ndarray:
    """Return a 1-D array of strings. Raises ValueError if one long string would make it far too large."""
    check_strings(texts)
    return np.array(texts, np.str_)


def as_text(array: np.ndarray) -> np.ndarray:
    """Return an array of UTF-8 (bytes) or of numpy's StringDType as numpy's default type of text; others as they are.

    Raises ValueError if strings are missing, or one long string would make the array far too large.
    """
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "T":  # numpy itself converts these only to text of a given length
        texts = array.reshape(-1).tolist()
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("an array of strings must not have missing values")
        return string_array(texts).reshape(array.shape)
    return array


def check_strings(texts: Sequence[str]) -> None:
    """Raise ValueError if an array of these strings takes far more memory than the strings themselves.

    numpy pads each element to the length of the longest one, at 4 bytes a character.
    """
    longest = max(map(len, texts), default=0)
    byte_size = 4 * longest * len(texts)
    if byte_size > max(MAX_STRING_BYTES, 32 * sum(map(len, texts))):
        raise ValueError(
            f"{len(texts)} strings of up to {longest} characters take {byte_size:,} bytes as an array, "
            f"at most {MAX_STRING_BYTES:,} are accepted"
        )


def available_memory() -> int:
    """Return the number of bytes that this process can still allocate, or ``sys.maxsize`` if it is unknown."""
    limits = [_host_memory()]
    for path in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the file holds "max" if there is no limit
            limits.append(int(Path(path).read_text()))
    return min(limits)


def _host_memory() -> int:
    try:
        free = re.findall(r"^(?:MemAvailable|SwapFree): +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        return 1024 * sum(map(int, free))
    except OSError:  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else sys.maxsize

"""The memory that is available, asked for before large arrays are made.

Operating systems promise more memory than there is and end a process that uses what they promised, so a failed
allocation alone is too late a sign.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Bytes below which nothing is checked: such arrays are common, and the check takes longer than the allocation.
SMALLEST_CHECKED = 1 << 26

# The largest array of strings that may take more than 8 times what its strings take.
MOST_TEXT = 1 << 28

# The limit of a container, by version 2 and version 1 of control groups.
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_allocation(byte_size: int, what: str) -> None:
    """Raise MemoryError, naming ``what`` and its size, if ``byte_size`` bytes are more than what is available."""
    if byte_size >= SMALLEST_CHECKED and byte_size > (available := available_memory()):
        raise MemoryError(f"{what} takes {byte_size:,} bytes, but only {available:,} are available")


def string_array(texts: Sequence[str]) -> np.ndarray:
    """Return a vector of strings. Raises ValueError if one long string among many short ones makes it far too large."""
    check_strings(texts)
    return np.array(texts, np.str_)


def check_strings(texts: Sequence[str]) -> None:
    """Raise ValueError if an array of these strings takes far more memory than they do.

    numpy gives each element the room of the longest one, at 4 bytes a character.
    """
    longest = max(map(len, texts), default=0)
    byte_size = 4 * longest * len(texts)
    if byte_size > max(MOST_TEXT, 32 * sum(map(len, texts))):
        raise ValueError(
            f"{len(texts)} strings of up to {longest} characters take {byte_size:,} bytes as an array, "
            f"at most {MOST_TEXT:,} are accepted"
        )


def available_memory() -> int:
    """Return the bytes that this process can still take; ``sys.maxsize`` if the system does not say."""
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

"""Memory of this process: its peak since a call of ``start``, and that of an array. Linux only, as it reads /proc.

``ru_maxrss`` of getrusage is not suitable, because a child process starts with the value of its parent.
"""

from pathlib import Path

import numpy as np

PROCESS = Path("/proc/self")


def start() -> None:
    """Reset the peak, see proc_pid_clear_refs(5)."""
    (PROCESS / "clear_refs").write_text("5")


def read() -> int:
    """Return the peak in bytes."""
    line = next(line for line in (PROCESS / "status").read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


def resident(array: np.ndarray) -> int:
    """Return how many bytes of the mapping that an array starts in have memory."""
    address, is_inside = array.ctypes.data, False
    for line in (PROCESS / "smaps").read_text().splitlines():
        field, *values = line.split()
        if "-" in field:
            begin, end = (int(text, 16) for text in field.split("-"))
            is_inside = begin <= address < end
        elif is_inside and field == "Rss:":
            return 1024 * int(values[0])
    raise LookupError(address)

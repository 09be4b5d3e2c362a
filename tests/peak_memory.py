"""Peak memory of this process since a call of ``start``. Linux only, as it reads /proc.

``ru_maxrss`` of getrusage is not suitable, because a child process starts with the value of its parent.
"""

from pathlib import Path

PROCESS = Path("/proc/self")


def start() -> None:
    """Reset the peak, see proc_pid_clear_refs(5)."""
    (PROCESS / "clear_refs").write_text("5")


def read() -> int:
    """Return the peak in bytes."""
    line = next(line for line in (PROCESS / "status").read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])

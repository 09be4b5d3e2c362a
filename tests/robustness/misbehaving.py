"""A format for tests of the workers: its only file says how to fail."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hetero.system.errors import DeviceError, HeteroError, device_errors
from tests.robustness.running import TooMuchMemoryError

NAME = "how"
MUTATORS = {}


class TwoLinesError(HeteroError):
    def __str__(self) -> str:
        return "two\nlines"


def run(folder: Path) -> None:
    how = (folder / NAME).read_text()
    if how == "refused":
        raise DeviceError("it cannot be done")
    if how == "crash":
        os.abort()
    if how == "hang":
        time.sleep(600)
    if how == "memory":
        raise TooMuchMemoryError("it used 3 GB")
    if how == "short of memory":
        with device_errors("A failed"):
            bytearray(3 << 30)
    if how == "foreign":
        raise KeyError("x")
    if how == "wrapped":
        with device_errors("A failed"):
            raise KeyError("x")
    if how == "message":
        raise TwoLinesError()

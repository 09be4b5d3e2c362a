"""Names in the device list of a virtual device: ``GPU.0``, with a number ``GPU.0(4)``, or excluded ``-GPU.0``."""

from __future__ import annotations

import re

from hetero.system.errors import DeviceError


def split_number(name: str) -> tuple[str, int | None]:
    """Return the device's name and the number in parentheses after it, None without one.

    Raises DeviceError for parentheses that do not contain a positive integer.
    """
    match = re.fullmatch(r"([^()]*)(?:\((\d+)\))?", name)
    if match is None or (match[2] is not None and int(match[2]) == 0):
        example = f"{name.partition('(')[0]}(4)"
        raise DeviceError(f"'{name}' is not a device with a number: write a positive number as in {example}")
    return match[1], None if match[2] is None else int(match[2])

"""Device strings: ``GPU``, ``GPU.1``, ``HETERO:GPU.1,CPU``; in lists also ``GPU.0(4)``, with a number."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hetero import properties as props
from hetero.plugin.loading.registry import DEVICE_NAME
from hetero.system.errors import ArgumentTypeError, DeviceError


class DeviceName(NamedTuple):
    """A parsed device string: the kind of device, and the properties that the rest of the string implies."""

    kind: str
    options: dict[str, Any]


def parse_device_name(text: str) -> DeviceName:
    """Parse a device string. Raises DeviceError if it is invalid.

    ``KIND.ID`` selects one device of a kind (DEVICE_ID); an id may have dots too. ``KIND:A,B`` lists the devices that a
    virtual device uses, in order (MULTI_DEVICE_PRIORITIES).
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"a device is given by its name, not by {text!r}")
    match = re.fullmatch(rf"(?P<kind>{DEVICE_NAME})(?:\.(?P<id>\w+(?:\.\w+)*))?(?::(?P<rest>.*))?", text.strip())
    parts = [part.strip() for part in (match["rest"] or "").split(",")] if match and match["rest"] is not None else None
    if match is None or (parts is not None and not all(parts)):
        raise DeviceError(f"'{text}' is not a device string: write a name such as CPU, CPU.1 or HETERO:CPU.1,CPU.0")
    options: dict[str, Any] = {}
    if match["id"]:
        options[props.device.id] = match["id"]
    if parts is not None:
        options[props.device.priorities] = tuple(parts)
    return DeviceName(match["kind"], options)


def split_number(name: str) -> tuple[str, int | None]:
    """Return the device's name and the number in parentheses after it, None without one.

    Raises DeviceError for parentheses that do not contain a positive integer.
    """
    match = re.fullmatch(r"([^()]*)(?:\((\d+)\))?", name)
    if match is None or (match[2] is not None and int(match[2]) == 0):
        example = f"{name.partition('(')[0]}(4)"
        raise DeviceError(f"'{name}' is not a device with a number: write a positive number as in {example}")
    return match[1], None if match[2] is None else int(match[2])


def kind_of(name: str) -> str:
    """Return the kind of device of an entry of a list: that of ``GPU.0(4)`` is GPU. The entry may be invalid."""
    return name.partition("(")[0].partition(".")[0]

"""Device strings: ``GPU``, ``GPU.1``, ``HETERO:GPU.1,CPU``; in lists also ``GPU.0(4)``, with a number.

The device name ``CPU`` of programs for OpenVINO is HETERO with the devices that use the processor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from hetero import properties as props
from hetero.plugin import Device, Rank
from hetero.plugin.device import DEVICE_ID
from hetero.plugin.host import Host
from hetero.plugin.loading.registry import DEVICE_NAME
from hetero.system.errors import ArgumentTypeError, DeviceError, PropertyError
from hetero.system.messages import suggest


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
    match = re.fullmatch(rf"(?P<kind>{DEVICE_NAME})(?:\.(?P<id>{DEVICE_ID}))?(?::(?P<rest>.*))?", text.strip())
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


#: The name of the processor in programs for OpenVINO, and that of the device that runs models on all that use it.
CPU, DISPATCHER = "CPU", "HETERO"


def preferred_devices(host: Host, excluded: Collection[str] = ()) -> list[str]:
    """Return the available devices, those of higher rank first, without the excluded ones.

    To exclude a kind excludes all its devices.
    """
    return _by_rank(host, host.available_devices, excluded)


def _by_rank(host: Host, names: Sequence[str], excluded: Collection[str]) -> list[str]:
    used = [name for name in names if not {name, kind_of(name)} & set(excluded)]
    return sorted(used, key=lambda name: _device(host, name).rank, reverse=True)


def with_processors(host: Host, names: Sequence[str], most: int | None = None) -> tuple[str, ...]:
    """Return a list of devices in which those that use the processor take the place of ``CPU``, at most ``most``.

    They are preferred by rank, come without those that generate code, which takes long, and without those that the list
    has besides. If a package has a device CPU, the name means that device.
    """
    if CPU not in map(kind_of, names) or host.has_device(CPU):
        return tuple(names)
    others = {kind_of(name) for name in names}
    fast = _by_rank(host, host.fast_devices, others)
    processors = [name for name in fast if _uses_processor(_device(host, name))][:most]
    expanded: list[str] = []
    for name in names:
        device, bracket, number = name.partition("(")
        expanded += [f"{entry}{bracket}{number}" for entry in (processors if device == CPU else [device])]
    return tuple(expanded)


def means_processors(host: Host, device_name: str) -> bool:
    """Return whether a name means the devices that use the processor, as no package has a device CPU."""
    kind, options = parse_device_name(device_name)
    return kind == CPU and options.get(props.device.id, "0") == "0" and not host.has_device(CPU)


def processor_with(host: Host, key: str) -> str:
    """Return the first of the devices that use the processor that has a property, or HETERO."""
    return next((name for name in with_processors(host, (CPU,)) if key in _keys(host, name)), DISPATCHER)


def processor_keys(host: Host, keys: Iterable[str]) -> dict[str, set[str]]:
    """Return for HETERO, and for each device that uses the processor, which of these properties it has.

    Raises PropertyError for a property that none of them has.
    """
    names = (DISPATCHER, *with_processors(host, (CPU,)))
    keys_of = {name: _keys(host, name) for name in names}
    known = set().union(*keys_of.values())
    for key in keys:
        if key not in known:
            raise PropertyError(f"{CPU} has no property {key}; {suggest(key, sorted(known))}")
    return {name: keys_of[name].intersection(keys) for name in names}


def _uses_processor(device: Device) -> bool:
    return device.rank < Rank.ACCELERATOR and device.compiles_fast


def _device(host: Host, name: str) -> Device:
    plugin, options = host.resolve_device(name)
    return plugin.device(options)


def _keys(host: Host, name: str) -> set[str]:
    return set(host.get_property(name, props.supported_properties))

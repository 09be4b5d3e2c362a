"""The devices that a user names, ``HETERO:GPU.1,GPU.0,CPU``, each with the options that compile for it.

Options for all devices go to those that have them; DEVICE_PROPERTIES has more for one device, ``{"GPU.1": {…}}``, or
for all of a kind, ``{"GPU": {…}}``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.dispatch.affinity import Device
from hetero.dispatch.report import log
from hetero.errors import DeviceError, PropertyError
from hetero.plugin import Plugin, full_name

if TYPE_CHECKING:
    from hetero.plugin.host import Host


def find_devices(host: Host, user: str, names: Sequence[str]) -> dict[str, tuple[Plugin, dict[str, Any]]]:
    """The plugins behind these names, and the options that the names mean, for the device ``user``.

    A device whose plugin is installed but cannot be used here, without a driver for example, is left out and told in
    the log, as long as another one is left. Raises DeviceError when none is, and for a name that means none or is given
    twice, where ``GPU`` is the first of its kind.
    """
    if not names:
        example = f"{user}:{','.join(host.available_devices)}"
        raise DeviceError(f"{user} is given no devices: name them in order of priority, as in {example}")
    found: dict[str, tuple[Plugin, dict[str, Any]]] = {}
    missing: dict[str, DeviceError] = {}
    taken: dict[str, str] = {}
    for name in names:
        try:
            plugin, options = host.resolve_device(name)
        except DeviceError as error:
            if _kind_of(name) not in host.unavailable_devices:
                raise
            missing[name] = error
            continue
        device = full_name(plugin.name, plugin.device(options).id)
        if plugin.name == user:
            raise DeviceError(f"{user}:{','.join(names)} cannot use itself: name other devices")
        if device in taken:
            twice = f"{name} twice" if taken[device] == name else f"{taken[device]} and {name}, which are one device"
            raise DeviceError(f"{user}:{','.join(names)} cannot use {twice}: name each device once")
        taken[device] = name
        found[name] = plugin, options
    if not found:
        raise next(iter(missing.values()))
    for error in missing.values():
        _tell_left_out(user, str(error))
    return found


def why_left_out(host: Host, names: Sequence[str]) -> list[str]:
    """Of these devices, those that cannot be used here, with the reasons."""
    unavailable = host.unavailable_devices
    kinds = [kind for kind in map(_kind_of, names) if kind in unavailable]
    return [f"device {kind} is not available: {unavailable[kind]}" for kind in kinds]


def _kind_of(name: str) -> str:
    return name.partition(".")[0]


@functools.cache
def _tell_left_out(user: str, reason: str) -> None:
    """Once: devices are looked up more than once for each model."""
    log.warning("%s goes on without a device: %s", user, reason)


def make_devices(
    host: Host,
    names: Sequence[str],
    found: Mapping[str, tuple[Plugin, dict[str, Any]]],
    shared: Mapping[str, Any],
    per_device: Mapping[str, Mapping[str, Any]],
) -> list[Device]:
    """The devices with their options: ``shared`` where they have them, and what DEVICE_PROPERTIES says of each.

    ``names`` are those of ``found`` and of the devices that were left out. Raises DeviceError for a device in
    DEVICE_PROPERTIES that is not among them, PropertyError for what a device does not take.
    """
    for name in per_device:
        if not any(name in (device, _kind_of(device)) for device in names):
            raise DeviceError(f"DEVICE_PROPERTIES names {name}, which is not among the devices {', '.join(names)}")
    devices = []
    for name, (plugin, options) in found.items():
        supported = host.get_property(name, props.supported_properties)
        known = {key: value for key, value in shared.items() if key in supported}
        own = {**per_device.get(plugin.name, {}), **per_device.get(name, {})}
        if props.device.id in own:
            raise PropertyError(f"DEVICE_PROPERTIES of {name} cannot choose a {props.device.id}: name the other device")
        try:
            plugin.property_table({**options, **own})
        except PropertyError as error:
            raise PropertyError(f"DEVICE_PROPERTIES: {error}") from error
        devices.append(Device(name, plugin, {**options, **known, **own}))
    return devices

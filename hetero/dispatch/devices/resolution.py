"""The devices that a user names, as in ``HETERO:GPU.1,GPU.0,CPU``, each with the options to compile with.

``user`` is the plugin of the virtual device that they are named for.

Options without a device go to every device that has them. DEVICE_PROPERTIES has options for one device,
``{"GPU.1": {…}}``, or for all devices of a plugin, ``{"GPU": {…}}``.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.dispatch.devices.listed_device import ListedDevice
from hetero.dispatch.devices.names import CPU, kind_of, with_processors
from hetero.plugin import Plugin, full_name
from hetero.properties import Property, PropertyTable
from hetero.system.errors import DeviceError, PropertyError, device_errors
from hetero.system.messages import get_logger


def own_options(user: Plugin, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the virtual device has itself. The others are for the devices that it uses."""
    return {key: value for key, value in options.items() if key in user.supported_properties}


def named_devices(
    user: Plugin,
    table: PropertyTable,
    options: Mapping[str, Any],
    names: Sequence[str],
    passed_on: Collection[Property],
) -> list[ListedDevice]:
    """Return the devices of these names in order, each with the options that it has and those of DEVICE_PROPERTIES.

    ``table`` has the virtual device's own properties. Those in ``passed_on`` go to its devices too, if the user set
    them. Raises PropertyError for an option that no device has, and the errors of ``find_devices``.
    """
    shared = {key: value for key, value in options.items() if key not in user.supported_properties}
    resolved = find_devices(user, names)
    supported = {name: user.host.get_property(name, props.supported_properties) for name in resolved}
    if unknown := {key: value for key, value in shared.items() if not any(key in keys for keys in supported.values())}:
        user.property_table(unknown)  # raises PropertyError for a key that no device has
    shared.update({key: value for key, value in table.explicit().items() if key in passed_on})
    return _make_devices(user, names, resolved, supported, shared, table.get(props.device.properties))


def find_devices(user: Plugin, names: Sequence[str]) -> dict[str, tuple[Plugin, dict[str, Any]]]:
    """Return the plugin and the options (such as DEVICE_ID) of each device name.

    A device that is installed but unavailable, such as one without a driver, or that fails, is left out with a warning.
    Raises DeviceError if no device remains, for an unknown name, for a device named twice (``GPU`` is ``GPU.0``), and
    for a virtual device, which has no devices of its own.
    """
    host = user.host
    if not names:
        example = f"{user.name}:{','.join(host.available_devices)}"
        raise DeviceError(f"{user.name} is given no devices: name them in order of priority, as in {example}")
    resolved: dict[str, tuple[Plugin, dict[str, Any]]] = {}
    unavailable: dict[str, DeviceError] = {}
    name_of: dict[str, str] = {}
    for name in names:
        try:
            plugin, options = host.resolve_device(name)
            with device_errors(f"{name} failed to list its devices"):
                device = full_name(plugin.name, plugin.device(options).id)
        except DeviceError as error:
            if not (error.is_of_device or {name, kind_of(name)} & host.unavailable_devices.keys()):
                raise
            unavailable[name] = error
            continue
        if plugin.is_virtual:
            which = "itself" if plugin.name == user.name else f"{plugin.name}, which is a virtual device too"
            raise DeviceError(f"{user.name}:{','.join(names)} cannot use {which}: name other devices")
        if device in name_of:
            earlier = name_of[device]
            twice = f"{name} twice" if earlier == name else f"{earlier} and {name}, which are one device"
            raise DeviceError(f"{user.name}:{','.join(names)} cannot use {twice}: name each device once")
        name_of[device] = name
        resolved[name] = plugin, options
    if not resolved:
        raise next(iter(unavailable.values()))
    for reason in unavailable.values():
        _warn_once(user.name, str(reason))
    return resolved


def unavailable_reasons(user: Plugin, names: Sequence[str]) -> list[str]:
    """Return a message for each of these devices that is unavailable."""
    unavailable = user.host.unavailable_devices
    found = dict.fromkeys(each for name in names for each in (kind_of(name), name) if each in unavailable)
    return [f"device {name} is not available: {unavailable[name]}" for name in found]


@functools.cache
def _warn_once(user: str, reason: str) -> None:
    """Log once that a device is left out: devices are resolved several times for each model."""
    get_logger(f"hetero.{user}").warning("%s goes on without a device: %s", user, reason)


def _make_devices(
    user: Plugin,
    names: Sequence[str],
    resolved: Mapping[str, tuple[Plugin, dict[str, Any]]],
    supported: Mapping[str, Collection[str]],
    shared: Mapping[str, Any],
    per_device: Mapping[str, Mapping[str, Any]],
) -> list[ListedDevice]:
    """Return the resolved devices with their options: those of ``shared`` that they have, and their own.

    ``supported`` are the keys of each device, ``per_device`` is DEVICE_PROPERTIES. ``names`` are all devices of the
    user, with those that are unavailable. Raises DeviceError for a device in DEVICE_PROPERTIES that is not among them,
    PropertyError for an option that a device does not accept.
    """
    per_device = _with_processors(user, resolved, per_device)
    for name in per_device:
        if not any(name in (device, kind_of(device)) for device in names):
            raise DeviceError(f"DEVICE_PROPERTIES names {name}, which is not among the devices {', '.join(names)}")
    devices = []
    for name, (plugin, options) in resolved.items():
        known = {key: value for key, value in shared.items() if key in supported[name]}
        own = {**per_device.get(plugin.name, {}), **per_device.get(name, {})}
        if props.device.id in own:
            raise PropertyError(f"DEVICE_PROPERTIES of {name} cannot choose a {props.device.id}: name the other device")
        values = {**options, **known, **own}
        with device_errors(f"{name} failed to check its properties"):
            try:
                if own:
                    plugin.property_table({**options, **own})
            except PropertyError as error:
                raise PropertyError(f"DEVICE_PROPERTIES: {error}") from error
            plugin.property_table(values)  # a PropertyError after this one is the mistake of the device
        devices.append(ListedDevice(name, plugin, values))
    return devices


def _with_processors(
    user: Plugin, resolved: Mapping[str, Any], per_device: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Mapping[str, Any]]:
    """Give the options for ``CPU`` to the devices that use the processor, to each those that it has."""
    processors = [name for name in resolved if name in with_processors(user.host, (CPU,))] if CPU in per_device else []
    if not processors:
        return per_device
    options, others = per_device[CPU], {name: own for name, own in per_device.items() if name != CPU}
    keys = {name: set(user.host.get_property(name, props.supported_properties)) for name in processors}
    if unknown := set(options) - set().union(*keys.values()):
        raise PropertyError(f"DEVICE_PROPERTIES: {CPU} has no property {', '.join(sorted(map(str, unknown)))}")
    shared = {name: {key: options[key] for key in options if key in keys[name]} for name in processors}
    return {
        **others,
        **{name: {**own, **others.get(kind_of(name), {}), **others.get(name, {})} for name, own in shared.items()},
    }

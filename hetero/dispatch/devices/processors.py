"""The device name ``CPU`` of programs for OpenVINO: HETERO with the devices that use the processor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from hetero import properties as props
from hetero.dispatch.devices.names import kind_of, parse_device_name
from hetero.plugin import Device, Rank
from hetero.plugin.host import Host
from hetero.system.errors import PropertyError
from hetero.system.messages import suggest

#: The name of the processor in programs for OpenVINO, and that of the device that runs models on all that use it.
CPU, DISPATCHER = "CPU", "HETERO"


def preferred_devices(host: Host, excluded: Collection[str] = ()) -> list[str]:
    """Return the available devices, those of higher rank first, without the excluded ones.

    To exclude a kind excludes all its devices.
    """
    names = [name for name in host.available_devices if not {name, kind_of(name)} & set(excluded)]
    return sorted(names, key=lambda name: _device(host, name).rank, reverse=True)


def with_processors(host: Host, names: Sequence[str], most: int | None = None) -> tuple[str, ...]:
    """Return a list of devices in which those that use the processor take the place of ``CPU``, at most ``most``.

    They are preferred by rank, come without those that generate code, which takes long, and without those that the list
    has besides. If a package has a device CPU, the name means that device.
    """
    if CPU not in map(kind_of, names) or _has_cpu_device(host):
        return tuple(names)
    others = {kind_of(name) for name in names}
    processors = [name for name in preferred_devices(host, others) if _uses_processor(_device(host, name))][:most]
    expanded: list[str] = []
    for name in names:
        device, bracket, number = name.partition("(")
        expanded += [f"{entry}{bracket}{number}" for entry in (processors if device == CPU else [device])]
    return tuple(expanded)


def means_processors(host: Host, device_name: str) -> bool:
    """Return whether a name means the devices that use the processor, as no package has a device CPU."""
    kind, options = parse_device_name(device_name)
    return kind == CPU and options.get(props.device.id, "0") == "0" and not _has_cpu_device(host)


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


def _has_cpu_device(host: Host) -> bool:
    """Return whether a package has a device CPU, available or not."""
    return CPU in map(kind_of, (*host.available_devices, *host.unavailable_devices))


def _uses_processor(device: Device) -> bool:
    return device.rank < Rank.ACCELERATOR and device.compiles_fast


def _device(host: Host, name: str) -> Device:
    plugin, options = host.resolve_device(name)
    return plugin.device(options)


def _keys(host: Host, name: str) -> set[str]:
    return set(host.get_property(name, props.supported_properties))

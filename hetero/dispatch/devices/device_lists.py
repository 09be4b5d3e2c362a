"""The devices that a list leaves to the dispatcher: all available ones, or those that use the processor."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hetero.plugin import Rank
from hetero.plugin.device import Device
from hetero.plugin.host import Host

#: The name of the processor in programs for OpenVINO.
CPU = "CPU"


def preferred_devices(host: Host, excluded: Collection[str] = ()) -> list[str]:
    """Return the available devices, those of higher rank first, without the excluded ones.

    To exclude a kind excludes all its devices.
    """
    names = [name for name in host.available_devices if not {name, _kind(name)} & set(excluded)]
    return sorted(names, key=lambda name: _device(host, name).rank, reverse=True)


def with_processors(host: Host, names: Sequence[str], most: int | None = None) -> tuple[str, ...]:
    """Return a list of devices in which those that use the processor take the place of ``CPU``, at most ``most``.

    They are preferred by rank, come without those that generate code, which takes long, and without those that the list
    has besides. If a package has a device CPU, the name means that device.
    """
    if CPU not in map(_kind, names) or has_cpu_device(host):
        return tuple(names)
    others = {_kind(name) for name in names}
    processors = [name for name in preferred_devices(host, others) if _uses_processor(_device(host, name))][:most]
    expanded: list[str] = []
    for name in names:
        device, bracket, number = name.partition("(")
        expanded += [f"{one}{bracket}{number}" for one in (processors if device == CPU else [device])]
    return tuple(expanded)


def has_cpu_device(host: Host) -> bool:
    """Return whether a package has a device CPU, available or not."""
    return CPU in map(_kind, (*host.available_devices, *host.unavailable_devices))


def _uses_processor(device: Device) -> bool:
    return device.rank < Rank.ACCELERATOR and device.compiles_fast


def _device(host: Host, name: str) -> Device:
    plugin, options = host.resolve_device(name)
    return plugin.device(options)


def _kind(name: str) -> str:
    return name.partition("(")[0].partition(".")[0]

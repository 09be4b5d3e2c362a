"""CoreHost: the side of Core that plugins see. It knows devices by their own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero import plugin as plugin_api
from hetero.graph import Model
from hetero.plugin import Plugin

if TYPE_CHECKING:
    from hetero.runtime.core_devices import CoreDevices

# The device that Core uses for each name that a program gives it; the key "" is for all other names.
device_map: dict[str, str] = {}


def mapped_device(device_name: str) -> str:
    """Return the device to use for the name that a program gives."""
    return device_map.get(device_name, device_map.get("", device_name)) if device_name else device_name


class CoreHost:
    """A Core as the ``hetero.plugin.host.Host`` of its plugins: without the device map, and without device CPU."""

    def __init__(self, core: CoreDevices) -> None:
        self._core = core

    @property
    def available_devices(self) -> list[str]:
        return self._core.devices_of_plugins()

    @property
    def fast_devices(self) -> list[str]:
        return self._core.fast_devices

    def has_device(self, kind: str) -> bool:
        return self._core.has_device(kind)

    @property
    def unavailable_devices(self) -> dict[str, str]:
        return self._core.unavailable_devices

    def resolve_device(self, device_name: str) -> tuple[Plugin, dict[str, Any]]:
        return self._core.resolve_device(device_name)

    def compile_on(self, device_name: str, model: Model, options: Mapping[str, Any]) -> plugin_api.CompiledModel:
        return self._core.compile_on(device_name, model, options)

    def get_property(self, device_name: str, property: str) -> Any:
        return self._core.get_device_property(device_name, property, {})

    def get_versions(self, device_name: str) -> Mapping[str, Any]:
        return self._core.get_device_versions(device_name)

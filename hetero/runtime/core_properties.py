"""Properties that are set on Core without a device name: its own, and those for all devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hetero import properties as props
from hetero.plugin import Plugin, hint_properties
from hetero.properties import PropertyTable
from hetero.system.errors import PropertyError
from hetero.system.messages import get_logger

log = get_logger("hetero.runtime")
Properties = Mapping[str, Any] | tuple[str, Any]


class CoreProperties:
    """Core's own properties, and values that each device with the property gets when it is created."""

    def __init__(self) -> None:
        self._own = PropertyTable([props.cache_dir, *hint_properties], "Core")
        self._for_devices: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        """Return a property of Core, or a value that was set for all devices. Raises PropertyError."""
        return self._for_devices[str(key)] if key in self._for_devices else self._own.get(key)

    def set(self, values: Mapping[str, Any], devices: Callable[[], Iterable[Plugin]]) -> None:
        """Set properties, all or none. ``devices()`` returns the available plugins; it is called only if needed.

        Raises PropertyError for a key that neither Core nor any device has, and for a value that one of them rejects.
        """
        own = {key: value for key, value in values.items() if key in self._own}
        others = {str(key): value for key, value in values.items() if key not in self._own}
        plugins = list(devices()) if others else []
        for key in others:
            if not any(key in plugin.supported_properties for plugin in plugins):
                raise PropertyError(f"neither Core nor any device has a property {key}; Core has {props.cache_dir}")
        for plugin in plugins:
            # On a temporary table: raises before any property is set.
            PropertyTable(plugin.supported_properties, plugin.name).set(_supported(plugin, others))
        self._own.set(own)
        self._for_devices |= others
        for plugin in plugins:
            self._apply(plugin, others)

    def apply_to(self, plugin: Plugin) -> None:
        """Set the properties for all devices on a new device. A value that it rejects is logged."""
        for key, value in self._for_devices.items():
            self._apply(plugin, {key: value})

    def _apply(self, plugin: Plugin, values: Mapping[str, Any]) -> None:
        try:
            if supported := _supported(plugin, values):
                plugin.set_property(supported, {})
        except Exception as error:  # the other devices must still get theirs
            log.warning("%s rejected %s: %s", plugin.name, ", ".join(supported), error)


def _supported(plugin: Plugin, values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key in plugin.supported_properties}


def with_lists(value: Any) -> Any:
    """Return the value of a property, names as a list: OpenVINO's tuples are ranges of numbers."""
    is_names = isinstance(value, tuple) and all(isinstance(name, str) for name in value)
    return list(value) if is_names else value


def as_mapping(properties: Properties | None) -> Mapping[str, Any]:
    """Return properties given as a mapping or as a pair of key and value. Raises PropertyError for None."""
    if properties is None:
        raise PropertyError("there are no properties to set: give a mapping, or a pair of key and value")
    return properties if isinstance(properties, Mapping) else dict([properties])

"""Properties that are set on Core without a device name, and the devices that a program registers by an XML file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from hetero import properties as props
from hetero.frontend.extension_loader import load_module
from hetero.plugin import Plugin, common_properties, hint_properties
from hetero.properties import PropertyTable
from hetero.system.errors import ConfigError, DeviceError, PropertyError
from hetero.system.messages import get_logger

log = get_logger("hetero.runtime")
Properties = Mapping[str, Any] | tuple[str, Any]
# Values that each new Core sets on all devices that have the property.
initial_properties: dict[str, Any] = {}


class CoreProperties:
    """Core's own properties, and values that each device with the property gets when it is created."""

    def __init__(self) -> None:
        self._own = PropertyTable([props.cache_dir, *hint_properties], "Core")
        # Checks values of properties that are known without a device, so that none is created for them.
        self._common = PropertyTable([*common_properties, props.hint.inference_precision], "every device")
        self._for_devices: dict[str, Any] = {str(key): value for key, value in initial_properties.items()}

    def get(self, key: str) -> Any:
        """Return a property of Core, or a value that was set for all devices. Raises PropertyError."""
        is_own = key in self._own or key not in self._for_devices
        return self._own.get(key) if is_own else self._for_devices[str(key)]

    def set(self, values: Mapping[str, Any], loaded: Iterable[Plugin], devices: Callable[[], Iterable[Plugin]]) -> None:
        """Set properties, all or none. ``loaded`` are the plugins in use; ``devices()`` creates all available ones.

        Raises PropertyError for a key that neither Core nor any device has, and for a value that one of them rejects.
        """
        own = {key: value for key, value in values.items() if key in self._own}
        others = {str(key): value for key, value in values.items() if key != props.cache_dir}
        common = {key: value for key, value in others.items() if key in self._common and key not in own}
        unknown = others.keys() - own.keys() - common.keys()
        self._common.set(common)
        plugins = list(devices() if unknown else loaded)
        for key in unknown:
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


class PluginEntry(NamedTuple):
    """An entry of the list: the name of the device, its module or Python file, and the properties that it gets."""

    name: str
    location: str
    properties: dict[str, str]


def read_plugin_list(path: str | os.PathLike[str]) -> Iterator[PluginEntry]:
    """Yield the entries ``<plugin name= location=>`` of an XML file in OpenVINO's format.

    A location that is a path is relative to the file. Raises ConfigError for a file that is missing or damaged.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(Path(path).read_bytes(), forbid_dtd=True)
    except (OSError, ParseError, DefusedXmlException, ValueError) as error:
        raise ConfigError(f"the list of plugins {path} cannot be read: {error}") from error
    for plugin in root.iterfind("plugins/plugin"):
        name, location = plugin.get("name"), plugin.get("location")
        if not name or not location:
            raise ConfigError(f"the list of plugins {path} has a plugin without a name or a location")
        beside = Path(path).parent / location
        properties = {entry.get("key", ""): entry.get("value", "") for entry in plugin.iterfind("properties/property")}
        yield PluginEntry(name, str(beside) if beside.exists() else location, properties)


def plugin_of_module(location: str | os.PathLike[str]) -> Plugin:
    """Return a new Plugin of the only class of a Python file, or of a module by its dotted name.

    Raises DeviceError if the module defines no such class or several, FrontendError if it cannot be loaded.
    """
    module = load_module(location, "a device")
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Plugin) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise DeviceError(f"{os.fspath(location)} defines {len(classes)} classes of Plugin: it takes one")
    return classes[0]()

"""Devices that a program registers by a file: an XML list of plugins, and the modules that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from hetero.frontend.extension_loader import load_module
from hetero.plugin import Plugin
from hetero.system.errors import ConfigError, DeviceError


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

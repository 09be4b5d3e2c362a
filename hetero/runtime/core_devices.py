"""The devices of a Core: plugins are registered, created on first use, listed, and get their properties."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.dispatch.devices import (
    CPU,
    DISPATCHER,
    kind_of,
    means_processors,
    parse_device_name,
    processor_keys,
    processor_with,
    split_number,
    with_processors,
)
from hetero.plugin import Device, Plugin, full_name, installed_plugins
from hetero.plugin.device import devices_of
from hetero.plugin.host import Host
from hetero.plugin.loading.package_code import package_code
from hetero.plugin.loading.registry import Registry, check_device_name
from hetero.runtime.core_properties import (
    CoreProperties,
    Properties,
    as_mapping,
    plugin_of_module,
    read_plugin_list,
    with_lists,
)
from hetero.runtime.host import CoreHost, mapped_device
from hetero.runtime.version import Version
from hetero.system.errors import DeviceError, PropertyError, device_errors, reason_of
from hetero.system.fork import renew_after_fork
from hetero.system.messages import get_logger, nearest

log = get_logger("hetero.core")


class CoreDevices(Host):
    """The devices of a Core, which compiles for them."""

    def __init__(self, xml_config_file: str | os.PathLike[str] = "") -> None:
        """Find the installed devices, and add those of an XML file as ``register_plugins`` does."""
        self._registry: Registry = installed_plugins()
        self._factories: dict[str, Callable[[], Plugin]] = dict(self._registry.devices)
        self._plugins: dict[str, Plugin] = {}
        self._unavailable: dict[str, str] = {}
        self._properties = CoreProperties()
        # CACHE_DIR of devices that do not have this property themselves.
        self._cache_dirs: dict[str, str] = {}
        # In a forked process, the plugins of the parent. get_plugin() checks whether they still work.
        self._inherited: dict[str, Plugin] = {}
        self._lock = threading.RLock()
        self.host = CoreHost(self)
        renew_after_fork(self, CoreDevices._renew)
        if os.fspath(xml_config_file):
            self.register_plugins(xml_config_file)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._inherited |= self._plugins
        self._plugins = {}

    def __repr__(self) -> str:
        return f"<Core: available plugins[{', '.join(self._factories)}]>"

    @property
    def available_devices(self) -> list[str]:
        """The usable devices: ``["GPU.0", "GPU.1"]``, or ``["GPU"]`` for the only one, unless its id is not 0.

        ``CPU`` is among them if there are devices that use the processor.
        """
        names = self.devices_of_plugins()
        return names if CPU in map(kind_of, names) or not with_processors(self.host, (CPU,), most=1) else [*names, CPU]

    def devices_of_plugins(self) -> list[str]:
        """Return the usable devices of plugins: without ``CPU``, which is another name of theirs."""
        return self._devices_of_kinds(list(self._factories))

    @property
    def fast_devices(self) -> list[str]:
        """Those of ``devices_of_plugins`` whose kind was not registered as slow to compile."""
        return self._devices_of_kinds([kind for kind in self._factories if kind not in self._registry.slow_to_compile])

    def _devices_of_kinds(self, kinds: Sequence[str]) -> list[str]:
        names = []
        for kind in kinds:
            try:
                ids = [device.id for device in self._devices_of(self.get_plugin(kind))]
            except DeviceError:
                continue
            names += [kind] if ids in ([""], ["0"]) else [full_name(kind, device_id) for device_id in ids]
        return names

    def has_device(self, kind: str) -> bool:
        """Return whether a package has devices of a kind, available or not."""
        return kind in self._factories

    def get_available_devices(self) -> list[str]:
        return self.available_devices

    @property
    def unavailable_devices(self) -> dict[str, str]:
        """The installed devices and plugin packages that cannot be used: reason by name."""
        reasons: dict[str, str] = {}
        for plugin in self._available_plugins():
            try:
                unavailable = self._unavailable_of(plugin).items()
                own = f"{plugin.name}."
                reasons |= {name if name.startswith(own) else f"{own[:-1]}: {name}": why for name, why in unavailable}
            except DeviceError as error:
                reasons[plugin.name] = str(error)
        return {**self._registry.failures, **self._unavailable, **reasons}

    def get_property(
        self,
        device_name: str = "",
        property: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
    ) -> Any:
        """Return a property of a device: ``get_property("GPU", key)``; or of Core: ``get_property(key)``.

        ``arguments`` are properties with which the device is asked, such as DEVICE_ID; ``name`` is another name of
        ``property``, as in OpenVINO. Core returns its own properties and those that were set for all devices. If models
        for the device run on another one, which lacks the property, the device itself answers.
        Raises PropertyError for an unknown key, DeviceError for an unknown device.
        """
        property = name if property is None else property
        if property is None or not device_name:
            return self._properties.get(device_name or property or "")
        device = mapped_device(device_name)
        try:
            return self.get_device_property(device, property, arguments or {})
        except PropertyError:
            if device == device_name:
                raise
        # A property of one piece of hardware, such as its architecture, that several devices as one do not have.
        return self.get_device_property(device_name, property, arguments or {})

    def get_device_property(self, device_name: str, property: str, arguments: Mapping[str, Any]) -> Any:
        """Return a property of a device by its own name, see ``get_property``."""
        if means_processors(self.host, device_name):
            device_name = processor_with(self.host, property)
        plugin, options = self.resolve_device(device_name)
        options.update(arguments)
        if property == props.cache_dir and property not in plugin.supported_properties:
            return self._cache_dirs.get(plugin.name, self._properties.get(property))
        with device_errors(f"{device_name} failed to get property {property}"):
            return with_lists(plugin.get_property(property, options))

    def set_property(
        self,
        device_name: str | Properties | None = None,
        properties: Properties | None = None,
        *,
        property: tuple[str, Any] | None = None,
    ) -> None:
        """Set properties of a device, ``set_property("GPU", {…})``, or of Core and all devices, ``set_property({…})``.

        They apply to later compilations. ``properties`` is a mapping, or a pair such as
        ``hetero.properties.enable_profiling(True)``. Core itself has CACHE_DIR, the folder of the model cache for all
        devices that can export models. Other keys are set on every device that has them.

        Raises PropertyError for an unknown or read-only key or a bad value; no property is set then.
        """
        properties = property if properties is None else properties
        if not isinstance(device_name, str):
            values = as_mapping(properties if device_name is None else device_name)
            with self._lock:  # a device that is created meanwhile gets the properties too
                return self._properties.set(values, [*self._plugins.values()], self._available_plugins)
        device_name, values = mapped_device(device_name), as_mapping(properties)
        if not means_processors(self.host, device_name):
            return self._set_device_property(device_name, values)
        for name, keys in processor_keys(self.host, values).items():
            self._set_device_property(name, {key: values[key] for key in values if key in keys})

    def _set_device_property(self, device_name: str, properties: Mapping[str, Any]) -> None:
        plugin, options = self.resolve_device(device_name)
        values, cache_dir = dict(properties), None
        if props.cache_dir in values and props.cache_dir not in plugin.supported_properties:
            cache_dir = props.cache_dir.checked(values.pop(props.cache_dir), plugin.name)
        with device_errors(f"{device_name} failed to set properties"):
            plugin.set_property(values, options)
        if cache_dir is not None:
            self._cache_dirs[plugin.name] = cache_dir

    def get_versions(self, device_name: str) -> dict[str, Version]:
        """Return the package version of a device, and of the devices after its colon, by device name.

        Raises DeviceError for an unknown device.
        """
        return self.get_device_versions(mapped_device(device_name))

    def get_device_versions(self, device_name: str) -> dict[str, Version]:
        """Return the versions of a device by its own name, see ``get_versions``."""
        kind, options = parse_device_name(device_name)
        versions = {}
        listed = [name for name in options.get(props.device.priorities, ()) if not name.startswith("-")]
        for name in (kind, *(split_number(name)[0] for name in listed)):
            plugin, _ = self.resolve_device(name)
            versions[name] = Version.parse(plugin.package or type(plugin).__module__)
        return versions

    def unload_plugin(self, device_name: str) -> None:
        """Drop the plugin of a device and the properties set on it. The next use of the device creates a new plugin.

        Existing compiled models keep working. Raises DeviceError if the plugin is not loaded.
        """
        with self._lock:
            kind = parse_device_name(device_name).kind
            plugin = self._plugins.pop(kind, None) or self._inherited.pop(kind, None)
            if plugin is None:
                raise DeviceError(f"device {kind} is not loaded; loaded devices: {', '.join(self._plugins) or 'none'}")
            self._cache_dirs.pop(kind, None)
            with device_errors(f"{kind} failed to close"):
                plugin.close()

    def register_plugin(
        self,
        plugin: Callable[[], Plugin] | str | os.PathLike[str],
        device_name: str,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a device to this Core. ``plugin()`` is called on first use and returns the Plugin.

        ``plugin`` may also be a Python file or the dotted name of a module that defines one class of Plugin. ``config``
        are properties that the new device gets. Raises DeviceError if the name is taken or invalid, such as "NPU.1".
        """
        check_device_name(device_name)
        factory = plugin if callable(plugin) else functools.partial(plugin_of_module, plugin)
        configured = functools.partial(_configured, factory, config)
        # One step, so that of several threads with one name only the first succeeds.
        if self._factories.setdefault(device_name, configured) is not configured:
            raise DeviceError(f"device {device_name} is registered already")

    def register_plugins(self, xml_config_file: str | os.PathLike[str]) -> None:
        """Add the devices of an XML file in OpenVINO's format, whose locations are as in ``register_plugin``.

        Raises ConfigError for a file that is missing or of another format, DeviceError as ``register_plugin``.
        """
        for entry in read_plugin_list(xml_config_file):
            self.register_plugin(entry.location, entry.name, entry.properties)

    def get_plugin(self, kind: str) -> Plugin:
        """Return the plugin of a kind of device, created on first use. Raises DeviceError if it is unavailable."""
        with self._lock:
            if kind in self._plugins:
                return self._plugins[kind]
            factory = self._factories.get(kind)
            if factory is None:
                failed = [f"{name} ({reason})" for name, reason in list(self._registry.failures.items())]
                hint = f"; these plugin packages cannot be used: {'; '.join(failed)}" if failed else ""
                if near := nearest(kind.upper(), list(self._factories)):
                    hint = f"; {near}{hint}"
                raise DeviceError(f"there is no device {kind}; there are {', '.join(self._factories)}{hint}")
            if kind not in self._unavailable:
                inherited = self._inherited.pop(kind, None)
                try:
                    with package_code(f"creating device {kind}"):
                        plugin = inherited or factory()
                        if not isinstance(plugin, Plugin):
                            raise DeviceError(f"its factory returned {plugin!r}, not a hetero.plugin.Plugin")
                        plugin.attach(kind, self.host)
                        if not (devices_of(plugin) or plugin.is_virtual):  # devices() may raise too
                            details = [f"{name}: {reason}" for name, reason in plugin.unavailable_devices().items()]
                            raise DeviceError("; ".join(["no device found", *details]))
                except Exception as error:
                    self._unavailable[kind] = reason_of(error)
                    log.debug("the error of device %s", kind, exc_info=error)
                else:
                    if inherited is None:
                        self._properties.apply_to(plugin)
                    self._plugins[kind] = plugin
                    return plugin
            raise DeviceError(f"device {kind} is not available: {self._unavailable[kind]}")

    def resolve_device(self, device_name: str) -> tuple[Plugin, dict[str, Any]]:
        """Return the plugin of a device string, and the options that the string implies. Raises DeviceError.

        ``CPU`` is HETERO with the devices that use the processor, unless a package has a device CPU.
        """
        kind, options = parse_device_name(device_name)
        if means_processors(self.host, device_name):
            kind, options = DISPATCHER, {props.device.priorities: (CPU,)}
        plugin = self.get_plugin(kind)
        requested = options.get(props.device.id)
        if requested is not None:
            devices = self._devices_of(plugin)
            if not any(device.is_named(requested) for device in devices):
                name = full_name(kind, requested)
                if reason := self._unavailable_of(plugin).get(name):
                    raise DeviceError(f"device {name} is not available: {reason}")
                known = ", ".join(full_name(kind, device.id) for device in devices)
                raise DeviceError(f"there is no device {name}; there is {known or 'none of this kind'}")
        return plugin, options

    def _devices_of(self, plugin: Plugin) -> list[Device]:
        with device_errors(f"{plugin.name} failed to list its devices"):
            return devices_of(plugin)

    def _unavailable_of(self, plugin: Plugin) -> dict[str, str]:
        with device_errors(f"{plugin.name} failed to list its unavailable devices"):
            return {str(name): str(reason) for name, reason in plugin.unavailable_devices().items()}

    def _available_plugins(self) -> list[Plugin]:
        plugins = []
        for kind in list(self._factories):
            with contextlib.suppress(DeviceError):
                plugins.append(self.get_plugin(kind))
        return plugins


def _configured(factory: Callable[[], Plugin], config: Mapping[str, Any] | None) -> Plugin:
    """Return a new plugin with its properties set."""
    plugin = factory()
    if config:
        plugin.set_property(config, {})
    return plugin

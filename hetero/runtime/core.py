"""Core: the entry point. It knows the devices, reads models and has them compiled."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hetero import properties as props
from hetero.cache_folder import cache_folder
from hetero.errors import DeviceError, device_errors, reason_of
from hetero.fork import renew_after_fork
from hetero.frontend.extension import Extension, add_extensions
from hetero.frontend.extension_loader import as_extensions
from hetero.graph import Model, Op
from hetero.plugin import Plugin, QueryResult, RemoteContext, full_name, installed_plugins
from hetero.plugin.blob import BlobSource, read_blob
from hetero.plugin.blob_import import device_table, exports_models, import_blob
from hetero.plugin.package_code import package_code
from hetero.plugin.registry import Registry, check_device_name
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.core_properties import CoreProperties
from hetero.runtime.device_name import parse_device_name
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.runtime.model_cache import ModelCache
from hetero.runtime.version import Version
from hetero.tracing import traced

if TYPE_CHECKING:
    import onnx

Properties = Mapping[str, Any] | tuple[str, Any]
Extensions = Extension | type[Op] | str | os.PathLike[str]


class Core:
    """The devices of the installed plugin packages, and what one does with them."""

    def __init__(self) -> None:
        self._registry: Registry = installed_plugins()
        self._factories: dict[str, Callable[[], Plugin]] = dict(self._registry.devices)
        self._plugins: dict[str, Plugin] = {}
        self._unavailable: dict[str, str] = {}
        self._properties = CoreProperties()
        # After a fork the plugins of the parent process, which have to prove that they still work.
        self._inherited: dict[str, Plugin] = {}
        self._lock = threading.RLock()
        renew_after_fork(self, Core._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._inherited |= self._plugins
        self._plugins = {}

    def add_extension(self, extension: Extensions | Sequence[Extensions]) -> None:
        """Teach the frontends of this Core: an extension, the class of an operation, a Python file, or a list of them.

        A file is given as its path, or as the dotted name of an installed module, and is run. What its variable
        ``extensions`` holds is added, or without one all extensions in it and the classes of operations it defines.

        Of several for one operator the last is used, with a warning in the log. Raises GraphError for anything else,
        FrontendError for a file that is not there or fails.
        """
        add_extensions(self._extensions, as_extensions(extension))

    @functools.cached_property
    def _extensions(self) -> list[Extension]:
        """Those of installed packages, and then the user's."""
        return list(self._registry.made_extensions)

    @traced("Core::read_model")
    def read_model(
        self,
        model: str | os.PathLike[str] | bytes | BinaryIO | onnx.ModelProto,
        weights: str | os.PathLike[str] | bytes | None = None,
    ) -> Model:
        """Read a model from a path, bytes, a binary file object or an onnx.ModelProto.

        ``weights``: of an IR the binary file or its bytes, where it is not beside the XML. The format is recognised
        by the content. Raises FrontendError when no frontend can read it.
        """
        frontend = FrontEndManager().load_by_model(model)
        frontend.add_extension(self._extensions)
        return frontend.convert(model) if weights in (None, "") else frontend.convert(model, weights)

    @traced("Core::compile_model")
    def compile_model(
        self,
        model: Model | str | os.PathLike[str] | bytes | BinaryIO | onnx.ModelProto,
        device_name: str | RemoteContext,
        config: Mapping[str, Any] | None = None,
    ) -> CompiledModel:
        """Make a model ready for a device. The model itself stays as it is; ``config`` wins over set_property.

        With a RemoteContext in the place of the name it is made ready for the context's device, and takes remote
        tensors of that context.

        Raises DeviceError when the device is not there or fails, UnsupportedOperationError when it
        cannot run an operation, PropertyError for a bad property.
        """
        context, name = _chosen(device_name)
        plugin, options = self.resolve_device(name)
        options.update(config or {})
        cache = self._model_cache(plugin, options, context)
        # What a file means is a matter of extensions too, which may change while the file does not.
        by_file = cache and isinstance(model, (str, os.PathLike)) and not self._extensions
        if not isinstance(model, Model) and not by_file:
            model = self.read_model(model)
        label = os.fspath(model) if by_file else model.friendly_name
        with device_errors(f"{name} failed to compile model '{label}'"):
            if by_file:
                return CompiledModel(cache.compile_file(Path(model), lambda: self.read_model(model)))
            if cache:
                return CompiledModel(cache.compile_model(model))
            return CompiledModel(plugin.compile_model(model.clone(), options, context))

    @traced("Core::import_model")
    def import_model(
        self, model_stream: BlobSource, device_name: str | RemoteContext, config: Mapping[str, Any] | None = None
    ) -> CompiledModel:
        """A compiled model from what ``export_model`` gave: bytes, a path, or a binary stream; files are mapped.

        ``config`` wins over the options that it was compiled with. A device may keep machine code in what it exports:
        import only what comes from where you would run programs from. Raises BlobError for what is altered, cut short
        or not of this device, architecture and version of hetero, DeviceError where the device fails.
        """
        context, name = _chosen(device_name)
        plugin, options = self.resolve_device(name)
        options.update(config or {})
        self._take_cache_folder(plugin, options)
        return CompiledModel(import_blob(plugin, read_blob(model_stream), options, context))

    def create_context(self, device_name: str, params: Mapping[str, Any] | None = None) -> RemoteContext:
        """A context for tensors in a device's memory, from handles of the user's own where ``params`` names some.

        Raises DeviceError, NotSupportedError for a device without such memory, PropertyError for a bad key or value.
        """
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.create_context({**options, **(params or {})})

    def get_default_context(self, device_name: str) -> RemoteContext:
        """The context that models are compiled for where none is named. Raises as create_context."""
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.get_default_context(options)

    @traced("Core::query_model")
    def query_model(self, model: Model, device_name: str, config: Mapping[str, Any] | None = None) -> QueryResult:
        """Which operations a device can run: friendly name to device name. Raises as compile_model does."""
        plugin, options = self.resolve_device(device_name)
        options.update(config or {})
        self._take_cache_folder(plugin, options)
        with device_errors(f"{device_name} failed in query_model of '{model.friendly_name}'"):
            return plugin.query_model(model, options)

    @property
    def available_devices(self) -> list[str]:
        """The devices that can be used now: ``["GPU.0", "GPU.1"]``, the plain kind where there is one of it."""
        found = []
        for kind in self._factories:
            try:
                ids = self.get_plugin(kind).device_ids()
            except DeviceError:
                continue
            found += [full_name(kind, device_id) for device_id in ids] if len(ids) > 1 else [kind] * len(ids)
        return found

    def get_available_devices(self) -> list[str]:
        return self.available_devices

    @property
    def unavailable_devices(self) -> dict[str, str]:
        """The devices and plugin packages that are installed but cannot be used, each with the reason."""
        found = {}
        for plugin in self._available_plugins():
            try:
                found |= {f"{plugin.name}: {name}": reason for name, reason in plugin.unavailable_devices().items()}
            except Exception as error:
                found[plugin.name] = f"it failed to list what cannot be used: {reason_of(error)}"
        return {**self._registry.failures, **self._unavailable, **found}

    def get_property(self, device_name: str, property: str | None = None) -> Any:
        """A property of a device, or with a key alone one of the Core or one that was set for all devices.

        Raises PropertyError for an unknown key, DeviceError for an unknown device.
        """
        if property is None:
            return self._properties.get(device_name)
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to tell its property {property}"):
            return plugin.get_property(property, options)

    def set_property(self, device_name: str | Properties, properties: Properties | None = None) -> None:
        """Set properties of a device for later compilations, or with properties alone of the Core and all devices.

        Properties are a mapping, or a pair as ``hetero.properties.enable_profiling(True)`` gives it. The Core has
        CACHE_DIR, the folder of the model cache, for all devices that can export models; other keys are set on every
        device that has them. Raises PropertyError for an unknown or read-only key or a bad value, then sets none.
        """
        if properties is None:
            self._properties.set(_mapping(device_name), self._available_plugins)
            return
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to set properties"):
            plugin.set_property(_mapping(properties), options)

    def get_versions(self, device_name: str) -> dict[str, Version]:
        """The versions of the packages that a device, and those that it is given to use, come from, by their names.

        Raises DeviceError for an unknown device.
        """
        kind, options = parse_device_name(device_name)
        versions = {}
        for name in (kind, *options.get(props.device.priorities, ())):
            plugin, _ = self.resolve_device(name)
            versions[name] = Version.parse(self._registry.packages.get(plugin.name, type(plugin).__module__))
        return versions

    def unload_plugin(self, device_name: str) -> None:
        """Let a device go, with the properties that were set on it; it is made anew when it is next used.

        What it compiled keeps working. Raises DeviceError when it is not loaded.
        """
        with self._lock:
            kind = parse_device_name(device_name).kind
            if self._plugins.pop(kind, None) is None and self._inherited.pop(kind, None) is None:
                raise DeviceError(f"device {kind} is not loaded; loaded are {', '.join(self._plugins) or 'none'}")

    def register_plugin(self, plugin: Callable[[], Plugin], device_name: str) -> None:
        """Add a device to this Core that no installed package brings; ``plugin()`` gives its Plugin when first used.

        Raises DeviceError when the name is taken, and for one that no device can have, such as "NPU.1".
        """
        check_device_name(device_name)
        if device_name in self._factories:
            raise DeviceError(f"there is a device {device_name} already")
        self._factories[device_name] = plugin

    def get_plugin(self, kind: str) -> Plugin:
        """The plugin of a kind of device, made on first use. Raises DeviceError when it cannot be had."""
        with self._lock:
            if kind in self._plugins:
                return self._plugins[kind]
            factory = self._factories.get(kind)
            if factory is None:
                failed = [f"{name} ({reason})" for name, reason in self._registry.failures.items()]
                hint = f"; these plugin packages cannot be used: {'; '.join(failed)}" if failed else ""
                raise DeviceError(f"there is no device {kind}; there are {', '.join(self._factories)}{hint}")
            if kind not in self._unavailable:
                inherited = self._inherited.pop(kind, None)
                try:
                    with package_code(f"making device {kind}"):
                        plugin = inherited or factory()
                        plugin.attach(kind, self)
                        plugin.device_ids()  # a plugin that cannot even list its devices is of no use
                except Exception as error:
                    self._unavailable[kind] = reason_of(error)
                else:
                    if inherited is None:
                        self._properties.apply_to(plugin)
                    self._plugins[kind] = plugin
                    return plugin
            raise DeviceError(f"device {kind} is not available: {self._unavailable[kind]}")

    def resolve_device(self, device_name: str) -> tuple[Plugin, dict[str, Any]]:
        """The plugin behind a device string, and the options that the string means. Raises DeviceError."""
        kind, options = parse_device_name(device_name)
        plugin = self.get_plugin(kind)
        wanted = options.get(props.device.id)
        if wanted is not None and wanted not in plugin.device_ids():
            known = ", ".join(full_name(kind, device_id) for device_id in plugin.device_ids())
            raise DeviceError(f"there is no device {kind}.{wanted}; there is {known or 'none of this kind'}")
        return plugin, options

    def _available_plugins(self) -> list[Plugin]:
        plugins = []
        for kind in list(self._factories):
            with contextlib.suppress(DeviceError):
                plugins.append(self.get_plugin(kind))
        return plugins

    def _model_cache(self, plugin: Plugin, options: dict[str, Any], context: RemoteContext | None) -> ModelCache | None:
        """The cache where there is a folder for it and the device exports models; see _take_cache_folder."""
        given = self._take_cache_folder(plugin, options)
        folder = cache_folder(given) if given and exports_models(plugin, options) else None
        if folder is None:
            return None
        return ModelCache(folder, plugin, options, context, self._registry.packages.get(plugin.name, ""))

    def _take_cache_folder(self, plugin: Plugin, options: dict[str, Any]) -> str:
        """The folder of the model cache, empty for none. It stays in the options of devices that have CACHE_DIR too."""
        table = device_table(plugin, options)
        default = table.value_of(props.cache_dir) or self._properties.get(props.cache_dir)
        folder = options.get(props.cache_dir, default)
        if props.cache_dir not in table:
            options.pop(props.cache_dir, None)
        elif folder:
            options[props.cache_dir] = folder
        return props.cache_dir.checked(folder, plugin.name)


def _mapping(properties: Properties) -> Mapping[str, Any]:
    return properties if isinstance(properties, Mapping) else dict([properties])


def _chosen(device: str | RemoteContext) -> tuple[RemoteContext | None, str]:
    """The context, where one is given in the place of a device's name, and the name."""
    return (device, device.get_device_name()) if isinstance(device, RemoteContext) else (None, device)

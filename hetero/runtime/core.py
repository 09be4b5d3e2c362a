"""Core: the entry point of the API. It finds devices, reads models and compiles them."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetero import plugin as plugin_api
from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.dispatch.devices import (
    CPU,
    DISPATCHER,
    means_processors,
    parse_device_name,
    processor_keys,
    processor_with,
    split_number,
)
from hetero.frontend.extension import Extension, add_extensions
from hetero.frontend.extension_loader import as_extensions
from hetero.frontend.frontend import ModelSource
from hetero.graph import Model, Op
from hetero.plugin import Device, Plugin, QueryResult, RemoteContext, full_name, installed_plugins
from hetero.plugin.blobs.blob import BlobSource, read_blob
from hetero.plugin.blobs.blob_import import device_table, exports_models, import_blob
from hetero.plugin.compiled_model import checked
from hetero.plugin.device import devices_of
from hetero.plugin.loading.package_code import package_code
from hetero.plugin.loading.registry import Registry, check_device_name
from hetero.plugin.lone_operations import drop_dependent
from hetero.properties import PropertyTable
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.core_properties import (
    CoreProperties,
    Properties,
    as_mapping,
    plugin_of_module,
    read_plugin_list,
    with_lists,
)
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.runtime.model_cache import ModelCache
from hetero.runtime.version import Version
from hetero.system.cache_folder import cache_folder
from hetero.system.errors import ArgumentTypeError, DeviceError, device_errors, reason_of
from hetero.system.fork import renew_after_fork
from hetero.system.messages import get_logger, nearest
from hetero.system.tracing import traced

log = get_logger("hetero.core")
Extensions = Extension | type[Op] | str | os.PathLike[str]


class Core:
    """Reads models, and compiles them for the devices of the installed plugin packages."""

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
        renew_after_fork(self, Core._renew)
        if os.fspath(xml_config_file):
            self.register_plugins(xml_config_file)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._inherited |= self._plugins
        self._plugins = {}

    def __repr__(self) -> str:
        return f"<Core: available plugins[{', '.join(self._factories)}]>"

    def add_extension(
        self,
        extension: Extensions | Sequence[Extensions] | None = None,
        *,
        library_path: str | os.PathLike[str] | None = None,
        extensions: Sequence[Extensions] | None = None,
        custom_op: type[Op] | None = None,
    ) -> None:
        """Add extensions to the frontends of this Core: extensions, classes of operations or Python files.

        A file is a path or the dotted name of an installed module, and is executed. Its variable ``extensions`` is
        added or, without one, all extensions and classes of operations that it defines. If several extensions convert
        one operator, the last one is used and a warning is logged. Other arguments are OpenVINO's names of the same.

        Raises GraphError for another type of extension, FrontendError for a file that is missing, fails or is a native
        library, and for an extension of a framework that has no frontend.
        """
        additions = [addition for addition in (extension, library_path, extensions, custom_op) if addition is not None]
        if not additions:
            raise ArgumentTypeError("there is no extension to add: give an extension, a class or a Python file")
        added = as_extensions(additions)
        for framework in {extension.framework for extension in added if extension.framework}:
            FrontEndManager().load_by_framework(framework)
        add_extensions(self._extensions, added)

    @functools.cached_property
    def _extensions(self) -> list[Extension]:
        """Extensions of installed packages, followed by those of add_extension()."""
        return list(self._registry.loaded_extensions)

    @traced("Core::read_model")
    def read_model(
        self,
        model: ModelSource,
        weights: ModelSource | Tensor | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Model:
        """Read a model from a path, bytes, a binary file, an onnx.ModelProto or a torch.export.ExportedProgram.

        ``weights``: for OpenVINO IR, the path, the bytes or a tensor of the weights if they are not next to the XML
        file; the model may then be the XML text. The format is detected from the content. ``config``: ENABLE_MMAP, a
        hint: weights are always mapped. Raises FrontendError if no frontend can read the model.
        """
        PropertyTable([props.cache_dir, props.enable_mmap], "read_model").set(config or {})
        if isinstance(model, str) and model.lstrip().startswith("<"):
            model = model.encode()
        if isinstance(weights, Tensor):
            weights = np.ascontiguousarray(weights.data).reshape(-1).view(np.uint8).data
        frontend = FrontEndManager().load_by_model(model)
        frontend.add_extension(self._extensions)
        return frontend.convert(model) if weights is None or weights == "" else frontend.convert(model, weights)

    @traced("Core::compile_model")
    def compile_model(
        self,
        model: Model | ModelSource,
        device_name: str | RemoteContext | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        weights: ModelSource | Tensor | None = None,
    ) -> CompiledModel:
        """Compile a model for a device, by default AUTO. The model is not modified.

        ``config`` takes precedence over set_property(). ``weights``: those of a model in IR, as for ``read_model``. If
        ``device_name`` is a RemoteContext, the model is compiled for the context's device, and its requests accept
        remote tensors of that context.

        Raises DeviceError if the device is unknown, unavailable or fails, UnsupportedOperationError if it does not
        support an operation, PropertyError for a bad property.
        """
        context, name = _context_and_name("AUTO" if device_name is None else device_name)
        plugin, options = self.resolve_device(name)
        options.update(config or {})
        plugin.apply_log_level(options)
        cache = self._model_cache(plugin, options, context)
        # With extensions, the same file may be converted to another model, so the file alone is no cache key.
        if cache and isinstance(model, (str, os.PathLike)) and weights is None and not self._extensions:
            path = Path(model)
            return CompiledModel(cache.compile_file(path, lambda: self.read_model(path)))
        if not isinstance(model, Model):
            model = self.read_model(model, weights)
        return CompiledModel(_compile(name, plugin, model, options, cache, context))

    def compile_on(self, device_name: str, model: Model, options: Mapping[str, Any]) -> plugin_api.CompiledModel:
        """Compile a copy of a model for a plugin that uses other devices, see ``Host``."""
        plugin, own = self.resolve_device(device_name)
        own.update(options)
        plugin.apply_log_level(own)
        return _compile(device_name, plugin, model, own, self._model_cache(plugin, own, None))

    @traced("Core::import_model")
    def import_model(
        self,
        model_stream: BlobSource | Tensor,
        device_name: str | RemoteContext,
        config: Mapping[str, Any] | None = None,
    ) -> CompiledModel:
        """Import a compiled model that ``export_model`` wrote, from bytes, a path, a binary stream or a tensor.

        Files are memory-mapped. ``config`` takes precedence over the options of the compilation. A blob may contain
        machine code: import only blobs that you would also run as programs.

        Raises BlobError for a blob that is altered, truncated or made for another device, architecture or version of
        hetero, DeviceError if the device fails.
        """
        context, name = _context_and_name(device_name)
        plugin, options = self.resolve_device(name)
        options.update(config or {})
        plugin.apply_log_level(options)
        self._resolve_cache_dir(plugin, options)
        if isinstance(model_stream, Tensor):
            model_stream = model_stream.data.tobytes()
        return CompiledModel(import_blob(plugin, read_blob(model_stream), options, context))

    def create_context(self, device_name: str, properties: Mapping[str, Any] | None = None) -> RemoteContext:
        """Create a context for tensors in a device's memory. ``properties`` may contain handles of an existing context.

        Raises DeviceError, NotSupportedError for a device without remote tensors, PropertyError for a bad key or value.
        """
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.create_context({**options, **(properties or {})})

    def get_default_context(self, device_name: str) -> RemoteContext:
        """Return the context that models are compiled for by default. Raises the errors of create_context()."""
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.get_default_context(options)

    @traced("Core::query_model")
    def query_model(self, model: Model, device_name: str, config: Mapping[str, Any] | None = None) -> QueryResult:
        """Return the supported operations: friendly name to device name. Raises the errors of compile_model().

        Each of them can be pinned to the device alone. The device may support more operations together.
        """
        plugin, options = self.resolve_device(device_name)
        options.update(config or {})
        self._resolve_cache_dir(plugin, options)
        with device_errors(f"{device_name} failed to query model '{model.friendly_name}'"):
            result = plugin.query_model(model, options)
            if isinstance(result, QueryResult) and plugin.judges_together:
                drop_dependent(model, result, lambda alone: plugin.query_model(alone, options))
            return result

    @property
    def available_devices(self) -> list[str]:
        """The usable devices: ``["GPU.0", "GPU.1"]``, or ``["GPU"]`` for the only one, unless its id is not 0."""
        names = []
        for kind in list(self._factories):
            try:
                ids = [device.id for device in self._devices_of(self.get_plugin(kind))]
            except DeviceError:
                continue
            names += [kind] if ids in ([""], ["0"]) else [full_name(kind, device_id) for device_id in ids]
        return names

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
        ``property``, as in OpenVINO. Core returns its own properties and those that were set for all devices.
        Raises PropertyError for an unknown key, DeviceError for an unknown device.
        """
        property = name if property is None else property
        if property is None or not device_name:
            return self._properties.get(device_name or property or "")
        if means_processors(self, device_name):
            device_name = processor_with(self, property)
        plugin, options = self.resolve_device(device_name)
        options.update(arguments or {})
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
                return self._properties.set(values, self._available_plugins)
        if means_processors(self, device_name):
            values = as_mapping(properties)
            for name, keys in processor_keys(self, values).items():
                self.set_property(name, {key: values[key] for key in values if key in keys})
            return None
        plugin, options = self.resolve_device(device_name)
        values, cache_dir = dict(as_mapping(properties)), None
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
                        plugin.attach(kind, self)
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
        if means_processors(self, device_name):
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

    def _model_cache(self, plugin: Plugin, options: dict[str, Any], context: RemoteContext | None) -> ModelCache | None:
        """Return the model cache, or None if it has no folder or the device cannot export models."""
        path = self._resolve_cache_dir(plugin, options)
        folder = cache_folder(path) if path and exports_models(plugin, options) else None
        if folder is None:
            return None
        with device_errors(f"{plugin.name} failed to make a key of the model cache"):
            return ModelCache(folder, plugin, options, context)

    def _resolve_cache_dir(self, plugin: Plugin, options: dict[str, Any]) -> str:
        """Return CACHE_DIR from the options, the device or Core, and update the options.

        The options keep CACHE_DIR only if the device has this property itself. "" means no cache.
        """
        table = device_table(plugin, options)
        own = table.value_of(props.cache_dir) or self._cache_dirs.get(plugin.name)
        default = self._properties.get(props.cache_dir) if own is None else own
        folder = options.get(props.cache_dir, default)
        if props.cache_dir not in table:
            options.pop(props.cache_dir, None)
        elif folder:
            options[props.cache_dir] = folder
        return props.cache_dir.checked(folder, plugin.name)


def compile_model(
    model: Model | ModelSource, device_name: str | None = "AUTO", config: Mapping[str, Any] | None = None
) -> CompiledModel:
    """Compile a model or a model file with a Core of its own, see ``Core.compile_model``."""
    return Core().compile_model(model, device_name, config)


def shutdown() -> None:
    """Forget the installed plugin packages, so that the next Core looks for them again. Existing Cores keep working."""
    installed_plugins.cache_clear()


def _configured(factory: Callable[[], Plugin], config: Mapping[str, Any] | None) -> Plugin:
    """Return a new plugin with its properties set."""
    plugin = factory()
    if config:
        plugin.set_property(config, {})
    return plugin


def _compile(
    name: str,
    plugin: Plugin,
    model: Model,
    options: Mapping[str, Any],
    cache: ModelCache | None,
    context: RemoteContext | None = None,
) -> plugin_api.CompiledModel:
    if cache:
        return cache.compile_model(model)
    problem = f"{name} failed to compile model '{model.friendly_name}'"
    with device_errors(problem):
        return checked(plugin.compile_model(model.clone(), options, context), problem)


def _context_and_name(device: str | RemoteContext) -> tuple[RemoteContext | None, str]:
    """Return the context, if the device is given as one, and the device's name."""
    return (device, device.get_device_name()) if isinstance(device, RemoteContext) else (None, device)

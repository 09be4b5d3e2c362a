"""Core: the entry point of the API. It reads models, and compiles them for its devices."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetero import plugin as plugin_api
from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.frontend.extension import Extension, add_extensions
from hetero.frontend.extension_loader import as_extensions
from hetero.frontend.frontend import ModelSource
from hetero.graph import Model, Op
from hetero.plugin import Plugin, QueryResult, RemoteContext, hint_properties, installed_plugins
from hetero.plugin.blobs.blob import BlobSource, read_blob
from hetero.plugin.blobs.blob_import import device_table, exports_models, import_blob
from hetero.plugin.compiled_model import checked
from hetero.plugin.lone_operations import drop_dependent
from hetero.properties import PropertyTable
from hetero.runtime.compiled_model import CompiledModel
from hetero.runtime.core_devices import CoreDevices
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.runtime.host import mapped_device
from hetero.runtime.model_cache import ModelCache
from hetero.system.cache_folder import cache_folder
from hetero.system.errors import ArgumentTypeError, device_errors
from hetero.system.garbage_collection import rarer_collections
from hetero.system.tracing import traced

Extensions = Extension | type[Op] | str | os.PathLike[str]


class Core(CoreDevices):
    """Reads models, and compiles them for the devices of the installed plugin packages."""

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
    @rarer_collections()
    def read_model(
        self,
        model: ModelSource,
        weights: ModelSource | Tensor | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Model:
        """Read a model from a path, bytes, a binary file, an onnx.ModelProto or a torch.export.ExportedProgram.

        ``weights``: for OpenVINO IR, the path, the bytes or a tensor of the weights if they are not next to the XML
        file; the model may then be the XML text. The format is detected from the content. ``config``: hints
        such as ENABLE_MMAP: weights are always mapped. Raises FrontendError if no frontend can read the model.
        """
        PropertyTable([props.cache_dir, *hint_properties], "read_model").set(config or {})
        if isinstance(model, str) and model.lstrip().startswith("<"):
            model = model.encode()
        if isinstance(weights, Tensor):
            weights = np.ascontiguousarray(weights.data).reshape(-1).view(np.uint8).data
        frontend = FrontEndManager().load_by_model(model)
        frontend.add_extension(self._extensions)
        return frontend.convert(model) if weights is None or weights == "" else frontend.convert(model, weights)

    @traced("Core::compile_model")
    @rarer_collections()
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
        device_name = mapped_device(device_name)
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.create_context({**options, **(properties or {})})

    def get_default_context(self, device_name: str) -> RemoteContext:
        """Return the context that models are compiled for by default. Raises the errors of create_context()."""
        device_name = mapped_device(device_name)
        plugin, options = self.resolve_device(device_name)
        with device_errors(f"{device_name} failed to create a context"):
            return plugin.get_default_context(options)

    @traced("Core::query_model")
    @rarer_collections()
    def query_model(self, model: Model, device_name: str, config: Mapping[str, Any] | None = None) -> QueryResult:
        """Return the supported operations: friendly name to device name. Raises the errors of compile_model().

        Each of them can be pinned to the device alone. The device may support more operations together.
        """
        device_name = mapped_device(device_name)
        plugin, options = self.resolve_device(device_name)
        options.update(config or {})
        self._resolve_cache_dir(plugin, options)
        with device_errors(f"{device_name} failed to query model '{model.friendly_name}'"):
            result = plugin.query_model(model, options)
            if isinstance(result, QueryResult):
                result.refuse_alone(result.with_readers)
                if plugin.judges_together:
                    drop_dependent(model, result, lambda alone: plugin.query_model(alone, options))
            return result

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
    if isinstance(device, RemoteContext):
        return device, device.get_device_name()
    return None, mapped_device(device)

"""The model cache: a folder of compiled models, so that a device compiles each model only once.

Several processes may share a folder: files are written atomically, and blobs are checked when they are imported. The
name of a ``.blob`` file is a hash of everything that the compilation depends on. A ``.json`` file keeps the hash of the
model in a model file, with the time stamps of all files that it was read from: if none has changed, the model need not
be read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hetero import plugin
from hetero import properties as props
from hetero.frontend.source import Stamp, record_files, stamp_of
from hetero.graph import Model
from hetero.plugin import Plugin, RemoteContext
from hetero.plugin.blobs.blob import FORMAT, hetero_version, read_blob
from hetero.plugin.blobs.blob_import import import_blob
from hetero.runtime.model_hash import model_hash
from hetero.system.cache_folder import write_cached
from hetero.system.errors import BlobError, HeteroError, NotSupportedError
from hetero.system.messages import get_logger
from hetero.system.tracing import span

log = get_logger("hetero.runtime")


class ModelCache:
    """The cache of one device with its options.

    If a file cannot be read or written, this is logged and the model is compiled.
    """

    def __init__(self, folder: Path, device: Plugin, options: Mapping[str, Any], context: RemoteContext | None) -> None:
        self._folder, self._device, self._options, self._context = folder, device, options, context
        self._key = _digest(FORMAT, hetero_version(), device.package, device.cache_key(options))

    def compile_file(self, path: Path, read_model: Callable[[], Model]) -> plugin.CompiledModel:
        """Return the compiled model of a model file. ``read_model()`` is called only if it must be read."""
        hash_file = self._folder / f"{_digest(FORMAT, hetero_version(), os.path.abspath(path))}.json"
        model_key = _read_model_hash(hash_file, os.path.abspath(path))
        if model_key is not None:
            cached = self._load(model_key, str(path), read_model)
            if cached is not None:
                return cached
        with record_files() as files:
            model = read_model()
        model_key = model_hash(model)
        compiled = self._compile(model, model_key)
        if os.path.abspath(path) in files:
            write_cached(hash_file, [json.dumps({"model": model_key, "files": files}).encode()])
        return compiled

    def compile_model(self, model: Model) -> plugin.CompiledModel:
        """Return the cached compiled model, or compile the model and cache it."""
        return self._compile(model, model_hash(model))

    def _compile(self, model: Model, model_key: str) -> plugin.CompiledModel:
        cached = self._load(model_key, model.friendly_name, model)
        if cached is not None:
            return cached
        compiled = self._device.compile_model(model.clone(), self._options, self._context)
        try:
            with span("ModelCache::store", model.friendly_name):
                write_cached(self._file_of(model_key), compiled.export_model())
        except (BlobError, NotSupportedError) as error:
            log.warning("'%s' is not cached: %s", model.friendly_name, error)
        return compiled

    def _file_of(self, model_key: str) -> Path:
        return self._folder / f"{_digest(self._key, model_key)}.blob"

    def _load(self, model_key: str, label: str, original: Model | Callable[[], Model]) -> plugin.CompiledModel | None:
        file = self._file_of(model_key)
        if not file.exists():
            return None
        try:
            with span("ModelCache::load", label):
                options = {**self._options, props.loaded_from_cache: True}
                cached = import_blob(self._device, read_blob(file), options, self._context)
        except HeteroError as error:
            log.warning("'%s' is compiled again, because the cached blob cannot be used: %s", label, error)
            with contextlib.suppress(OSError):
                file.unlink()
            return None
        cached.set_original(original)
        return cached


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _read_model_hash(hash_file: Path, path: str) -> str | None:
    """Return the hash of the model at ``path``, or None if a file that it was read from has changed."""
    try:
        content = json.loads(hash_file.read_bytes())
        stamps: dict[str, Stamp] = {name: tuple(stamp) for name, stamp in content["files"].items()}
        unchanged = path in stamps and all(stamp_of(os.stat(name)) == stamp for name, stamp in stamps.items())
        return str(content["model"]) if unchanged else None
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None

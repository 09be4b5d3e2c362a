"""The model cache: compiled models in a folder, so that a device compiles each model only once.

Several processes may use one folder: files appear whole, and what is in them is checked as any blob is.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hetero import plugin
from hetero import properties as props
from hetero.errors import BlobError, HeteroError
from hetero.graph import Model
from hetero.plugin import Plugin, RemoteContext
from hetero.plugin.blob import FORMAT, hetero_version, read_blob
from hetero.runtime.blob_import import import_blob
from hetero.runtime.model_hash import model_hash

log = logging.getLogger("hetero.runtime")


def compile_cached(
    folder: Path,
    model: Model,
    device: Plugin,
    options: Mapping[str, Any],
    context: RemoteContext | None,
    package: str,
) -> plugin.CompiledModel:
    """The compiled model of an earlier compilation, or a new one, which is then kept.

    ``package``: name and version of the package that the device came with. What cannot be read or written is told in
    the log, and the model is compiled.
    """
    file = folder / f"{cache_key(model, device, options, package)}.blob"
    if file.exists():
        try:
            found = import_blob(device, read_blob(file), options, context)
        except HeteroError as error:
            log.warning("'%s' is compiled again, as the cached one cannot be used: %s", model.friendly_name, error)
        else:
            found.properties.fill({props.loaded_from_cache: True})
            return found
    compiled = device.compile_model(model.clone(), options, context)
    try:
        _write(file, compiled)
    except BlobError as error:
        log.warning("'%s' is not cached: %s", model.friendly_name, error)
    except OSError as error:
        log.warning("'%s' is not cached: %s cannot be written: %s", model.friendly_name, file, error.strerror)
    return compiled


def cache_key(model: Model, device: Plugin, options: Mapping[str, Any], package: str) -> str:
    """What a compilation is known by: the model, the device with its software, and how it is compiled."""
    table = device.property_table(options)
    mutable = [key for key, kind in table.get(props.supported_properties).items() if kind == props.Mutability.RW]
    told = [props.device.architecture, props.device.full_name, *table.value_of(props.caching_properties)]
    keys = sorted({*mutable, *told} - {str(props.device.id), str(props.cache_dir)})
    values = [(key, str(table.get(key))) for key in keys if key in table]
    parts = (FORMAT, hetero_version(), package, device.name, values, model_hash(model))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _write(file: Path, compiled: plugin.CompiledModel) -> None:
    """Write an exported model so that others see all of it or nothing. Raises OSError and BlobError."""
    pieces = compiled.export_model()
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        os.replace(scratch, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise

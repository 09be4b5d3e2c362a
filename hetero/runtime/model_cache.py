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
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hetero import plugin
from hetero import properties as props
from hetero.core.compressed import PackedArray
from hetero.core.shape import PartialShape
from hetero.frontend.source import Stamp, record_files, stamp_of
from hetero.graph import Constant, Model, Node, Parameter, Result
from hetero.graph.node import GeneratedName
from hetero.plugin import Plugin, RemoteContext
from hetero.plugin.blobs.blob import FORMAT, hetero_version, read_blob
from hetero.plugin.blobs.blob_import import import_blob
from hetero.plugin.compiled_model import checked
from hetero.system.cache_folder import write_cached
from hetero.system.code_key import code_key
from hetero.system.errors import HeteroError, device_errors
from hetero.system.messages import get_logger
from hetero.system.tracing import span

# Constants with at least this many bytes in total are hashed in threads.
_PARALLEL_BYTES = 2**16
# Fields of a node that _lines() handles separately.
_SEPARATE_FIELDS = {"_inputs", "_outputs", "_friendly_name", "_instance_id", "bodies", "contents", "_decoded"}


def model_hash(model: Model) -> str:
    """Return a hex digest of operations, attributes, edges, names, rt_info and constants of a model.

    It includes the source files of custom operations, see ``code_key``.
    """
    result = hashlib.sha256()
    contents: list[memoryview] = []
    for line in _lines(model, contents):
        result.update(repr(line).encode())
    for digest in _digests(contents):
        result.update(digest)
    return result.hexdigest()


def _digests(contents: list[memoryview]) -> Iterable[bytes]:
    if sum(content.nbytes for content in contents) < _PARALLEL_BYTES:
        return map(_content_digest, contents)
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        return list(threads.map(_content_digest, contents))


def _bytes_of(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _content_digest(content: memoryview) -> bytes:
    return hashlib.sha256(content).digest()


def _lines(model: Model, contents: list[memoryview]) -> Iterable[tuple[Any, ...]]:
    """Yield a tuple for each node, also in bodies, and append the bytes of constants to ``contents``."""
    order = model.get_ordered_ops()
    numbers = {node: number for number, node in enumerate(order)}
    yield model.friendly_name, _plain(model.rt_info)
    for nodes in (model.parameters, model.results, model.sinks):
        yield tuple(numbers[node] for node in nodes)
    for node in order:
        cls: type = type(node)
        fields = {key: value for key, value in vars(node).items() if key not in _SEPARATE_FIELDS}
        if isinstance(node, Constant):
            held = node.contents
            contents.append(_bytes_of(held.content if isinstance(held, PackedArray) else node.data))
            fields |= {"type": node.get_element_type().to_string(), "shape": held.shape}
        yield (
            tuple(node.type_info), code_key(cls), _name(node), _plain(fields),
            tuple((numbers[value.node], value.index) for value in node.input_values()),
            tuple(_plain(reader.rt_info) for reader in node.inputs()),
            tuple((sorted(output.own_names), _plain(output.rt_info)) for output in node.outputs()),
        )  # fmt: skip
        for body in node.bodies:
            yield from () if body is None else _lines(body, contents)


def _name(node: Node) -> str:
    """Return the friendly name, or "" for a generated one of an operation, whose number depends on the process."""
    is_generated = isinstance(node.friendly_name, GeneratedName) and not isinstance(node, (Parameter, Result))
    return "" if is_generated else node.friendly_name


def _plain(value: Any) -> Any:
    """Convert a value to plain data whose ``repr`` is the same in every process."""
    if isinstance(value, Mapping):
        return [(str(key), _plain(inner)) for key, inner in dict(value).items()]
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, PartialShape):
        return value.described()
    if isinstance(value, np.ndarray):  # its repr omits elements
        content = _plain(value.tolist()) if value.dtype.hasobject else _content_digest(_bytes_of(value))
        return [value.dtype.str, value.shape, content]
    return value if isinstance(value, (str, int, float, bool, type(None))) else f"{type(value).__name__} {value}"


log = get_logger("hetero.runtime")


class ModelCache:
    """The cache of one device with its options.

    If a file cannot be read or written, this is logged and the model is compiled.
    """

    def __init__(self, folder: Path, device: Plugin, options: Mapping[str, Any], context: RemoteContext | None) -> None:
        self._folder, self._device, self._options, self._context = folder, device, options, context
        kind: type = type(device)
        # The version alone does not do, as a package that is edited keeps it.
        software = hetero_version(), device.package, code_key(kind)
        self._key = _digest(FORMAT, *software, device.cache_key(options))

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
        name = self._device.name
        problem = f"{name} failed to compile model '{model.friendly_name}'"
        with device_errors(problem):
            compiled = checked(self._device.compile_model(model.clone(), self._options, self._context), problem)
        try:
            with span("ModelCache::store", model.friendly_name), device_errors(f"{name} failed to export the model"):
                write_cached(self._file_of(model_key), compiled.export_model())
        except HeteroError as error:
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
                with device_errors(f"{self._device.name} failed to take the original of '{label}'"):
                    cached.set_original(original)
                return cached
        except HeteroError as error:
            log.warning("'%s' is compiled again, because the cached blob cannot be used: %s", label, error)
            with contextlib.suppress(OSError):
                file.unlink()
            return None


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

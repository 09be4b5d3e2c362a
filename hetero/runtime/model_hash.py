"""A hash of a model, stable across processes, for the key of the model cache."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hetero.graph import Constant, Model, Node, Parameter, Result

# Constants with at least this many bytes in total are hashed in threads.
_PARALLEL_BYTES = 2**16
# Fields of a node that _lines() handles separately.
_SEPARATE_FIELDS = {"_inputs", "_outputs", "_friendly_name", "_instance_id", "bodies"}


def model_hash(model: Model) -> str:
    """Return a hex digest of operations, attributes, edges, names, rt_info and constants of a model.

    It includes the source files of custom operations, see ``_code_key``.
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
        return map(_digest, contents)
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        return list(threads.map(_digest, contents))


def _bytes_of(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _digest(content: memoryview) -> bytes:
    return hashlib.sha256(content).digest()


def _lines(model: Model, contents: list[memoryview]) -> Iterable[tuple]:
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
            data = fields.pop("data")
            contents.append(_bytes_of(data))
            fields |= {"type": node.get_element_type().to_string(), "shape": data.shape}
        yield (
            tuple(node.type_info), _code_key(cls), _name(node), _plain(fields),
            tuple((numbers[value.node], value.index) for value in node.input_values()),
            tuple(_plain(reader.rt_info) for reader in node.inputs()),
            tuple((sorted(output.own_names), _plain(output.rt_info)) for output in node.outputs()),
        )  # fmt: skip
        for body in node.bodies:
            yield from () if body is None else _lines(body, contents)


@functools.cache
def _code_key(cls: type) -> str:
    """Return a hash of the Python files of a class and its bases. Bases of hetero itself do not count.

    A class without a known file, such as one defined in a function or in an interactive session, gets a random key:
    it never matches the key of another class or process.
    """
    key = hashlib.sha256()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("hetero", "builtins", "abc"):
            continue
        try:
            contents = [path.read_bytes() for path in _files_of(base)]
        except OSError:
            contents = []
        if not contents:
            return secrets.token_hex()
        for content in contents:
            key.update(content)
    return key.hexdigest()


def _files_of(cls: type) -> list[Path]:
    """Return all Python files below the folder of the class's package, or the file of its module without a package."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<locals>" in cls.__qualname__:
        return []
    return sorted(Path(file).parent.rglob("*.py")) if module.__package__ else [Path(file)]


def _name(node: Node) -> str:
    """Return the friendly name, or "" for a generated one, whose number depends on the process."""
    is_generated = not isinstance(node, (Parameter, Result)) and re.fullmatch(
        rf"{re.escape(node.type_info.name)}_\d+", node.friendly_name
    )
    return "" if is_generated else node.friendly_name


def _plain(value: Any) -> Any:
    """Convert a value to plain data whose ``repr`` is the same in every process."""
    if isinstance(value, Mapping):
        return [(str(key), _plain(inner)) for key, inner in dict(value).items()]
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):  # its repr omits elements
        content = _plain(value.tolist()) if value.dtype.hasobject else _digest(_bytes_of(value))
        return [value.dtype.str, value.shape, content]
    return value if isinstance(value, (str, int, float, bool, type(None))) else f"{type(value).__name__} {value}"

"""A hash of a model, stable across processes, for the key of the model cache."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hetero.graph import Constant, Model, Node, Parameter, Result
from hetero.runtime.class_code import code_key

# Constants with at least this many bytes in total are hashed in threads.
_PARALLEL_BYTES = 2**16
# Fields of a node that _lines() handles separately.
_SEPARATE_FIELDS = {"_inputs", "_outputs", "_friendly_name", "bodies"}


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
        return map(_digest, contents)
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        return list(threads.map(_digest, contents))


def _bytes_of(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


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
        fields = {key: value for key, value in vars(node).items() if key not in _SEPARATE_FIELDS}
        if isinstance(node, Constant):
            data = fields.pop("data")
            contents.append(_bytes_of(data))
            fields |= {"type": str(node.get_element_type()), "shape": data.shape}
        yield (
            tuple(node.type_info), code_key(type(node)), _name(node), _plain(fields),
            tuple((numbers[value.node], value.index) for value in node.input_values()),
            tuple(_plain(reader.rt_info) for reader in node.inputs()),
            tuple((sorted(output.names), _plain(output.rt_info)) for output in node.outputs()),
        )  # fmt: skip
        for body in node.bodies:
            yield from () if body is None else _lines(body, contents)


def _name(node: Node) -> str:
    """Return the friendly name, or "" for a generated one, whose number depends on the process."""
    is_generated = not isinstance(node, (Parameter, Result)) and re.fullmatch(
        rf"{re.escape(node.type_info.name)}_\d+", node.friendly_name
    )
    return "" if is_generated else node.friendly_name


def _plain(value: Any) -> Any:
    """Convert a value to plain data whose ``repr`` is the same in every process."""
    if isinstance(value, Mapping):
        return [(str(key), _plain(inner)) for key, inner in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):  # its repr omits elements
        content = _plain(value.tolist()) if value.dtype.hasobject else _digest(_bytes_of(value))
        return [value.dtype.str, value.shape, content]
    return value if isinstance(value, (str, int, float, bool, type(None))) else f"{type(value).__name__} {value}"

"""rt_info of nodes and models.

Entries of nested dictionaries are addressed by one key or a path of keys: ``["model_info", "labels"]``. A node that a
transformation made names the original nodes that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hetero.core.ov_any import OVAny, plain
from hetero.graph.node import Node
from hetero.system.errors import ArgumentTypeError, GraphError

# OpenVINO's keys.
ORIGINAL_NAMES = "originalLayersNames"
AFFINITY = "affinity"
# The key for a model file's own metadata: a dictionary of strings.
METADATA = "framework"
InfoPath = str | Sequence[str]
_MISSING = object()
# Programs look for OpenVINO's words to know that a model lacks an entry.
_OPENVINO_MESSAGE = "Cannot get runtime attribute. Path to runtime attribute is incorrect."


class RuntimeAttribute(dict[str, Any]):
    """An rt_info value of a kind that OpenVINO defines: its fields by name. Its key ends in a version: ``layout_0``."""


def _keys(path: InfoPath) -> list[str]:
    """Return the keys of a path. Raise ArgumentTypeError if it is neither a string nor a list of strings."""
    keys = [path] if isinstance(path, str) else path
    if not isinstance(keys, Sequence) or not keys or not all(isinstance(key, str) for key in keys):
        raise ArgumentTypeError(f"rt_info is addressed by a string or a list of strings, not by {path!r}")
    return list(keys)


def _find(info: Any, path: InfoPath) -> Any:
    for key in _keys(path):
        info = info.get(key, _MISSING) if isinstance(info, dict) else _MISSING
    return info


def has_info(info: dict[str, Any], path: InfoPath) -> bool:
    return _find(info, path) is not _MISSING


def get_info(info: dict[str, Any], path: InfoPath) -> OVAny:
    """Return the entry at a path. Raise GraphError if there is none."""
    entry = _find(info, path)
    if entry is _MISSING:
        raise GraphError(f"there is no rt_info at {'/'.join(_keys(path))}: {_OPENVINO_MESSAGE}")
    return OVAny(entry)


def set_info(info: dict[str, Any], path: InfoPath, value: Any) -> None:
    """Set the entry at a path, and create the dictionaries on the way. Raise GraphError if another value is there."""
    *parents, last = _keys(path)
    for key in parents:
        info = info.setdefault(key, {})
        if not isinstance(info, dict):
            raise GraphError(f"rt_info {key} is a value, it cannot hold {last}")
    info[last] = plain(value)


def original_names(node: Node) -> tuple[str, ...]:
    """Return the friendly names, in the user's model, of the nodes that this node was made from."""
    return node.rt_info.get(ORIGINAL_NAMES) or (node.friendly_name,)


def copy_rt_info(sources: Iterable[Node], target: Node) -> None:
    """Copy the rt_info and the original names of nodes to the node that replaces them."""
    names: dict[str, None] = {}
    for source in sources:
        names.update(dict.fromkeys(original_names(source)))
        target.rt_info.update(source.rt_info)
    target.rt_info[ORIGINAL_NAMES] = tuple(names)

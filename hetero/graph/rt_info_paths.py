"""Entries of nested rt_info dictionaries, addressed by one key or a path of keys: ``["model_info", "labels"]``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.errors import GraphError

InfoPath = str | Sequence[str]
_MISSING = object()


def _keys(path: InfoPath) -> list[str]:
    return [path] if isinstance(path, str) else list(path)


def _find(info: Any, path: InfoPath) -> Any:
    for key in _keys(path):
        info = info.get(key, _MISSING) if isinstance(info, dict) else _MISSING
    return info


def has_info(info: dict[str, Any], path: InfoPath) -> bool:
    return _find(info, path) is not _MISSING


def get_info(info: dict[str, Any], path: InfoPath) -> Any:
    """Return the entry at a path. Raise GraphError if there is none."""
    entry = _find(info, path)
    if entry is _MISSING:
        raise GraphError(f"there is no rt_info at {'/'.join(_keys(path))}")
    return entry


def set_info(info: dict[str, Any], path: InfoPath, value: Any) -> None:
    """Set the entry at a path, and create the dictionaries on the way. Raise GraphError if another value is there."""
    *parents, last = _keys(path)
    for key in parents:
        info = info.setdefault(key, {})
        if not isinstance(info, dict):
            raise GraphError(f"rt_info {key} is a value, it cannot hold {last}")
    info[last] = value

"""Notes in nested dictionaries, found by paths of keys: ``["model_info", "labels"]``, or one key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.errors import GraphError

InfoPath = str | Sequence[str]


def _keys(path: InfoPath) -> list[str]:
    return [path] if isinstance(path, str) else list(path)


def has_info(info: dict[str, Any], path: InfoPath) -> bool:
    found: Any = info
    for key in _keys(path):
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def info_at(info: dict[str, Any], path: InfoPath) -> Any:
    """The note at a path. Raises GraphError when there is none."""
    if not has_info(info, path):
        raise GraphError(f"there is no rt_info at {'/'.join(_keys(path))}")
    found: Any = info
    for key in _keys(path):
        found = found[key]
    return found


def set_info(info: dict[str, Any], path: InfoPath, value: Any) -> None:
    """Make a note at a path. Raises GraphError where something that is no dictionary is in the way."""
    *way, last = _keys(path)
    for key in way:
        info = info.setdefault(key, {})
        if not isinstance(info, dict):
            raise GraphError(f"rt_info {key} is a value, it cannot hold {last}")
    info[last] = value

"""FlexBuffers, in which operators keep attributes that the schema does not have: https://flatbuffers.dev/flexbuffers."""

from __future__ import annotations

from typing import Any

# How deep values may lie in each other.
_DEEPEST = 40
# How often as many values as a FlexBuffer has bytes may be read from it: each may stand in several places.
_MOST_SHARED = 4


def read_map(content: bytes) -> dict[str, Any]:
    """What a FlexBuffer holds where it is a map; nothing otherwise, as any bytes may be the options of an operator."""
    from flatbuffers import flexbuffers

    try:
        root = flexbuffers.GetRoot(content) if content else None
        return _Reader(_MOST_SHARED * len(content)).read(root, 0) if root and root.IsMap else {}
    except Exception:  # it is none, or damaged
        return {}


class _Reader:
    """Reads so many values at most: a few bytes that stand for each other can be made to stand for any number."""

    def __init__(self, most: int) -> None:
        self._left = most

    def read(self, value: Any, depth: int) -> Any:
        """The value as Python's. Raises ValueError where it is too much."""
        if value.IsMap:
            found = value.AsMap
            self._count(len(found), depth)
            return {key.AsKey: self.read(item, depth + 1) for key, item in zip(found.Keys, found.Values)}
        if value.IsVector:
            found = value.AsVector
            self._count(len(found), depth)
            return [self.read(item, depth + 1) for item in found]
        plain = value.Value
        self._count(len(plain) if isinstance(plain, (str, bytes, list)) else 1, depth)
        return plain

    def _count(self, number: int, depth: int) -> None:
        self._left -= number
        if self._left < 0 or depth > _DEEPEST:
            raise ValueError

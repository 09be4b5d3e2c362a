"""Reader of FlexBuffers, which hold the attributes of custom operators: https://flatbuffers.dev/flexbuffers."""

from __future__ import annotations

from typing import Any

# The maximum nesting depth of values.
_MAX_DEPTH = 40
# At most this many values are read per byte of a FlexBuffer: values may be shared, but not without limit.
_READ_LIMIT_FACTOR = 4


def read_map(content: bytes) -> dict[str, Any]:
    """Return the contents of a FlexBuffer map.

    Returns {} for any other bytes, because the options of a custom operator need not be a FlexBuffer.
    """
    from flatbuffers import flexbuffers

    try:
        root = flexbuffers.GetRoot(content) if content else None
        return _Reader(_READ_LIMIT_FACTOR * len(content)).read(root, 0) if root and root.IsMap else {}
    except Exception:  # not a FlexBuffer, or a damaged one
        return {}


class _Reader:
    """Reader of at most ``limit`` values: a few bytes can expand to any number of values by sharing them."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def read(self, value: Any, depth: int) -> Any:
        """Convert a value to Python. Raises ValueError if it exceeds the limits."""
        if value.IsMap:
            items = value.AsMap
            self._count(len(items), depth)
            return {key.AsKey: self.read(item, depth + 1) for key, item in zip(items.Keys, items.Values)}
        if value.IsVector:
            items = value.AsVector
            self._count(len(items), depth)
            return [self.read(item, depth + 1) for item in items]
        plain = value.Value
        self._count(len(plain) if isinstance(plain, (str, bytes, list)) else 1, depth)
        return plain

    def _count(self, number: int, depth: int) -> None:
        self._left -= number
        if self._left < 0 or depth > _MAX_DEPTH:
            raise ValueError

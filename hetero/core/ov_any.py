"""OVAny, a value of any type, and RTMap, the dictionary of such values that rt_info is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero.system.errors import PropertyError

_BOOLEANS = {"YES": True, "TRUE": True, "1": True, "NO": False, "FALSE": False, "0": False}


class OVAny:
    """A value of any type, which ``astype`` and ``aslist`` convert. It equals its value."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = plain(value)

    @property
    def value(self) -> Any:
        return self._value

    def get(self) -> Any:
        return self._value

    def set(self, value: Any) -> None:
        self._value = plain(value)

    def astype(self, dtype: type) -> Any:
        """Return the value as str, int, float, bool or dict. Raises PropertyError if it cannot be converted."""
        value = self._value
        if dtype is dict:
            if isinstance(value, Mapping):
                return as_any(value)
        elif dtype is str:
            return _text(value)
        elif dtype is bool:
            if isinstance(value, bool):
                return value
            if isinstance(value, str) and value.upper() in _BOOLEANS:
                return _BOOLEANS[value.upper()]
        elif dtype in (int, float) and isinstance(value, (int, float, str)) and not isinstance(value, bool):
            try:
                return dtype(float(value) if isinstance(value, str) and not value.lstrip("+-").isdigit() else value)
            except (ValueError, OverflowError):
                pass
        raise PropertyError(f"{value!r} cannot be converted to {getattr(dtype, '__name__', dtype)}")

    def aslist(self, dtype: type | None = None) -> list[Any]:
        """Return the elements of a list, or of a string separated by spaces; no elements without ``dtype``."""
        if dtype is None:
            return []
        if isinstance(self._value, str):
            return [OVAny(part).astype(dtype) for part in self._value.split()]
        if isinstance(self._value, (list, tuple)):
            return list(self._value)
        raise PropertyError(f"{self._value!r} cannot be converted to a list")

    def __eq__(self, other: object) -> bool:
        return bool(self._value == plain(other))

    def __hash__(self) -> int:
        return hash(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __getitem__(self, key: Any) -> Any:
        return self._value[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value[key] = plain(value)

    def __repr__(self) -> str:
        return "<OVAny class>"


class RTMap(dict[str, Any]):
    """A dictionary whose ``[]``, ``values`` and ``items`` return OVAny; a missing key has the value None.

    The values are stored as they are: ``get``, ``pop``, ``update`` and ``dict(…)`` work on them.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # dict's own may return None, as its keys are not known

        def get(self, key: str, default: Any = None) -> Any: ...

    def __getitem__(self, key: str) -> Any:
        return as_any(self.get(key))

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, plain(value))

    def values(self) -> Any:
        return {key: self[key] for key in self}.values()

    def items(self) -> Any:
        return {key: self[key] for key in self}.items()

    def __repr__(self) -> str:
        return "<RTMap>"


def as_any(value: Any) -> Any:
    """Return a value as an OVAny, and a dictionary as a dictionary of these."""
    return {key: as_any(item) for key, item in value.items()} if type(value) is dict else OVAny(value)


def plain(value: Any) -> Any:
    """Return the value of an OVAny, and any other value as it is."""
    return value.value if isinstance(value, OVAny) else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "YES" if value else "NO"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{_text(plain(item))}' for key, item in value.items())}}}"
    if isinstance(value, str):
        return str.__str__(value)  # the text of a property's value, which is an enumeration
    return " ".join(map(_text, value)) if isinstance(value, (list, tuple, set)) else f"{value}"

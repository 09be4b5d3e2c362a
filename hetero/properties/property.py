"""Property: a string key with a type, a default and a mutability."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from hetero.errors import PropertyError


class Mutability(enum.StrEnum):
    RO = "RO"
    RW = "RW"


class Property(str):
    """A key with its type (a callable that converts or raises ValueError), default value and mutability.

    It is its key, so it can stand wherever a key can. Called as OpenVINO's are, it gives the key, or with a value
    the pair of both: ``num_streams()``, ``num_streams(4)``.
    """

    convert: Callable[[Any], Any]
    default: Any
    mutability: Mutability
    accepts: str

    def __new__(
        cls,
        key: str,
        convert: Callable[[Any], Any],
        default: Any = None,
        mutability: Mutability = Mutability.RW,
        accepts: str = "",
    ) -> Property:
        self = super().__new__(cls, key)
        self.convert, self.default, self.mutability = convert, default, mutability
        self.accepts = accepts or getattr(convert, "accepts", convert.__name__)
        return self

    def __call__(self, *values: Any) -> str | tuple[str, Any]:
        """The key, or the pair of key and value. Raises PropertyError for a bad value and for a read-only key."""
        if not values:
            return str(self)
        if not self.is_mutable():
            raise PropertyError(f"property {self} can be read but not set")
        return str(self), self.checked(values[0] if len(values) == 1 else values)

    def read_only(self) -> Property:
        """The same property where it cannot be set."""
        return Property(str(self), self.convert, self.default, Mutability.RO, self.accepts)

    def is_mutable(self) -> bool:
        return self.mutability is Mutability.RW

    def checked(self, value: Any, owner: str = "") -> Any:
        """The value in the property's type. Raises PropertyError, naming the owner, where it cannot be had."""
        try:
            return self.convert(value)
        except (ValueError, TypeError, OverflowError):
            of_owner = f" of {owner}" if owner else ""
            raise PropertyError(
                f"property {self}{of_owner} cannot be {_shown(value)}: it takes {self.accepts}"
            ) from None


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)

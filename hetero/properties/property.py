"""Property: a string key with a type, a default value and a mutability."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from hetero.errors import PropertyError


class Mutability(enum.StrEnum):
    """RO: the property can only be read. RW: it can be read and set."""

    RO = "RO"
    RW = "RW"


class Property(str):
    """A property key with its type, default value and mutability.

    ``convert`` converts a value to the property's type or raises ValueError. ``accepts`` describes the accepted values
    in messages. As a str, a Property can be used as a dictionary key. As in OpenVINO, ``num_streams()`` returns the key
    and ``num_streams(4)`` the pair of key and value.
    """

    convert: Callable[..., Any]
    default: Any
    mutability: Mutability
    accepts: str

    def __new__(
        cls,
        key: str,
        convert: Callable[..., Any],
        default: Any = None,
        mutability: Mutability = Mutability.RW,
        accepts: str = "",
    ) -> Property:
        self = super().__new__(cls, key)
        self.convert, self.default, self.mutability = convert, default, mutability
        self.accepts = accepts or getattr(convert, "accepts", convert.__name__)
        return self

    def __call__(self, *values: Any) -> str | tuple[str, Any]:
        """Return the key, or the pair of key and value. Raises PropertyError for a bad value or a read-only key."""
        if not values:
            return str(self)
        if not self.is_mutable():
            raise PropertyError(f"property {self} is read-only")
        return str(self), self.checked(values[0] if len(values) == 1 else values)

    def __reduce__(self) -> tuple[type, tuple]:
        return Property, (str(self), self.convert, self.default, self.mutability, self.accepts)

    def read_only(self) -> Property:
        """Return a read-only copy of this property."""
        return Property(str(self), self.convert, self.default, Mutability.RO, self.accepts)

    def with_default(self, value: Any) -> Property:
        """Return a copy of this property with another default."""
        return Property(str(self), self.convert, value, self.mutability, self.accepts)

    def is_mutable(self) -> bool:
        return self.mutability is Mutability.RW

    def checked(self, value: Any, owner: str = "") -> Any:
        """Convert a value to the property's type. Raises PropertyError, naming the owner, if it cannot be converted."""
        try:
            return self.convert(value)
        except (ValueError, TypeError, OverflowError):
            of_owner = f" of {owner}" if owner else ""
            raise PropertyError(
                f"property {self}{of_owner} cannot be {_shown(value)}: it takes {self.accepts}"
            ) from None


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)

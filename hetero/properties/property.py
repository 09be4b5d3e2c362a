"""Property: a string key with a type, a default value and a mutability."""

from __future__ import annotations

import enum
from collections.abc import Callable, Container
from typing import Any

from hetero.core.ov_any import OVAny, plain
from hetero.system.errors import PropertyError


class Mutability(enum.StrEnum):
    """RO: the property can only be read. RW: it can be read and set. WO: only compilations read it."""

    RO = "RO"
    RW = "RW"
    WO = "WO"


class PropertyEnum(str, enum.Enum):  # noqa: UP042  # str() of a StrEnum is its text
    """A value of a property: a text, such as "LATENCY", that has a name and a number too, as in OpenVINO.

    ``str()`` returns the class and the name, like OpenVINO's. Members are defined by their text and number.
    """

    def __new__(cls, text: str, number: int) -> PropertyEnum:
        member = str.__new__(cls, text)
        member._value_ = number
        return member

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"

    @property
    def text(self) -> str:
        return str.__str__(self)


class _EveryValue:
    def __contains__(self, value: object) -> bool:
        return True


EVERY_VALUE = _EveryValue()


class Property(str):
    """A property key with its type, default value and mutability.

    ``convert`` converts a value to the property's type or raises ValueError. ``accepts`` describes the accepted values
    in messages. ``ignored`` has the values that are accepted as a hint only, without effect. As a str, a Property can
    be used as a dictionary key. As in OpenVINO, ``num_streams()`` returns the key and ``num_streams(4)`` the pair of
    key and value.
    """

    convert: Callable[..., Any]
    default: Any
    mutability: Mutability
    accepts: str
    ignored: Container[Any]

    def __new__(
        cls,
        key: str,
        convert: Callable[..., Any],
        default: Any = None,
        mutability: Mutability = Mutability.RW,
        accepts: str = "",
        ignored: Container[Any] = (),
    ) -> Property:
        self = super().__new__(cls, key)
        self.convert, self.default, self.mutability, self.ignored = convert, default, mutability, ignored
        self.accepts = accepts or getattr(convert, "accepts", convert.__name__)
        return self

    def __call__(self, *values: Any) -> str | tuple[str, OVAny]:
        """Return the key, or the pair of key and value. Raises PropertyError for a bad value or a read-only key."""
        if not values:
            return str(self)
        if not self.is_mutable():
            raise PropertyError(f"property {self} is read-only")
        return str(self), OVAny(self.checked(values[0] if len(values) == 1 else values))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return Property, (str(self), self.convert, self.default, self.mutability, self.accepts, self.ignored)

    def read_only(self) -> Property:
        """Return a read-only copy of this property."""
        return Property(str(self), self.convert, self.default, Mutability.RO, self.accepts, self.ignored)

    def with_default(self, value: Any) -> Property:
        """Return a copy of this property with another default."""
        return Property(str(self), self.convert, value, self.mutability, self.accepts, self.ignored)

    def is_mutable(self) -> bool:
        return self.mutability is not Mutability.RO

    def checked(self, value: Any, owner: str = "") -> Any:
        """Convert a value to the property's type. Raises PropertyError, naming the owner, if it cannot be converted."""
        value = plain(value)
        try:
            return self.convert(value)
        except (ValueError, TypeError, OverflowError):
            of_owner = f" of {owner}" if owner else ""
            raise PropertyError(
                f"property {self}{of_owner} cannot be {_shown(value)}: it takes {self.accepts}"
            ) from None


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)

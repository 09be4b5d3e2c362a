"""What turns a property's value, as a user writes it, into the property's type, or raises ValueError."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from typing import Any

from hetero.types import Type

_BOOLEANS = {"YES": True, "TRUE": True, "ON": True, "NO": False, "FALSE": False, "OFF": False}
# Other spellings of element types that OpenVINO takes.
_TYPE_NAMES = {"fp64": "f64", "fp32": "f32", "fp16": "f16", "undefined": "dynamic"}


def boolean(value: Any) -> bool:
    """True or False from a bool or one of OpenVINO's spellings, YES, NO, TRUE, FALSE."""
    if isinstance(value, bool):
        return value
    if str(value).upper() not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[str(value).upper()]


boolean.accepts = "YES or NO"  # type: ignore[attr-defined]


def member_of(kind: type[enum.StrEnum]) -> Callable[[Any], enum.StrEnum]:
    """A converter to a member of the enumeration, from it, its value or its name in any case."""
    by_name = {name.upper(): member for name, member in kind.__members__.items()}
    by_name |= {member.value.upper(): member for member in kind}

    def convert(value: Any) -> enum.StrEnum:
        if str(value).upper() not in by_name:
            raise ValueError
        return by_name[str(value).upper()]

    convert.accepts = f"one of {', '.join(kind)}"  # type: ignore[attr-defined]
    return convert


def set_of(kind: type[enum.StrEnum]) -> Callable[[Any], set[enum.StrEnum]]:
    """A converter to a set of members of the enumeration, from one, from several, or from names with commas."""
    convert_one = member_of(kind)

    def convert(value: Any) -> set[enum.StrEnum]:
        several = value.split(",") if isinstance(value, str) else value
        return {convert_one(one) for one in (str(one).strip() for one in several) if one}

    convert.accepts = f"any of {', '.join(kind)}"  # type: ignore[attr-defined]
    return convert


def element_type(*accepted: Type) -> Callable[[Any], Type]:
    """A converter to one of the element types, from it, its name or a numpy dtype."""

    def convert(value: Any) -> Type:
        found = Type(_TYPE_NAMES.get(value.lower(), value.lower()) if isinstance(value, str) else value)
        if found not in accepted:
            raise ValueError
        return found

    convert.accepts = f"one of {', '.join(map(str, accepted))}"  # type: ignore[attr-defined]
    return convert


def count(value: Any) -> int:
    """A whole number of at least 0."""
    if isinstance(value, bool) or int(value) != float(value) or int(value) < 0:
        raise ValueError
    return int(value)


count.accepts = "a whole number of at least 0"  # type: ignore[attr-defined]


def names(value: Any) -> tuple[str, ...]:
    """A tuple of strings from such a sequence, or from one string with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(str(part).strip() for part in parts if str(part).strip())


names.accepts = "names with commas between them"  # type: ignore[attr-defined]


def mapping(value: Any) -> dict:
    """A dictionary."""
    if not isinstance(value, Mapping):
        raise ValueError
    return dict(value)


mapping.accepts = "a mapping"  # type: ignore[attr-defined]


def by_device(value: Any) -> dict[str, dict[str, Any]]:
    """A dictionary of properties for each device, from such a mapping or from JSON text."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except RecursionError:
        raise ValueError from None
    return {str(device): mapping(properties) for device, properties in mapping(found).items()}


by_device.accepts = "a mapping from device names to their properties"  # type: ignore[attr-defined]

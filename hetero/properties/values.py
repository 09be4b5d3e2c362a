"""Converters of property values. Each returns the value in the property's type or raises ValueError.

The attribute ``accepts`` of a converter describes the accepted values in messages.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hetero.core.types import Type
from hetero.properties.property import PropertyEnum

Converter = TypeVar("Converter", bound=Callable[[Any], Any])

_BOOLEANS = {"YES": True, "TRUE": True, "ON": True, "NO": False, "FALSE": False, "OFF": False} | {"1": True, "0": False}
# Aliases of element types that OpenVINO accepts.
_TYPE_NAMES = {"fp64": "f64", "fp32": "f32", "fp16": "f16", "undefined": "dynamic"}


def accepting(accepts: str) -> Callable[[Converter], Converter]:
    """Return a decorator that sets the attribute ``accepts`` of a converter."""

    def decorate(converter: Converter) -> Converter:
        converter.accepts = accepts  # type: ignore[attr-defined]  # an attribute of a function
        return converter

    return decorate


@accepting("YES or NO")
def boolean(value: Any) -> bool:
    """Convert a bool or one of OpenVINO's spellings, such as YES, NO, TRUE, FALSE, 1, 0."""
    if isinstance(value, bool):
        return value
    if str(value).upper() not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[str(value).upper()]


def member_of(kind: type[PropertyEnum | enum.StrEnum]) -> Callable[[Any], Any]:
    """Return a converter to a member of the enumeration, from the member, its text or its name in any case."""
    by_name = {name.upper(): member for name, member in kind.__members__.items()}
    by_name |= {member.upper(): member for member in kind}

    @accepting(f"one of {', '.join(kind)}")
    def convert(value: Any) -> Any:
        if not isinstance(value, str) or value.upper() not in by_name:
            raise ValueError
        return by_name[value.upper()]

    return convert


def set_of(kind: type[PropertyEnum]) -> Callable[[Any], set[PropertyEnum]]:
    """Return a converter to a set of members, from a sequence or from a string with commas."""
    convert_one = member_of(kind)

    @accepting(f"any of {', '.join(kind)}")
    def convert(value: Any) -> set[PropertyEnum]:
        return {convert_one(name) for name in names(value)}

    return convert


def element_type(*accepted: Type) -> Callable[[Any], Type]:
    """Return a converter to one of the element types, from the Type, its name or a numpy dtype."""

    @accepting(f"one of {', '.join(map(Type.to_string, accepted))}")
    def convert(value: Any) -> Type:
        converted = Type(_TYPE_NAMES.get(value.lower(), value.lower()) if isinstance(value, str) else value)
        if converted not in accepted:
            raise ValueError
        return converted

    return convert


@accepting("an integer of at least 0")
def count(value: Any) -> int:
    """Convert to an integer of at least 0."""
    if isinstance(value, bool) or int(value) != float(value) or int(value) < 0:
        raise ValueError
    return int(value)


@accepting("a number")
def number(value: Any) -> float:
    """Convert a number, or the text of one."""
    if isinstance(value, bool):
        raise ValueError
    return float(value)


@accepting("names separated by commas")
def names(value: Any) -> tuple[str, ...]:
    """Convert a sequence of strings, or one string with commas, to a tuple without empty strings."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(text for part in parts if (text := f"{part}".strip()))


@accepting("a mapping")
def mapping(value: Any) -> dict[Any, Any]:
    """Convert a mapping to a dictionary."""
    if not isinstance(value, Mapping):
        raise ValueError
    return dict(value)


@accepting("a mapping from device names to their properties")
def by_device(value: Any) -> dict[str, dict[str, Any]]:
    """Convert a mapping, or JSON text, to a dictionary of properties for each device."""
    try:
        devices = json.loads(value) if isinstance(value, str) else value
    except RecursionError:
        raise ValueError from None
    return {str(device): mapping(properties) for device, properties in mapping(devices).items()}

"""PropertyTable: the properties of one device or compiled model, with their values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from hetero.errors import PropertyError
from hetero.properties.property import Mutability, Property

supported_properties = Property("SUPPORTED_PROPERTIES", dict, {}, Mutability.RO)


class PropertyTable:
    """The properties of one device or compiled model, with their values. Of two with one key, the later counts."""

    def __init__(self, properties: Iterable[Property], owner: str) -> None:
        self._properties = {str(p): p for p in (supported_properties, *properties)}
        self._values = {key: p.default for key, p in self._properties.items()}
        self._given: set[str] = set()
        self._settled: set[str] = set()
        self._owner = owner

    def settled(self, owner: str, more: Iterable[Property] = ()) -> PropertyTable:
        """A copy for what was made with these properties, with more of its own: all can be read and none set."""
        properties = [p.read_only() for p in (*self._properties.values(), *more)]
        table = PropertyTable(properties, owner)
        table._values |= self._values
        table._given |= self._given
        table._settled = {key for key, p in self._properties.items() if p.is_mutable()}
        return table

    def get(self, key: str) -> Any:
        """The value of a key; SUPPORTED_PROPERTIES has "RO" or "RW" by key. Raises PropertyError for an unknown one."""
        if self._find(key) == supported_properties:
            return {key: str(p.mutability) for key, p in self._properties.items()}
        return self._values[str(key)]

    def value_of(self, property: Property) -> Any:
        """The value of a property, which is its default where the table does not have it."""
        return self._values.get(str(property), property.default)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set several properties, all or none. Raises PropertyError for an unknown or read-only key or a bad value."""
        converted = {}
        for key, value in values.items():
            found = self._find(key)
            if not found.is_mutable():
                hint = ": give it to compile_model" if key in self._settled else ""
                raise PropertyError(f"property {key} of {self._owner} can be read but not set{hint}")
            converted[str(key)] = found.checked(value, self._owner)
        self._values.update(converted)
        self._given |= converted.keys()

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set values that only the device itself may set, the read-only ones among them."""
        for key, value in values.items():
            self._values[str(self._find(key))] = value

    def given(self) -> dict[str, Any]:
        """The properties that were set, without the defaults and what the device itself says."""
        return {key: self._values[key] for key in self._given}

    def __contains__(self, key: object) -> bool:
        return key in self._properties

    def _find(self, key: str) -> Property:
        if key in self._properties:
            return self._properties[key]
        near = difflib.get_close_matches(str(key), self._properties, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(self._properties))}"
        raise PropertyError(f"{self._owner} has no property {key}{hint}")

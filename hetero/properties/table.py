"""PropertyTable: the properties of one device or compiled model, with their values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hetero.properties.property import Mutability, Property
from hetero.system.errors import PropertyError
from hetero.system.messages import suggest

supported_properties = Property("SUPPORTED_PROPERTIES", dict, {}, Mutability.RO)


class PropertyTable:
    """The properties of one device or compiled model, with their values.

    If two properties have the same key, the later one is used. ``owner`` names the device or model in messages.
    """

    def __init__(self, properties: Iterable[Property], owner: str) -> None:
        self._properties = {str(p): p for p in (supported_properties, *properties)}
        self._values = {key: p.default for key, p in self._properties.items()}
        self._explicit: set[str] = set()
        # Keys that could be set before read_only_copy().
        self._frozen: set[str] = set()
        self._owner = owner

    def read_only_copy(
        self, owner: str, more: Iterable[Property] = (), mutable: Collection[Property] = ()
    ) -> PropertyTable:
        """Return a copy with ``more`` properties, for an object that was created with these values.

        It is read-only except for the properties in ``mutable``.
        """
        properties = [p if p in mutable else p.read_only() for p in (*self._properties.values(), *more)]
        table = PropertyTable(properties, owner)
        table._values |= self._values
        table._explicit |= self._explicit
        table._frozen = {key for key, p in self._properties.items() if p.is_mutable() and key not in mutable}
        return table

    def get(self, key: str) -> Any:
        """Return the value of a key; for SUPPORTED_PROPERTIES, "RO" or "RW" by key. Raises PropertyError if unknown."""
        if self._find(key) == supported_properties:
            return {key: str(p.mutability) for key, p in self._properties.items()}
        return self._values[str(key)]

    def value_of(self, property: Property) -> Any:
        """Return the value of a property, or its default if the table does not have the property."""
        return self._values.get(str(property), property.default)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set several properties, all or none.

        Raises PropertyError for an unknown or read-only key or a bad value.
        """
        converted = {}
        for key, value in values.items():
            found = self._find(key)
            if not found.is_mutable():
                hint = "; set it in compile_model()" if key in self._frozen else ""
                raise PropertyError(f"property {key} of {self._owner} is read-only{hint}")
            converted[str(key)] = found.checked(value, self._owner)
        self._values.update(converted)
        self._explicit |= converted.keys()

    def set_internal(self, values: Mapping[str, Any]) -> None:
        """Set values on behalf of the device itself, including read-only ones, without conversion."""
        for key, value in values.items():
            self._values[str(self._find(key))] = value

    def add(self, property: Property, value: Any) -> None:
        """Add a property with a value of its type."""
        self._properties[property] = property
        self._values[property] = value

    def explicit(self) -> dict[str, Any]:
        """Return the properties that a user set, without defaults, hints without effect, and internal values."""
        ignored = self.ignored(self._explicit)
        return {key: value for key, value in self.set_by_user().items() if key not in ignored}

    def set_by_user(self) -> dict[str, Any]:
        """Return the properties that a user set, and hints without effect among them."""
        return {key: self._values[key] for key in self._explicit}

    def ignored(self, keys: Iterable[str]) -> list[str]:
        """Return those of the keys whose values are hints without effect."""
        return [str(key) for key in keys if self._values[str(key)] in self._properties[str(key)].ignored]

    def with_values(self) -> list[Property]:
        """Return the properties, each with its value as the default."""
        return [p.with_default(self._values[key]) for key, p in self._properties.items()]

    def __contains__(self, key: object) -> bool:
        return key in self._properties

    def _find(self, key: str) -> Property:
        if key in self._properties:
            return self._properties[key]
        raise PropertyError(f"{self._owner} has no property {key}; {suggest(key, sorted(self._properties))}")

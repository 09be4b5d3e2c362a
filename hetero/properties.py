"""Properties: string keys with a type, a default and a mutability, and the table of them that a device has.

The keys are OpenVINO's. A Property is its key (a str), so it can stand wherever a key can.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hetero.errors import PropertyError


class Mutability(enum.Enum):
    RO = "RO"
    RW = "RW"


class Property(str):
    """A key with its type (a callable that converts or raises ValueError), default value and mutability."""

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

    def is_mutable(self) -> bool:
        return self.mutability is Mutability.RW

    def with_default(self, default: Any) -> Property:
        """The same property with another default, for a device whose default differs."""
        return Property(str(self), self.convert, default, self.mutability, self.accepts)


def boolean(value: Any) -> bool:
    """True or False from a bool or one of OpenVINO's spellings, YES, NO, TRUE, FALSE."""
    if isinstance(value, bool):
        return value
    known = {"YES": True, "TRUE": True, "ON": True, "NO": False, "FALSE": False, "OFF": False}
    if str(value).upper() not in known:
        raise ValueError
    return known[str(value).upper()]


boolean.accepts = "YES or NO"  # type: ignore[attr-defined]


def choice(*options: str) -> Callable[[Any], str]:
    """A converter that takes one of the strings, in any case."""

    def convert(value: Any) -> str:
        if str(value).upper() not in options:
            raise ValueError
        return str(value).upper()

    convert.accepts = f"one of {', '.join(options)}"  # type: ignore[attr-defined]
    return convert


def positive(value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or int(value) < 1:
        raise ValueError
    return int(value)


positive.accepts = "a whole number of at least 1"  # type: ignore[attr-defined]


def names(value: Any) -> tuple[str, ...]:
    """A tuple of strings from such a sequence, or from one string with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(str(part).strip() for part in parts if str(part).strip())


names.accepts = "names with commas between them"  # type: ignore[attr-defined]


def mapping(value: Any) -> dict:
    """A dictionary."""
    return dict(value)


supported_properties = Property("SUPPORTED_PROPERTIES", tuple, (), Mutability.RO)
available_devices = Property("AVAILABLE_DEVICES", names, (), Mutability.RO)
full_device_name = Property("FULL_DEVICE_NAME", str, "", Mutability.RO)
device_architecture = Property("DEVICE_ARCHITECTURE", str, "", Mutability.RO)
device_type = Property("DEVICE_TYPE", str, "", Mutability.RO)
optimization_capabilities = Property("OPTIMIZATION_CAPABILITIES", names, (), Mutability.RO)
execution_devices = Property("EXECUTION_DEVICES", names, (), Mutability.RO)
network_name = Property("NETWORK_NAME", str, "", Mutability.RO)
optimal_number_of_infer_requests = Property("OPTIMAL_NUMBER_OF_INFER_REQUESTS", positive, 1, Mutability.RO)

device_id = Property("DEVICE_ID", str, "")
enable_profiling = Property("PERF_COUNT", boolean, False)
num_streams = Property("NUM_STREAMS", positive, 1)
inference_num_threads = Property("INFERENCE_NUM_THREADS", int, 0)
cache_dir = Property("CACHE_DIR", str, "")
priorities = Property("MULTI_DEVICE_PRIORITIES", names, ())
disabled_passes = Property("DISABLED_PASSES", names, ())
disable_transformations = Property("DISABLE_TRANSFORMATIONS", boolean, False)
device_properties = Property("DEVICE_PROPERTIES", mapping, {})


class PropertyTable:
    """The properties of one device or compiled model, with their values."""

    def __init__(self, properties: Iterable[Property], owner: str) -> None:
        self._properties = {str(p): p for p in properties}
        self._properties.setdefault(str(supported_properties), supported_properties)
        self._values = {key: p.default for key, p in self._properties.items()}
        self._owner = owner

    def copy(self) -> PropertyTable:
        table = PropertyTable(self._properties.values(), self._owner)
        table._values.update(self._values)
        return table

    def get(self, key: str) -> Any:
        """The value of a key. Raises PropertyError for an unknown one."""
        if self._find(key) == supported_properties:
            return tuple(self._properties.values())
        return self._values[str(key)]

    def set(self, values: Mapping[str, Any]) -> None:
        """Set several properties, all or none. Raises PropertyError for an unknown or read-only key or a bad value."""
        converted = {}
        for key, value in values.items():
            found = self._find(key)
            if not found.is_mutable():
                raise PropertyError(f"property {key} of {self._owner} can be read but not set")
            converted[str(key)] = self._convert(found, value)
        self._values.update(converted)

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set values that only the device itself may set, the read-only ones among them."""
        for key, value in values.items():
            self._values[str(self._find(key))] = value

    def __contains__(self, key: object) -> bool:
        return key in self._properties

    def _find(self, key: str) -> Property:
        if key in self._properties:
            return self._properties[key]
        near = difflib.get_close_matches(str(key), self._properties, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(self._properties))}"
        raise PropertyError(f"{self._owner} has no property {key}{hint}")

    def _convert(self, found: Property, value: Any) -> Any:
        try:
            return found.convert(value)
        except (ValueError, TypeError):
            raise PropertyError(
                f"property {found} of {self._owner} cannot be {value!r}: it takes {found.accepts}"
            ) from None

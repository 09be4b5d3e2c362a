"""Protobuf messages by schemas of our own: bytes in them are views of the file, so weights are not copied.

Wire format: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

# Maximum nesting of messages, which is protobuf's own limit.
MAX_NESTING = 100
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
FIXED_SIZES = {FIXED64: 8, FIXED32: 4}


class WireError(ValueError):
    """Bytes that are not a protobuf message."""


class Field(NamedTuple):
    """A field of a message: its number, its wire type, the offset of its key, and the begin and end of its payload."""

    number: int
    wire_type: int
    key: int
    begin: int
    end: int


class TruncatedField(WireError):
    """A field of this number that ends after the end of its message."""

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(problem)
        self.number = number


def fields(data: memoryview, begin: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message between two offsets. Raises WireError."""
    offset = begin
    while offset < end:
        # Most keys and lengths are one byte: a call for each would be half of the time.
        key, payload = data[offset], offset + 1
        if key >= 0x80:
            key, payload = read_varint(data, offset, end)
        number, wire_type = key >> 3, key & 7
        if wire_type == LENGTH:
            if payload < end and data[payload] < 0x80:
                length, payload = data[payload], payload + 1
            else:
                length, payload = read_varint(data, payload, end)
            after = payload + length
        elif wire_type == VARINT:
            _, after = read_varint(data, payload, end)
        elif wire_type in FIXED_SIZES:
            after = payload + FIXED_SIZES[wire_type]
        else:
            raise WireError(f"byte {offset} is not the beginning of a field")
        if after > end:
            raise TruncatedField(
                number, f"the field at byte {offset} should end at byte {after}, but its message ends at {end}"
            )
        yield Field(number, wire_type, offset, payload, after)
        offset = after


def read_varint(data: memoryview, offset: int, end: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it. Raises WireError."""
    value = 0
    for shift in range(0, 70, 7):
        if offset >= end:
            raise WireError(f"the message ends within a number at byte {offset}")
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
    raise WireError(f"the number before byte {offset} is too long")


class Schema:
    """The fields of a message, by name: their numbers and kinds.

    ``Schema("NodeDef", name=(1, "string"), input=(3, ["string"]), attr=(5, {"string": ATTR_VALUE}))``. A kind is "int",
    "bool", "float", "double", "fixed32", "string", "bytes" or a Schema; in a list for a repeated field; as
    {"string": kind} for a map. Other fields of a message are skipped. ``extend`` adds fields of recursive messages.
    """

    def __init__(self, name: str, /, **members: tuple[int, Any]) -> None:
        self.name = name
        self.members: dict[int, _Member] = {}
        self.defaults: dict[str, Callable[[], Any]] = {}
        self.extend(**members)

    def extend(self, /, **members: tuple[int, Any]) -> None:
        for name, (number, kind) in members.items():
            member = _Member(name, kind)
            self.members[number] = member
            self.defaults[name] = member.default


class _Member:
    """A field of a schema."""

    def __init__(self, name: str, kind: Any) -> None:
        self.name, self.is_repeated, self.is_map = name, isinstance(kind, list), isinstance(kind, dict)
        self.kind: Any = kind[0] if self.is_repeated else kind
        if self.is_map:
            ((key, value),) = kind.items()
            self.kind = Schema("Entry", key=(1, key), value=(2, value))

    def default(self) -> Any:
        if self.is_repeated or self.is_map:
            return [] if self.is_repeated else {}
        return Message(self.kind, {}) if isinstance(self.kind, Schema) else _DEFAULTS[self.kind]


_DEFAULTS = {
    "int": 0, "bool": False, "float": 0.0, "double": 0.0, "fixed32": 0, "string": "", "bytes": memoryview(b""),
}  # fmt: skip
_FIXED_FORMATS = {"float": "<f", "double": "<d", "fixed32": "<I"}
_WIRE_TYPES = {
    "int": VARINT, "bool": VARINT, "float": FIXED32, "double": FIXED64, "fixed32": FIXED32, "string": LENGTH,
    "bytes": LENGTH,
}  # fmt: skip


class Message:
    """A decoded message: its fields are attributes; those that it does not have, have their default values."""

    __slots__ = ("_schema", "_values")

    def __init__(self, schema: Schema, values: Mapping[str, Any]) -> None:
        self._schema, self._values = schema, values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # as copy and pickle ask for, before there are values
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        if name not in self._schema.defaults:
            raise AttributeError(f"{self._schema.name} has no field {name}")
        return self._schema.defaults[name]()

    def has(self, name: str) -> bool:
        """Return whether the message has a value for a field."""
        return name in self._values

    def which(self, *names: str) -> str | None:
        """Return which of the fields of a oneof the message has, None for none."""
        return next((name for name in names if name in self._values), None)

    def __repr__(self) -> str:
        return f"{self._schema.name}({', '.join(self._values)})"


def decode(data: memoryview, schema: Schema) -> Message:
    """Return the message in ``data``. Raises WireError if it is damaged or truncated."""
    return _decode(data, 0, len(data), schema, 0)


def _decode(data: memoryview, begin: int, end: int, schema: Schema, depth: int) -> Message:
    if depth > MAX_NESTING:
        raise WireError(f"messages are nested more than {MAX_NESTING} deep")
    values: dict[str, Any] = {}
    for field in fields(data, begin, end):
        member = schema.members.get(field.number)
        if member is None:
            continue
        kind = member.kind
        if isinstance(kind, Schema):
            _expect(field, LENGTH, schema, member)
            value: Any = _decode(data, field.begin, field.end, kind, depth + 1)
            if member.is_map:
                values.setdefault(member.name, {})[value.key] = value.value
                continue
        elif member.is_repeated and field.wire_type == LENGTH and _WIRE_TYPES[kind] != LENGTH:
            values.setdefault(member.name, []).extend(_packed(data, field, kind))
            continue
        else:
            _expect(field, _WIRE_TYPES[kind], schema, member)
            value = _scalar(data, field, kind)
        if member.is_repeated:
            values.setdefault(member.name, []).append(value)
        else:
            values[member.name] = value
    return Message(schema, values)


def _expect(field: Field, wire_type: int, schema: Schema, member: _Member) -> None:
    if field.wire_type != wire_type:
        raise WireError(f"field {member.name} of {schema.name} at byte {field.key} has another type than it should")


def _scalar(data: memoryview, field: Field, kind: str) -> Any:
    if kind == "bytes":
        return data[field.begin : field.end]
    if kind == "string":
        try:
            return str(data[field.begin : field.end], "utf-8")
        except UnicodeDecodeError as error:
            raise WireError(f"the text at byte {field.begin} is not UTF-8") from error
    if kind in _FIXED_FORMATS:
        return struct.unpack_from(_FIXED_FORMATS[kind], data, field.begin)[0]
    return _integer(read_varint(data, field.begin, field.end)[0], kind)


def _packed(data: memoryview, field: Field, kind: str) -> list[Any]:
    """Return the numbers of a repeated field that stand together."""
    if kind in _FIXED_FORMATS:
        element = np.dtype(_FIXED_FORMATS[kind])
        if (field.end - field.begin) % element.itemsize:
            raise WireError(f"the numbers at byte {field.begin} end within one")
        return np.frombuffer(data[field.begin : field.end], element).tolist()
    found, offset = [], field.begin
    while offset < field.end:
        value, offset = read_varint(data, offset, field.end)
        found.append(_integer(value, kind))
    return found


def _integer(value: int, kind: str) -> int | bool:
    """Return a number of 64 bits as a signed one."""
    if kind == "bool":
        return bool(value)
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value

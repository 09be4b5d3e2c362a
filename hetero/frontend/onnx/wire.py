"""Protobuf wire format of ONNX files: removal of large tensors before the file is parsed.

Parsing the whole file would copy every weight. Here the bytes of large tensors are replaced by references to their
offset in the file: external data of ONNX without a location. What is not replaced is only copied, so whatever holds no
large tensor is left to protobuf. Wire format: https://protobuf.dev/programming-guides/encoding, field numbers:
onnx.proto.
"""

from __future__ import annotations

from typing import Any

from hetero.frontend.protobuf import LENGTH, MAX_NESTING, VARINT, TruncatedField, WireError, fields

# Minimum size in bytes of a payload that is detached.
MIN_DETACHED_SIZE = 1024

# The fields on the path to tensors: a dict from field number to the fields of its message.
_TENSOR: dict[int, Any] = {}
_ATTRIBUTE: dict[int, Any] = {5: _TENSOR, 10: _TENSOR}
_NODE: dict[int, Any] = {5: _ATTRIBUTE}
_GRAPH: dict[int, Any] = {1: _NODE, 5: _TENSOR}
_ATTRIBUTE |= {6: _GRAPH, 11: _GRAPH}
_FUNCTION: dict[int, Any] = {7: _NODE, 11: _ATTRIBUTE}
_MODEL: dict[int, Any] = {7: _GRAPH, 25: _FUNCTION}

_GRAPH_OF_MODEL = 7
# The wire type of each field of ModelProto.
_MODEL_WIRE_TYPES = {1: VARINT, 5: VARINT} | dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25, 26), LENGTH)
_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION, _EXTERNAL = 9, 13, 14, 1
# The types FLOATS, INTS and STRINGS of an attribute. Protobuf writes the type last.
_ENDS_OF_LISTS = tuple(bytes([0xA0, 0x01, kind]) for kind in (6, 7, 8))


def looks_like_model(data: memoryview) -> bool:
    """Return whether the bytes are a ModelProto with a graph, complete or truncated within the graph."""
    try:
        for field in fields(data, 0, len(data)):
            if _MODEL_WIRE_TYPES.get(field.number) != field.wire_type:
                return False
            if field.number == _GRAPH_OF_MODEL:
                return True
    except WireError as error:
        return isinstance(error, TruncatedField) and error.number == _GRAPH_OF_MODEL
    return False


def detach_tensors(data: memoryview) -> bytes:
    """Return the serialized ModelProto with its large tensors replaced by external data at an offset of ``data``.

    Raises WireError if the bytes are not a message or are truncated.
    """
    return b"".join(_rewrite(data, 0, len(data), _MODEL, 0))


def _rewrite(data: memoryview, begin: int, end: int, message: dict[int, Any], depth: int) -> list[bytes | memoryview]:
    """Return the message between two offsets in pieces, with its large tensors replaced by references."""
    if depth > MAX_NESTING:
        raise WireError(f"graphs are nested more than {MAX_NESTING} deep")
    pieces: list[bytes | memoryview] = []
    copied = begin
    for field in fields(data, begin, end):
        if field.wire_type != LENGTH or field.end - field.begin < MIN_DETACHED_SIZE or field.number not in message:
            continue
        pieces.append(data[copied : field.key])
        inner = message[field.number]
        if inner is _TENSOR:
            content = _rewrite_tensor(data, field.begin, field.end)
        elif inner is _ATTRIBUTE and bytes(data[field.end - 3 : field.end]) in _ENDS_OF_LISTS:
            content = [data[field.begin : field.end]]  # to walk the numbers of trees takes longer than to read them
        else:
            content = _rewrite(data, field.begin, field.end, inner, depth + 1)
        pieces += [_length_prefix(field.number, sum(map(len, content))), *content]
        copied = field.end
    pieces.append(data[copied:end])
    return pieces


def _rewrite_tensor(data: memoryview, begin: int, end: int) -> list[bytes | memoryview]:
    """Return the TensorProto between two offsets in pieces, with its bytes replaced by a reference if they are large.

    The last value of a field counts, as in protobuf, so the reference comes after all other fields.
    """
    members = list(fields(data, begin, end))
    last = {field.number: field for field in members}
    raw, location = last.get(_RAW_DATA), last.get(_DATA_LOCATION)
    is_external = location is not None and data[location.begin] == _EXTERNAL
    if raw is None or raw.wire_type != LENGTH or raw.end - raw.begin < MIN_DETACHED_SIZE or is_external:
        return [data[begin:end]]
    replaced = (_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION)
    kept: list[bytes | memoryview] = [data[one.key : one.end] for one in members if one.number not in replaced]
    return [*kept, _reference(raw.begin, raw.end - raw.begin)]


def _reference(offset: int, length: int) -> bytes:
    """Return the serialized fields of a TensorProto that refer to external data at an offset of the file."""
    entries = (_entry("offset", offset), _entry("length", length))
    location = _varint(_DATA_LOCATION << 3 | VARINT) + _varint(_EXTERNAL)
    return b"".join(_length_prefix(_EXTERNAL_DATA, len(entry)) + entry for entry in entries) + location


def _entry(key: str, value: int) -> bytes:
    """Return a serialized StringStringEntryProto."""
    texts = key.encode(), str(value).encode()
    return b"".join(_length_prefix(number, len(text)) + text for number, text in enumerate(texts, 1))


def _length_prefix(number: int, length: int) -> bytes:
    """Return the key and the length that precede a payload of a length-delimited field."""
    return _varint(number << 3 | LENGTH) + _varint(length)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)

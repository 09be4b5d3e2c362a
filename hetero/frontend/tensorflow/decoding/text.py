"""Models in protobuf's text format, which the protobuf package parses by descriptors made of our schemas."""

from __future__ import annotations

import re
from typing import Any

from hetero.frontend.protobuf import Message, Schema, decode
from hetero.frontend.tensorflow.decoding.messages import ATTRIBUTE, FUNCTION, GRAPH, META_GRAPH, SAVED_MODEL
from hetero.system.errors import FrontendError

# The first field of a text, and the message that it belongs to.
_BEGINNINGS = {
    "node": GRAPH, "versions": GRAPH, "library": GRAPH, "meta_info_def": META_GRAPH, "graph_def": META_GRAPH,
    "saved_model_schema_version": SAVED_MODEL, "meta_graphs": SAVED_MODEL,
}  # fmt: skip
_BEGINNING = re.compile(rf"(?:\s|#[^\n]*\n)*({'|'.join(_BEGINNINGS)})\s*[:{{<]")
# The number of bytes that decide whether a file is such a text.
_PREFIX = 4096
# Fields whose values are names of types in a text.
_ENUMERATIONS = {
    ("TensorProto", "dtype"), ("AttrValue", "type"), ("ListValue", "type"), ("ArgDef", "type"), ("TensorInfo", "dtype"),
}  # fmt: skip
# The names of the types by number, as in types.proto, without their prefix DT_.
_TYPE_NAMES = (
    "INVALID", "FLOAT", "DOUBLE", "INT32", "UINT8", "INT16", "INT8", "STRING", "COMPLEX64", "INT64", "BOOL",
    "QINT8", "QUINT8", "QINT32", "BFLOAT16", "QINT16", "QUINT16", "UINT16", "COMPLEX128", "HALF", "RESOURCE",
    "VARIANT", "UINT32", "UINT64", "FLOAT8_E5M2", "FLOAT8_E4M3FN", "FLOAT8_E4M3FNUZ", "FLOAT8_E4M3B11FNUZ",
    "FLOAT8_E5M2FNUZ", "INT4", "UINT4", "INT2", "UINT2",
)  # fmt: skip
# Messages that the schemas have as bytes, because they are decoded when they are used.
_LAZY = {("NodeDef", "value"): ATTRIBUTE, ("FunctionDefLibrary", "function"): FUNCTION}
_KINDS = {"int": "INT64", "bool": "BOOL", "float": "FLOAT", "double": "DOUBLE", "fixed32": "FIXED32",
          "string": "STRING", "bytes": "BYTES"}  # fmt: skip


def text_schema(data: memoryview) -> Schema | None:
    """Return the schema of a text, None if the bytes are none."""
    match = _BEGINNING.match(bytes(data[:_PREFIX]).decode("utf-8", "replace"))
    return _BEGINNINGS[match[1]] if match else None


def parse_text(data: memoryview, schema: Schema) -> Message:
    """Return the message of a text. Raises FrontendError if it is not valid."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    file: Any = descriptor_pb2.FileDescriptorProto(name="tensorflow.proto", package="tensorflow", syntax="proto2")
    _add_enumeration(file)
    _add_message(file, schema, set())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.{schema.name}"))()
    try:
        text_format.Parse(bytes(data), message, allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise FrontendError(f"its text is not valid: {error}") from error
    return decode(memoryview(message.SerializeToString(deterministic=True)), schema)


def _add_enumeration(file: Any) -> None:
    kind = file.enum_type.add(name="DataType")
    for number, name in enumerate(_TYPE_NAMES):
        kind.value.add(name=f"DT_{name}", number=number)
        if number:
            kind.value.add(name=f"DT_{name}_REF", number=number + 100)


def _add_message(file: Any, schema: Schema, done: set[str]) -> None:
    """Add the descriptors of a schema and of those in its fields."""
    if schema.name in done:
        return
    done.add(schema.name)
    message = file.message_type.add(name=schema.name)
    for number, member in schema.members.items():
        field = message.field.add(name=member.name, number=number)
        field.label = field.LABEL_REPEATED if member.is_repeated or member.is_map else field.LABEL_OPTIONAL
        if member.is_map:
            name = "".join(part.capitalize() for part in member.name.split("_")) + "Entry"
            field.type, field.type_name = field.TYPE_MESSAGE, f".tensorflow.{schema.name}.{name}"
            entry = message.nested_type.add(name=name)
            entry.options.map_entry = True
            for key, part in member.kind.members.items():
                kind = _LAZY.get((schema.name, part.name), part.kind)
                _set_kind(entry.field.add(name=part.name, number=key, label=field.LABEL_OPTIONAL), "", kind)
                _add_kind(file, kind, done)
        else:
            kind = _LAZY.get((schema.name, member.name), member.kind)
            _set_kind(field, schema.name, kind)
            _add_kind(file, kind, done)


def _add_kind(file: Any, kind: Any, done: set[str]) -> None:
    if isinstance(kind, Schema):
        _add_message(file, kind, done)


def _set_kind(field: Any, schema_name: str, kind: Any) -> None:
    if isinstance(kind, Schema):
        field.type, field.type_name = field.TYPE_MESSAGE, f".tensorflow.{kind.name}"
    elif (schema_name, field.name) in _ENUMERATIONS:
        field.type, field.type_name = field.TYPE_ENUM, ".tensorflow.DataType"
    else:
        field.type = getattr(field, f"TYPE_{_KINDS[kind]}")

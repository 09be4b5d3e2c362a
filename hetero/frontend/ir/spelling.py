"""Spelling of operation names, element types and name lists in IR files."""

from __future__ import annotations

from collections.abc import Iterable

from hetero.core.types import Type

# Operations whose layer type in IR files differs from their name in the opsets.
_TYPE_NAMES = {"Constant": "Const", "PRelu": "PReLU", "Relu": "ReLU", "Softmax": "SoftMax"}
_OPERATION_NAMES = {layer_type: name for name, layer_type in _TYPE_NAMES.items()}
_PRECISIONS = {
    "boolean": "BOOL", "f16": "FP16", "f32": "FP32", "f64": "FP64", "u1": "BIN", "dynamic": "UNSPECIFIED",
}  # fmt: skip


def type_name(operation: str) -> str:
    """Return the ``type`` attribute of a layer for an operation name."""
    return _TYPE_NAMES.get(operation, operation)


def operation_name(layer_type: str) -> str:
    """Return the operation name for the ``type`` attribute of a layer."""
    return _OPERATION_NAMES.get(layer_type, layer_type)


def precision(element_type: Type) -> str:
    """Return the ``precision`` attribute of a port for an element type."""
    return _PRECISIONS.get(element_type.value, element_type.value.upper())


def join_names(names: Iterable[str], separator: str = ",") -> str:
    """Join names by commas; a comma within a name is escaped by a backslash."""
    return separator.join(name.replace(",", "\\,") for name in names)


def split_names(text: str) -> list[str]:
    """Return the names that ``join_names`` joined."""
    return [part.removeprefix(" ") for part in split_at_commas(text) if part]


def split_at_commas(text: str) -> list[str]:
    """Split a text at its unescaped commas and unescape the others."""
    return [part.replace("\0", ",") for part in text.replace("\\,", "\0").split(",")]

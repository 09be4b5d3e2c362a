"""How IR files spell the names of types and operations, and lists."""

from __future__ import annotations

from collections.abc import Iterable

from hetero.types import Type

# Operations that the files call otherwise than the operation sets do.
_TYPE_NAMES = {"Constant": "Const", "PRelu": "PReLU", "Relu": "ReLU", "Softmax": "SoftMax"}
_OPERATION_NAMES = {spelled: name for name, spelled in _TYPE_NAMES.items()}
_PRECISIONS = {
    "boolean": "BOOL", "f16": "FP16", "f32": "FP32", "f64": "FP64", "u1": "BIN", "dynamic": "UNSPECIFIED",
}  # fmt: skip


def type_name(operation: str) -> str:
    """The type attribute of a layer."""
    return _TYPE_NAMES.get(operation, operation)


def operation_name(spelled: str) -> str:
    """The operation that the type attribute of a layer means."""
    return _OPERATION_NAMES.get(spelled, spelled)


def precision(element_type: Type) -> str:
    """The precision attribute of a port."""
    return _PRECISIONS.get(element_type.value, element_type.value.upper())


def joined_names(names: Iterable[str], separator: str = ",") -> str:
    """Names with commas between them; a comma of a name has a backslash before it."""
    return separator.join(name.replace(",", "\\,") for name in names)


def split_names(text: str) -> list[str]:
    """The names of ``joined_names``."""
    return [part.removeprefix(" ") for part in split_at_commas(text) if part]


def split_at_commas(text: str) -> list[str]:
    """The parts between commas that have no backslash before them."""
    return [part.replace("\0", ",") for part in text.replace("\\,", "\0").split(",")]

"""How IR files spell the names of types, operations and attribute values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hetero.errors import FrontendError
from hetero.graph import Attribute, floats, integers, texts
from hetero.shape import PartialShape
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


def attribute_text(value: Any) -> str:
    """The value of an operation's attribute as text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, PartialShape):
        return str(value).removeprefix("[").removesuffix("]")
    if isinstance(value, tuple):
        return ", ".join(attribute_text(item).replace(",", "\\,") for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def attribute_value(attribute: Attribute, text: str) -> Any:
    """The value that the text of an attribute means, for the attribute's converter. Raises FrontendError."""
    convert = attribute.convert
    try:
        if convert is str:
            return text
        if convert is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        if convert in (integers, floats, texts):
            item = {integers: int, floats: float, texts: str}[convert]
            return tuple(item(part.removeprefix(" ")) for part in _split(text)) if text else ()
        return convert(text.strip())
    except (KeyError, ValueError, TypeError) as error:
        accepts = getattr(convert, "accepts", convert.__name__)
        raise FrontendError(f"attribute {attribute.ir_name} cannot be '{text}', it takes {accepts}") from error


def joined_names(names: Iterable[str], separator: str = ",") -> str:
    """Names with commas between them; a comma of a name has a backslash before it."""
    return separator.join(name.replace(",", "\\,") for name in names)


def split_names(text: str) -> list[str]:
    """The names of ``joined_names``."""
    return [part.removeprefix(" ") for part in _split(text) if part]


def _split(text: str) -> list[str]:
    """The parts between commas that have no backslash before them."""
    return [part.replace("\0", ",") for part in text.replace("\\,", "\0").split(",")]

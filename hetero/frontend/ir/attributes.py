"""Attributes of operations as the texts that IR files have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetero.errors import FrontendError
from hetero.frontend.ir.spelling import split_at_commas
from hetero.graph import Attribute, AttributeVisitor, Op, floats, integers, texts
from hetero.shape import PartialShape

# What OpenVINO writes for a type or a shape that was not given.
_UNSAID = ("dynamic", "...")


class AttributeReader(AttributeVisitor):
    """Sets attributes from their texts by name; those that have none keep their values. Raises FrontendError."""

    def __init__(self, found: Mapping[str, str]) -> None:
        self._found = found

    def visit(self, attribute: Attribute, value: Any) -> Any:
        text = self._found.get(attribute.ir_name)
        if text is None or (attribute.default is None and text in _UNSAID):
            return value
        return attribute_value(attribute, text)

    def others(self) -> Mapping[str, Any]:
        return {name: _literal(text) for name, text in self._found.items()}


class AttributeWriter(AttributeVisitor):
    """Collects the texts of attributes by their names in files; None has none."""

    def __init__(self, operation: str) -> None:
        self._operation = operation
        self.texts: dict[str, str] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        if value is not None:
            self.texts[attribute.ir_name] = attribute_text(attribute.converted(value, self._operation))
        return value


class _Collector(AttributeVisitor):
    """Collects all that there is to attributes, in a form that can be compared."""

    def __init__(self, operation: str) -> None:
        self._operation = operation
        self.values: dict[str, str] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        self.values[attribute.name] = repr(attribute.converted(value, self._operation))
        return value


def read_back(node: Op) -> Op:
    """A node with the attributes that a reader of the file would give it, without inputs.

    Raises FrontendError, or GraphError, where these are not the node's.
    """
    written = AttributeWriter(node.type_info.name)
    node.visit_attributes(written)
    again = type(node).unconnected()
    again.visit_attributes(AttributeReader(written.texts))
    before, after = (_Collector(node.type_info.name) for _ in range(2))
    node.visit_attributes(before)
    again.visit_attributes(after)
    for name, value in before.values.items():
        if after.values.get(name) != value:
            raise FrontendError(f"'{node.friendly_name}' has {value} for {name}, which IR files alter")
    return again


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
            return tuple(item(part.removeprefix(" ")) for part in split_at_commas(text)) if text else ()
        return convert(text.strip())
    except (KeyError, ValueError, TypeError) as error:
        accepts = getattr(convert, "accepts", convert.__name__)
        raise FrontendError(f"attribute {attribute.ir_name} cannot be '{text}', it takes {accepts}") from error


def _literal(text: str) -> Any:
    """The value of an attribute of which nobody tells the type: the one that it looks like."""
    if "," in text:
        return [_literal(part.removeprefix(" ")) for part in split_at_commas(text)]
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

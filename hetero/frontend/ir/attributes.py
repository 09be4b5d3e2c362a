"""Conversion of operation attributes to and from the text form of IR files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetero.core.shape import PartialShape
from hetero.frontend.ir.spelling import split_at_commas
from hetero.graph import Attribute, AttributeVisitor, Op, floats, integers, texts
from hetero.system.errors import FrontendError

# OpenVINO writes these for a type or a shape that was not specified.
_UNSPECIFIED = ("dynamic", "...")


class AttributeReader(AttributeVisitor):
    """Visitor that sets attributes from ``texts``, a mapping of attribute name to text.

    An attribute without a text keeps its value. Raises FrontendError if a text is not valid for its attribute.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def visit(self, attribute: Attribute, value: Any) -> Any:
        text = self._texts.get(attribute.ir_name)
        if text is None or (attribute.default is None and text in _UNSPECIFIED):
            return value
        return attribute_value(attribute, text)

    def others(self) -> Mapping[str, Any]:
        return {name: _literal(text) for name, text in self._texts.items()}


class AttributeWriter(AttributeVisitor):
    """Visitor that collects the attributes: all as ``values`` that can be compared, by their names, and those that are
    not None as ``texts``, by their names in IR files."""

    def __init__(self, operation: str) -> None:
        self._operation = operation
        self.texts: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        converted = attribute.converted(value, self._operation)
        self.values[attribute.name] = repr(converted)
        if converted is not None:
            self.texts[attribute.ir_name] = attribute_text(converted)
        return value


def read_back(node: Op) -> Op:
    """Return a node without inputs whose attributes went through their IR text form and back.

    Raises FrontendError or GraphError if an attribute does not survive the round trip.
    """
    before, after = (AttributeWriter(node.type_info.name) for _ in range(2))
    node.visit_attributes(before)
    restored = type(node).unconnected()
    restored.visit_attributes(AttributeReader(before.texts))
    restored.visit_attributes(after)
    for name, value in before.values.items():
        if after.values.get(name) != value:
            raise FrontendError(
                f"'{node.friendly_name}': attribute {name} is {value}, which an IR file cannot represent exactly"
            )
    return restored


def attribute_text(value: Any) -> str:
    """Return the text form of an attribute's value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, PartialShape):
        return str(value).removeprefix("[").removesuffix("]")
    if isinstance(value, tuple):
        return ", ".join(attribute_text(item).replace(",", "\\,") for item in value)
    return repr(value) if isinstance(value, float) else f"{value}"


def attribute_value(attribute: Attribute, text: str) -> Any:
    """Parse the text of an attribute into a value that the attribute accepts. Raises FrontendError if it is invalid."""
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
    """Parse the text of an attribute of unknown type: a list, a bool, an int, a float or else the text itself."""
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

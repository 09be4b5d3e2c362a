"""Attributes of operations, and AttributeVisitor, to which an operation shows all that it has.

Whoever reads, sets, writes or compares attributes does it by a visitor, and so need not know how a class keeps them:
as class data (``axis = Attribute(int, 1)``), or in a dict of its own that its ``visit_attributes`` hands over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.errors import GraphError
from hetero.shape import Dimension, PartialShape
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.graph.node import Node

REQUIRED = object()


class Attribute:
    """An attribute: a converter, which raises ValueError for what it cannot take, and a default.

    ``ir``: its name in IR files, where that is not the one that the factory has.
    """

    def __init__(self, convert: Callable[[Any], Any], default: Any = REQUIRED, ir: str | None = None) -> None:
        self.convert, self.default, self.ir_name = convert, default, ir

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.ir_name = self.ir_name or name

    def __get__(self, node: Node | None, owner: type) -> Any:
        return self if node is None else node.__dict__[self.name]

    def __set__(self, node: Node, value: Any) -> None:
        node.__dict__[self.name] = self.converted(value, node.type_info.name)

    def converted(self, value: Any, operation: str) -> Any:
        """A value as the attribute holds it. Raises GraphError, which names the operation, for what it cannot take."""
        try:
            return None if value is None and self.default is None else self.convert(value)
        except (ValueError, TypeError):
            raise GraphError(
                f"{operation}: attribute {self.name} cannot be {value!r}, it takes {self.accepts}"
            ) from None

    @property
    def accepts(self) -> str:
        """What the converter takes, for messages."""
        return getattr(self.convert, "accepts", self.convert.__name__)

    @classmethod
    def like(cls, name: str, value: Any) -> Attribute:
        """The attribute that a class does not declare, and of which it shows a value."""
        attribute = cls(_converter_like(value), value)
        attribute.__set_name__(cls, name)
        return attribute


def integers(value: Any) -> tuple[int, ...]:
    """A tuple of ints from a sequence of whole numbers."""
    return tuple(int(v) for v in value)


integers.accepts = "a sequence of whole numbers"  # type: ignore[attr-defined]


def floats(value: Any) -> tuple[float, ...]:
    """A tuple of floats from a sequence of numbers."""
    return tuple(float(v) for v in value)


floats.accepts = "a sequence of numbers"  # type: ignore[attr-defined]


def texts(value: Any) -> tuple[str, ...]:
    """A tuple of strings from a sequence of them, not from one string."""
    if isinstance(value, str):
        raise ValueError
    return tuple(str(v) for v in value)


texts.accepts = "a sequence of strings"  # type: ignore[attr-defined]


def choice(*options: str) -> Callable[[Any], str]:
    """A converter that takes one of the strings, in any case."""

    def convert(value: Any) -> str:
        if str(value).lower() not in options:
            raise ValueError
        return str(value).lower()

    convert.accepts = f"one of {', '.join(options)}"  # type: ignore[attr-defined]
    return convert


class AttributeVisitor(ABC):
    """What ``visit_attributes`` is given: it is shown each attribute, and tells the value to go on with."""

    @abstractmethod
    def visit(self, attribute: Attribute, value: Any) -> Any:
        """The value to go on with; ``value``, REQUIRED where there is none yet, is to stay."""

    def others(self) -> Mapping[str, Any]:
        """What the visitor has for an operation that takes attributes of any name (optional)."""
        return {}

    def on_attribute(self, name: str, value: Any) -> Any:
        """Show an attribute that the class does not declare; returns the value to go on with, of the same type."""
        found = self.visit(Attribute.like(name, value), value)
        if found is not value and isinstance(value, np.ndarray):
            return np.asarray(found, value.dtype)
        return list(found) if isinstance(value, list) else found

    def on_attributes(self, attributes: MutableMapping[str, Any]) -> None:
        """Show attributes in a dict, in which values are set; an empty one takes attributes of any name."""
        if not attributes:
            attributes.update(self.others())
        for name, value in list(attributes.items()):
            attributes[name] = self.on_attribute(name, value)


class AttributeCollector(AttributeVisitor):
    """Collects values by name, and changes none."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        self.values[attribute.name] = value
        return value


class AttributeSetter(AttributeVisitor):
    """Sets values by name, for an operation of this type; those that have none keep theirs."""

    def __init__(self, values: Mapping[str, Any], operation: str) -> None:
        self._values, self._operation = values, operation

    def visit(self, attribute: Attribute, value: Any) -> Any:
        if attribute.name not in self._values:
            return value
        return attribute.converted(self._values[attribute.name], self._operation)

    def others(self) -> Mapping[str, Any]:
        return self._values


def _converter_like(value: Any) -> Callable[[Any], Any]:
    """The converter of values such as this one."""
    for kinds, convert in ((bool, bool), ((int, np.integer), int), ((float, np.floating), float), (str, str)):
        if isinstance(value, kinds):
            return convert
    if isinstance(value, (Type, PartialShape, Dimension)):
        return type(value)
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
        return floats if value.dtype.kind == "f" else integers
    if isinstance(value, (list, tuple)):
        kinds = {_converter_like(item) for item in value}
        for items, convert in (({bool, int}, integers), ({bool, int, float}, floats), ({str}, texts)):
            if kinds <= items:
                return convert
    return _no_attribute


def _no_attribute(value: Any) -> Any:
    raise ValueError


_no_attribute.accepts = (  # type: ignore[attr-defined]
    "a number, a string, a boolean, an element type, a shape, or a sequence of numbers or strings"
)

"""Attributes of operations, and AttributeVisitor, which reads and sets them.

An operation passes all its attributes to a visitor. So code that reads, sets, writes or compares attributes works for
classes that declare them (``axis = Attribute(int, 1)``) and for those that keep a dict and define ``visit_attributes``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.system.errors import ArgumentListError

if TYPE_CHECKING:
    from hetero.graph.node import Node

REQUIRED = object()

Converter = TypeVar("Converter", bound=Callable[[Any], Any])


class Attribute:
    """A declared attribute: a converter, which raises ValueError for a value that it does not accept, and a default.

    ``ir`` is its name in IR files, if it differs from the name of the constructor's parameter.
    """

    def __init__(self, convert: Callable[[Any], Any], default: Any = REQUIRED, ir: str | None = None) -> None:
        self.convert, self.default, self.ir_name = convert, default, ir or ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.ir_name = self.ir_name or name

    def __get__(self, node: Node | None, owner: type) -> Any:
        return self if node is None else node.__dict__[self.name]

    def __set__(self, node: Node, value: Any) -> None:
        node.__dict__[self.name] = self.converted(value, node.type_info.name)
        node._inferred = []

    def converted(self, value: Any, operation: str) -> Any:
        """Return a value after conversion. Raise ArgumentListError with the operation's name if it is not accepted."""
        try:
            return None if value is None and self.default is None else self.convert(value)
        except (ValueError, TypeError):
            raise ArgumentListError(
                f"{operation}: attribute {self.name} cannot be {value!r}, it takes {self.accepts}"
            ) from None

    @property
    def accepts(self) -> str:
        """The accepted values, for messages."""
        return getattr(self.convert, "accepts", self.convert.__name__)

    @classmethod
    def like(cls, name: str, value: Any) -> Attribute:
        """Return an attribute for a value that a class passes to a visitor without declaring it."""
        attribute = cls(_converter_like(value), value)
        attribute.__set_name__(cls, name)
        return attribute


def accepts(description: str) -> Callable[[Converter], Converter]:
    """Return a decorator that describes the values that a converter accepts, for messages."""

    def describe(convert: Converter) -> Converter:
        convert.__dict__["accepts"] = description
        return convert

    return describe


@accepts("a sequence of whole numbers")
def integers(value: Any) -> tuple[int, ...]:
    """Convert a sequence of whole numbers to a tuple of ints."""
    return tuple(int(v) for v in value)


@accepts("a sequence of numbers")
def floats(value: Any) -> tuple[float, ...]:
    """Convert a sequence of numbers to a tuple of floats."""
    return tuple(float(v) for v in value)


@accepts("a sequence of strings")
def texts(value: Any) -> tuple[str, ...]:
    """Convert a sequence of strings, which is not itself a string, to a tuple."""
    if isinstance(value, str):
        raise ValueError
    return tuple(f"{v}" for v in value)


def choice(*options: str) -> Callable[[Any], str]:
    """Return a converter that accepts one of these lower-case strings, in any case."""

    @accepts(f"one of {', '.join(options)}")
    def convert(value: Any) -> str:
        text = f"{value}".lower()
        if text not in options:
            raise ValueError
        return text

    return convert


class AttributeVisitor(ABC):
    """The base class of visitors: receives each attribute of an operation and returns the value to set."""

    @abstractmethod
    def visit(self, attribute: Attribute, value: Any) -> Any:
        """Return the value to set, or ``value`` to keep the present one, which is REQUIRED if none is set yet."""

    def others(self) -> Mapping[str, Any]:
        """Return all attributes of the visitor, for an operation that takes attributes of any name (optional)."""
        return {}

    def on_attribute(self, name: str, value: Any) -> Any:
        """Visit an attribute that the class does not declare, and return the value to set, of the same type."""
        visited = self.visit(Attribute.like(name, value), value)
        if visited is not value and isinstance(value, np.ndarray):
            return np.asarray(visited, value.dtype)
        return list(visited) if isinstance(value, list) else visited

    def on_attributes(self, attributes: MutableMapping[str, Any]) -> None:
        """Visit the attributes in a dict and update it. An empty dict takes attributes of any name."""
        if not attributes:
            attributes.update(self.others())
        for name, value in list(attributes.items()):
            attributes[name] = self.on_attribute(name, value)


class AttributeCollector(AttributeVisitor):
    """Collects the values and OpenVINO's names of attributes, both by name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.names: dict[str, str] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        self.values[attribute.name], self.names[attribute.name] = value, attribute.ir_name
        return value


class AttributeSetter(AttributeVisitor):
    """Sets attributes of an operation of this type by name. Attributes without a new value keep theirs."""

    def __init__(self, values: Mapping[str, Any], operation: str) -> None:
        self._values, self._operation = values, operation

    def visit(self, attribute: Attribute, value: Any) -> Any:
        if attribute.name not in self._values:
            return value
        return attribute.converted(self._values[attribute.name], self._operation)

    def others(self) -> Mapping[str, Any]:
        return self._values


def as_plain(value: Any) -> Any:
    """Return a type as a string, a shape as a list with -1 for unknown lengths, and a sequence as a list."""
    if isinstance(value, Type):
        return value.to_string()
    if isinstance(value, PartialShape):
        return [d.get_length() if d.is_static else -1 for d in value] if value.has_rank else []
    return list(value) if isinstance(value, tuple) else value


def _converter_like(value: Any) -> Callable[[Any], Any]:
    """Return the converter for values of this type."""
    convert: Callable[[Any], Any]
    for types, convert in ((bool, bool), ((int, np.integer), int), ((float, np.floating), float), (str, str)):
        if isinstance(value, types):
            return convert
    if isinstance(value, (Type, PartialShape, Dimension)):
        return type(value)
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
        return floats if value.dtype.kind == "f" else integers
    if isinstance(value, (list, tuple)):
        converters = {_converter_like(item) for item in value}
        for item_types, convert in (({bool, int}, integers), ({bool, int, float}, floats), ({str}, texts)):
            if converters <= item_types:
                return convert
    return _no_attribute


@accepts("a number, a string, a boolean, an element type, a shape, or a sequence of numbers or strings")
def _no_attribute(value: Any) -> Any:
    raise ValueError

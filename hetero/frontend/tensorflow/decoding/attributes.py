"""The attributes of a node as Python values, converted when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hetero.frontend.protobuf import Message, decode
from hetero.frontend.tensorflow.decoding.element_types import shape_of, type_of
from hetero.frontend.tensorflow.decoding.messages import ATTRIBUTE
from hetero.frontend.tensorflow.decoding.tensors import array_of
from hetero.system.errors import FrontendError


class FunctionName(NamedTuple):
    """The name of a function in the model's library: the value of an attribute of a node that calls it."""

    name: str


class Attributes(Mapping[str, Any]):
    """A node's attributes by name.

    A number, a bool, a str (bytes if it is not UTF-8), a Type, a PartialShape, an array, a FunctionName, or a list.
    """

    def __init__(self, messages: Mapping[str, memoryview]) -> None:
        self._messages = messages
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = _value_of(decode(self._messages[name], ATTRIBUTE))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def data_type(self, name: str) -> int:
        """Return the DataType number of an attribute, 0 if it is not a type: complex numbers have no Type."""
        if name not in self._messages:
            return 0
        message = decode(self._messages[name], ATTRIBUTE)
        return message.type if message.has("type") else 0


_SCALARS = ("i", "f", "b")
_KINDS = ("s", "i", "f", "b", "type", "shape", "tensor", "func")


def _value_of(message: Message) -> Any:
    if message.has("list"):
        kind = message.list.which(*_KINDS)
        return [] if kind is None else [_converted(kind, item) for item in getattr(message.list, kind)]
    kind = message.which(*_KINDS)
    if kind is None:
        raise FrontendError("an attribute has no value")
    return _converted(kind, getattr(message, kind))


def _converted(kind: str, value: Any) -> Any:
    if kind in _SCALARS:
        return value
    if kind == "s":
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return bytes(value)
    if kind == "type":
        return type_of(value)
    if kind == "func":
        return FunctionName(value.name)
    return shape_of(value) if kind == "shape" else array_of(value)

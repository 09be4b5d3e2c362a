"""Texts about the classes of operations: what help() shows, and where a class is defined."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections import ChainMap
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hetero.graph.attributes import REQUIRED, Attribute, as_plain
from hetero.graph.node import Node
from hetero.system.errors import HeteroError

if TYPE_CHECKING:
    from hetero.graph.operation import Op


# An item of a list in a docstring: "- ``axis``: text" or "- ``boxes [N, 4]``, ``scores``: text", and its further lines.
_ITEM = re.compile(r"^- ((?:``\w[^`]*``(?:, | and )?)+): (.*(?:\n  .*)*)\n?", re.MULTILINE)
# The name and the shape in an item's literal.
_SUBJECT = re.compile(r"``(\w+)\s*([^`]*)``")


class Documentation:
    """The ``__doc__`` of an operation class, made when it is read.

    It is the docstring, what its base classes say about all their operations, and lists of inputs and attributes with
    types and defaults. An item ``- ``axis``: text`` in the docstring of the class or of a base describes an input or an
    attribute in these lists.
    """

    def __init__(self, docstring: str) -> None:
        self._docstring = docstring

    def __get__(self, node: Op | None, cls: type[Op]) -> str:
        return describe(cls)

    @cached_property
    def text(self) -> str:
        """The docstring without indentation. "Base of poolings" becomes "One of the poolings"."""
        return re.sub("^Base of (the |all )?", "One of the ", inspect.cleandoc(self._docstring))

    @cached_property
    def meanings(self) -> dict[str, str]:
        """The texts of the items by name."""
        meanings = {}
        for subjects, meaning in _ITEM.findall(self.text):
            for name, shape in _SUBJECT.findall(subjects):
                meanings[name] = (f"``{shape}``, " if shape else "") + " ".join(meaning.split())
        return meanings

    def text_without(self, names: set[str]) -> str:
        """Return the text without the items about these inputs and attributes, and without their titles."""
        if not self.meanings:
            return self.text
        text = _ITEM.sub(lambda item: "" if names.issuperset(dict(_SUBJECT.findall(item[1]))) else item[0], self.text)
        text = re.sub(r"\n\n(Inputs|Attributes):\s*(?=\n\n|$)", "", text.strip())
        return re.sub(r"\n{3,}", "\n\n", text).strip()


def documentation_of(cls: type[Op]) -> dict[type[Op], Documentation]:
    """Return the documentation of a class and of those of its bases that are operations, by class."""
    docs: dict[Any, Any] = {base: vars(base).get("__doc__") for base in cls.__mro__}
    return {base: documentation for base, documentation in docs.items() if isinstance(documentation, Documentation)}


def describe(cls: type[Op]) -> str:
    """Return the documentation of an operation class: what it computes, its inputs, attributes and operation set."""
    documentation = documentation_of(cls)
    meanings = dict(ChainMap(*(one.meanings for one in documentation.values())))
    names = {name.strip("*?") for name in cls.input_names} | {a.name for a in cls.attributes_declared}
    parts = []
    for base, one in documentation.items():
        text = one.text_without(names if base is cls else {*one.meanings})
        if base is not cls and not text.startswith("One of the "):
            text = f"{base.type_info.name}-{base.type_info.version_id.removeprefix('opset')}: {text}"
        parts.append(text)
    inputs = [_item(name.strip("*?"), _count(name), meanings) for name in cls.input_names]
    attributes = [_item(a.name, f" ({_values(a)})", meanings) for a in cls.attributes_declared]
    for title, items in (("Inputs", inputs), ("Attributes", attributes)):
        if items:
            parts.append(f"{title}:\n\n" + "\n".join(items))
    version = cls.type_info.version_id
    parts.append(f"Since {version}." if version.startswith("opset") else "In no operation set.")
    return "\n\n".join(parts)


def _item(name: str, note: str, meanings: Mapping[str, str]) -> str:
    return f"- ``{name}``{note}" + (f": {meanings[name]}" if name in meanings else "")


def _count(name: str) -> str:
    return " (any number)" if name.startswith("*") else " (optional)" if name.endswith("?") else ""


def _values(attribute: Attribute) -> str:
    """Return the accepted values of an attribute, and its default."""
    default: Any = as_plain(attribute.default)
    return attribute.accepts if default is REQUIRED else f"{attribute.accepts}, by default {default!r}"


def class_file(cls: type) -> str:
    """Return the file that defines a class, or the name of its module if it has no file."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__


def method_location(node: Node, method: str) -> str:
    """Return a description of a method of a node: ``MyRelu 'name': evaluate of MyRelu in /path/my_relu.py``."""
    cls = type(node)
    return f"{node.type_info.name} '{node.friendly_name}': {method} of {cls.__qualname__} in {class_file(cls)}"


def describe_failure(node: Node, method: str, error: Exception) -> str:
    """Return a message about an exception that a method of a node raised, with the line in the file of its class."""
    file = class_file(type(node))
    # The innermost frame in the file of the class, not in a library that it calls.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)[1:] if frame.filename == file]
    line = f", line {frames[-1].lineno}," if frames else ""
    problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
    return f"{method_location(node, method)}{line} failed: {problem}"

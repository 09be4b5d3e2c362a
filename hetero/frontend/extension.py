"""Extensions: what a user teaches frontends, above all how operators that they do not know are translated."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hetero.errors import FrontendError, GraphError, HeteroError
from hetero.frontend.node_context import NodeContext
from hetero.frontend.translation import Translation
from hetero.graph import Node, Op, Output

log = logging.getLogger("hetero.frontend")

Converter = Callable[[NodeContext], Translation]


class Extension:
    """What can be given to ``Core.add_extension``."""


class ConversionExtension(Extension):
    """Operators of a type are translated by a function: ``ConversionExtension("MyRelu", convert)``.

    ``converter(node)`` gets the node as a NodeContext and returns what takes its place. ``domain``: the one of the
    operators that are meant, in formats that have domains; those of all domains where it is None.
    """

    def __init__(self, op_type: str, converter: Converter, domain: str | None = None) -> None:
        self.op_type, self.domain = op_type, domain
        self._converter = converter

    def get_op_type(self) -> str:
        return self.op_type

    def get_converter(self) -> Converter:
        """The translation, whose errors name the extension: a FrontendError for whatever the function raises."""
        return self._convert

    def matches(self, op_type: str, domain: str) -> bool:
        """Whether the extension is meant for an operator of this type and domain."""
        return op_type == self.op_type and self.domain in (None, domain)

    def hides(self, other: Extension) -> bool:
        """Whether the other one is for operators that this one is for."""
        if not isinstance(other, ConversionExtension) or other.op_type != self.op_type:
            return False
        return None in (self.domain, other.domain) or self.domain == other.domain

    def _convert(self, node: NodeContext) -> Translation:
        try:
            made = self._converter(node)
        except Exception as error:
            problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
            raise FrontendError(f"{self!r}: {problem}") from error
        parts = made if isinstance(made, (list, tuple)) else [made]
        if not all(isinstance(part, (Node, Output)) for part in parts):
            raise FrontendError(f"{self!r}: it returns {made!r}, not a node or outputs")
        return made

    def __repr__(self) -> str:
        code = getattr(self._converter, "__code__", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
        return f"{type(self).__name__} of {self.op_type}{place}"


class OpExtension(ConversionExtension):
    """Operators of a type become one operation of ours: ``OpExtension("Relu", "MyRelu")``, ``OpExtension(MyClass)``.

    ``operation``: its class, or its name in the newest operation set that has it, or in one by ``"opset1.MatMul"``;
    ``fw_type_name``: the operator's type, the operation's name by default. Inputs are taken in order. An attribute has
    the value that ``attr_values_map`` gives for it, else that of the node's attribute of the name which
    ``attr_names_map`` gives for it, its own by default, else its default. Raises GraphError where there is no such
    operation, and where a map names an attribute that it does not have.
    """

    def __init__(
        self,
        operation: str | type[Op],
        fw_type_name: str | None = None,
        attr_names_map: Mapping[str, str] | None = None,
        attr_values_map: Mapping[str, Any] | None = None,
        domain: str | None = None,
    ) -> None:
        self.operation = _find_operation(operation) if isinstance(operation, str) else operation
        self._names, self._values = dict(attr_names_map or {}), dict(attr_values_map or {})
        super().__init__(fw_type_name or self.operation.type_info.name, self._make, domain)
        known = {attribute.name for attribute in self.operation.attributes_declared}
        for name in self._names.keys() | self._values.keys():
            if name not in known:
                has = ", ".join(sorted(known)) or "none"
                raise GraphError(f"{self!r}: {self.operation.type_info.name} has no attribute {name}; it has {has}")

    def _make(self, node: NodeContext) -> Op:
        inputs = [node.get_input(index) for index in range(node.get_input_size())]
        attributes = dict(self._values)
        for attribute in self.operation.attributes_declared:
            name = self._names.get(attribute.name, attribute.name)
            if attribute.name not in attributes and node.has_attribute(name):
                attributes[attribute.name] = node.get_attribute(name)
        return self.operation.of(inputs, attributes)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.op_type}"


def as_extensions(given: Any) -> list[Extension]:
    """Extensions from one, an operation's class, or a sequence of them. Raises GraphError for what is none."""
    if isinstance(given, Extension):
        return [given]
    if isinstance(given, type) and issubclass(given, Op):
        return [OpExtension(given)]
    if isinstance(given, (list, tuple)):
        return [extension for item in given for extension in as_extensions(item)]
    raise GraphError(f"{given!r} cannot be an extension: give an extension, a class of an operation, or a list of them")


def add_extensions(extensions: list[Extension], more: Iterable[Extension]) -> None:
    """Append extensions; the log warns of those that are hidden by a later one for the same operators."""
    for extension in more:
        for other in extensions:
            if isinstance(extension, ConversionExtension) and extension.hides(other):
                log.warning("%r is used, and no longer %r", extension, other)
        extensions.append(extension)


def conversion_for(extensions: Sequence[Extension], op_type: str, domain: str) -> ConversionExtension | None:
    """The extension that translates an operator: the last of those that match; None where none does."""
    for extension in reversed(extensions):
        if isinstance(extension, ConversionExtension) and extension.matches(op_type, domain):
            return extension
    return None


def _find_operation(name: str) -> type[Op]:
    from hetero.ops.opsets import OPSETS, classes_in

    match = re.fullmatch(r"(?:opset(\d+)\.)?(\w+)", name)
    opset, kind = (int(match[1] or OPSETS[-1]), match[2]) if match else (0, "")
    classes = classes_in(opset) if opset in OPSETS else {}
    if kind not in classes:
        raise GraphError(f"there is no operation {name}: write one as Relu or opset1.Relu, or give its class")
    return classes[kind]

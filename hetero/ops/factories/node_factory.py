"""NodeFactory: creates operations by the name of their type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hetero.graph import Attribute, AttributeVisitor, Node, Op, Output
from hetero.ops.opsets import OPSETS, classes_in
from hetero.system.errors import GraphError
from hetero.system.messages import suggest

DEFAULT_OPSET = "opset13"


class NodeFactory:
    """Creates operations of one operation set, such as "opset13"."""

    def __init__(self, opset_version: str = DEFAULT_OPSET) -> None:
        number = opset_version.removeprefix("opset")
        if not number.isdigit() or int(number) not in OPSETS:
            raise GraphError(f"there is no operation set {opset_version}; there are opset1 to opset{OPSETS[-1]}")
        self._classes: dict[str, type[Op]] = classes_in(int(number))

    def create(
        self,
        op_type_name: str,
        arguments: Sequence[Node | Output] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Node:
        """Create an operation from its inputs and its attributes, by OpenVINO's names.

        A node among the inputs stands for all its outputs. Attributes that the operation does not have are ignored, as
        in OpenVINO. Without inputs, an operation to connect later is created. Raises GraphError if there is no such
        operation, or inputs or attributes do not fit.
        """
        if op_type_name not in self._classes:
            raise GraphError(f"there is no operation {op_type_name}; {suggest(op_type_name, self._classes)}")
        operation = self._classes[op_type_name]
        if arguments is None:
            if attributes is not None:
                raise GraphError(f"{op_type_name}: attributes are given without inputs")
            return operation.unconnected()
        outputs = [output for node in arguments for output in (node.outputs() if isinstance(node, Node) else [node])]
        return operation.of(outputs, _NamedAttributes(attributes or {}, op_type_name))

    def add_extension(self, extension: type[Op] | Sequence[type[Op]]) -> None:
        """Add classes of operations. One with the name of an operation that is known takes its place."""
        for cls in extension if isinstance(extension, Sequence) else [extension]:
            if not (isinstance(cls, type) and issubclass(cls, Op)):
                raise GraphError(f"{cls!r} cannot be added to a NodeFactory: give a class of operations")
            self._classes[cls.type_info.name] = cls


class _NamedAttributes(AttributeVisitor):
    """Sets attributes of an operation by OpenVINO's names, or by its own. Others take their defaults."""

    def __init__(self, values: Mapping[str, Any], operation: str) -> None:
        self._values, self._operation = values, operation

    def visit(self, attribute: Attribute, value: Any) -> Any:
        name = attribute.ir_name if attribute.ir_name in self._values else attribute.name
        return attribute.converted(self._values[name], self._operation) if name in self._values else value

    def others(self) -> Mapping[str, Any]:
        return self._values


def _get_node_factory(opset_version: str | None = None) -> NodeFactory:
    return NodeFactory(opset_version or DEFAULT_OPSET)

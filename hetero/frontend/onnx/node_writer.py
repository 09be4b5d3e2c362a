"""NodeWriter, with which an emitter writes one operation as ONNX nodes, and the table of emitters.

An operation that is one ONNX operator needs no emitter: the row by which that operator is read says how it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import NodeProto, helper

import hetero.frontend.onnx.translators  # noqa: F401 (fills the table)
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import translators
from hetero.frontend.onnx.tensors import data_type
from hetero.frontend.translation.translators import Attr, Row
from hetero.graph import Node, is_constant
from hetero.ops.checks import exact_value
from hetero.system.errors import HeteroError

if TYPE_CHECKING:
    from hetero.frontend.onnx.graph_writer import GraphWriter

# The name of a value, an array for an initializer, a list of i64 numbers for one, or None for an omitted input.
Argument = str | np.ndarray | Sequence[int] | None


class NotInOnnx(HeteroError):
    """ONNX cannot express an operation; the message says which of its properties is the reason, "" for all of it."""


class NodeWriter:
    """The operation, and the ONNX nodes written for it. Values are represented by their names."""

    def __init__(self, op: Any, graph: GraphWriter) -> None:
        self.op, self.graph = op, graph
        self.protos: list[NodeProto] = []

    @property
    def inputs(self) -> list[str]:
        return [self.input(index) for index in range(self.op.get_input_size())]

    def input(self, index: int) -> str:
        """Return the name of an input."""
        return self.graph.name_of(self.op.input_value(index))

    def optional(self, name: str) -> str | None:
        """Return the name of an optional input, None if it is not connected."""
        return self.input(self.op.input_index(name)) if self.op.has_input(name) else None

    def converted(self, index: int, kind: Type) -> Argument:
        """Return an input converted to an element type; a Constant becomes an initializer of that type."""
        source = self.op.input_value(index)
        if source.element_type == kind:
            return self.input(index)
        if is_constant(source):
            return source.node.data.astype(kind.to_dtype())
        return self.add("Cast", self.input(index), to=onnx_type(kind))

    def vector(self, index: int) -> Argument:
        """Return an input as an i64 vector, such as ONNX takes for axes and shapes."""
        known = exact_value(self.op.input_value(index))
        if known is not None:
            return known.reshape(-1).astype(np.int64)
        value = self.converted(index, Type.i64)
        return value if len(self.shape(index)) == 1 else self.add("Reshape", value, [-1])

    def reshaped(self, index: int, shape: Sequence[int]) -> Argument:
        """Return an input in another shape; a Constant becomes an initializer of that shape."""
        source = self.op.input_value(index)
        if is_constant(source):
            return source.node.data.reshape(shape)
        return self.add("Reshape", self.input(index), list(shape))

    def known(self, index: int) -> np.ndarray:
        """Return the contents of an input. Raises NotInOnnx if they are not known."""
        value = exact_value(self.op.input_value(index))
        if value is None:
            raise NotInOnnx(f"{self.op.input_names[index].strip('?')} that is not constant")
        return value

    def numbers(self, index: int) -> list[Any]:
        """Return the contents of an input as a list. Raises NotInOnnx if they are not known."""
        return self.known(index).reshape(-1).tolist()

    def axes(self, index: int, rank: int) -> list[int]:
        """Return the axes in an input, from 0 to rank - 1. Raises NotInOnnx if they are not known."""
        return [int(axis) % rank for axis in self.numbers(index)]

    def shape(self, index: int) -> Sequence[int | None]:
        """Return the shape of an input, None for dynamic lengths. Raises NotInOnnx if its rank is not known."""
        shape = self.op.get_input_partial_shape(index)
        if not shape.has_rank:
            raise NotInOnnx("an input of unknown rank")
        return [length.get_length() if length.is_static else None for length in shape]

    def static_shape(self, index: int, first: int = 0) -> list[int]:
        """Return the shape of an input from an axis on. Raises NotInOnnx if it is dynamic."""
        lengths = [length for length in self.shape(index)[first:] if length is not None]
        if len(lengths) < len(self.shape(index)[first:]):
            raise NotInOnnx("an input of dynamic shape")
        return lengths

    def rank(self, index: int) -> int:
        return len(self.shape(index))

    def kind(self, index: int) -> Type:
        return self.op.get_input_element_type(index)

    def check_real(self) -> None:
        """Raise NotInOnnx unless the first input has a floating-point type."""
        if not self.kind(0).is_real():
            raise NotInOnnx(f"element type {self.kind(0)}")

    def number(self, value: float | np.ndarray, index: int = 0) -> np.ndarray:
        """Return a number, or several, in the element type of an input."""
        return np.asarray(value, self.kind(index).to_dtype())

    def add(self, op_type: str, *inputs: Argument, domain: str = "", **attributes: Any) -> str:
        """Add an ONNX node with one output and return the name of the output. Attributes that are None are omitted."""
        return self.add_outputs(1, op_type, *inputs, domain=domain, **attributes)[0]

    def add_outputs(
        self, count: int, op_type: str, *inputs: Argument, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an ONNX node with several outputs and return their names."""
        label = f"{self.op.friendly_name}/{op_type}"
        results = [self.graph.shared.names.take(label) for _ in range(count)]
        names = [self.graph.argument(argument, label) for argument in inputs]
        while names and not names[-1]:
            names.pop()
        proto = NodeProto(op_type=op_type, domain=domain, input=names, output=results)
        for key, value in attributes.items():
            if value is not None and not (isinstance(value, (list, tuple)) and not value):
                proto.attribute.append(helper.make_attribute(key, value))
        self.graph.shared.domains.add(domain)
        self.protos.append(proto)
        return results

    def rename(self, name: str, new_name: str) -> None:
        """Rename a value that these nodes write; one that they do not write is copied."""
        if not any(name in proto.output for proto in self.protos):
            return self.copy(name, new_name)
        for proto in self.protos:
            for names in (proto.input, proto.output):
                for index, used in enumerate(names):
                    if used == name:
                        names[index] = new_name

    def copy(self, name: str, new_name: str) -> None:
        self.protos.append(NodeProto(op_type="Identity", input=[name], output=[new_name]))

    def finish(self, result: str = "") -> None:
        """Add the nodes to the graph. The one that writes ``result`` gets the friendly name of the operation."""
        for proto in self.protos:
            name = self.op.friendly_name
            label = name if result in proto.output else f"{name}/{proto.op_type}"
            proto.name = self.graph.shared.node_names.take(label)
        self.graph.proto.node.extend(self.protos)

    def cast(self, value: Argument, kind: Type, source: Type | None = None) -> str:
        """Convert a value to an element type; it stays as it is if ``source``, its type, is the same."""
        if source == kind and isinstance(value, str):
            return value
        return self.add("Cast", value, to=onnx_type(kind))

    def transpose(self, value: Argument, order: Sequence[int]) -> str:
        return self.add("Transpose", value, perm=list(order))

    def lengths(self, value: str, axes: Sequence[int]) -> str:
        """Return the lengths of axes as an i64 vector."""
        return self.add("Gather", self.add("Shape", value), list(axes))


def onnx_type(kind: Type) -> int:
    """Return the TensorProto.DataType. Raises NotInOnnx if ONNX does not have the type."""
    number = data_type(kind) if isinstance(kind, Type) else 0
    if not number:
        raise NotInOnnx(f"element type {kind}")
    return number


# The newest versions that ONNX Runtime 1.32 runs.
OPSETS = {"": 27, "ai.onnx.ml": 5}

# Returns the names of the values that stand for the operation's outputs; of a single one also by itself.
Emitter = Callable[[NodeWriter], "str | Sequence[str]"]

_EMITTERS: dict[type[Node], Emitter] = {}
# The operator and its row for each operation that is one ONNX operator.
_ROWS: dict[type[Node], tuple[str, Row]] = {}


def emitter(*operations: type[Node]) -> Callable[[Emitter], Emitter]:
    """Return a decorator that registers the emitter of these operations."""

    def decorate(function: Emitter) -> Emitter:
        _EMITTERS.update(dict.fromkeys(operations, function))
        return function

    return decorate


def emit(emitters: Mapping[type[Node], Emitter]) -> None:
    """Register emitters of one expression, by operation."""
    _EMITTERS.update(emitters)


def emit_rows(rows: Mapping[str, Row]) -> None:
    """Register rows of operators whose operations they write."""
    for op_type, row in rows.items():
        if isinstance(row.operation, type):
            _ROWS[row.operation] = op_type, row


for _domain, _op_type in translators.by_operator:
    _newest = translators.find(_op_type, OPSETS.get(_domain, 0), _domain)
    if isinstance(_newest, Row):
        emit_rows({_op_type: _newest})


def find_emitter(operation: type[Node]) -> Emitter | None:
    return _EMITTERS.get(operation) or (write_row if operation in _ROWS else None)


def op_type_of(operation: type[Node]) -> str:
    """Return the ONNX operator that an operation is."""
    return _ROWS[operation][0]


def write_row(node: NodeWriter, *inputs: Argument) -> list[str]:
    """Write an operation as the ONNX operator that it is. Attributes with their default values are omitted.

    ``inputs``: in place of those of the operation.
    """
    op_type, row = _ROWS[type(node.op)]
    attributes = {}
    for name, attribute in row.attributes.items():
        value = getattr(node.op, name)
        if isinstance(attribute, Attr):
            attributes[attribute.name] = _written(attribute, value)
        elif value != attribute:
            raise NotInOnnx(f"{name} {value}")
    return node.add_outputs(
        node.op.get_output_size(), op_type, *(inputs or node.inputs), domain=row.domain, **attributes
    )


def _written(attribute: Attr, value: Any) -> Any:
    """Return the value of an attribute as ONNX has it, or None for the default value."""
    value = next((theirs for theirs, ours in attribute.values.items() if ours == value), value)
    if value == attribute.default:
        return None
    if isinstance(value, Type):
        return onnx_type(value)
    return int(value) if isinstance(value, bool) else value

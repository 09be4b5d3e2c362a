"""The registry of emitters, which write one operation as ONNX nodes.

An operation that is one ONNX operator needs no emitter: the row by which that operator is read says how it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero.core.types import Type
from hetero.frontend.onnx import translators as _  # noqa: F401 (fills the table)
from hetero.frontend.onnx.node_context import translators
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, onnx_type
from hetero.frontend.translation.translators import Attr, Row
from hetero.graph import Node

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

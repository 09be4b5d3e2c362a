"""The registry of emitters, which write one operation as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hetero.frontend.onnx.node_writer import NodeWriter
from hetero.graph import Node

# Returns the names of the values that stand for the operation's outputs; of a single one also by itself.
Emitter = Callable[[NodeWriter], "str | Sequence[str]"]

_EMITTERS: dict[type[Node], Emitter] = {}


def emitter(*operations: type[Node]) -> Callable[[Emitter], Emitter]:
    """Return a decorator that registers the emitter of these operations."""

    def decorate(function: Emitter) -> Emitter:
        _EMITTERS.update(dict.fromkeys(operations, function))
        return function

    return decorate


def emit_directly(operators: Mapping[type[Node], str]) -> None:
    """Register operations that have the inputs of an ONNX operator and no attributes."""
    for operation, op_type in operators.items():
        emitter(operation)(lambda node, op_type=op_type: node.add(op_type, *node.inputs))  # type: ignore[misc]


def find_emitter(operation: type[Node]) -> Emitter | None:
    return _EMITTERS.get(operation)

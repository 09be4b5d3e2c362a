"""Which function lowers which operation, and which nodes it cannot lower."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hetero.graph import Node

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

Lower = Callable[["Lowering", Node], None]
# Why a node cannot be lowered, None where it can; shapes may be partly unknown.
Refuse = Callable[[Node], str | None]

_lowerings: dict[type[Node], tuple[Lower, Refuse | None]] = {}


def lowers(*operations: type[Node], unless: Refuse | None = None) -> Callable[[Lower], Lower]:
    """Decorator: the function ``f(lowering, node)`` makes the launches of these operations, unless they are refused."""

    def register(function: Lower) -> Lower:
        for operation in operations:
            _lowerings[operation] = (function, unless)
        return function

    return register


def lowering_of(node: Node) -> Lower | None:
    """The function that lowers a node."""
    entry = _lowerings.get(type(node))
    return entry[0] if entry else None


def why_not(node: Node) -> str | None:
    """Why a node cannot be lowered; None where it can."""
    entry = _lowerings.get(type(node))
    if entry is None:
        return f"no kernel for {node.type_info.version_id}::{node.type_info.name}"
    return entry[1](node) if entry[1] else None

"""Registry of the operations: how to lower each, and why oneDNN cannot run it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from hetero.graph import Node

if TYPE_CHECKING:
    from hetero_onednn.lowering import Lowering
    from hetero_onednn.operation import Operation

Lower = Callable[["Lowering", "Operation"], None]
# Returns why oneDNN cannot run a node, None if it can. Shapes may be partly unknown.
Reason = Callable[[Any], str | None]


class Implementation(NamedTuple):
    unsupported_reason: Reason
    lower: Lower


_IMPLEMENTATIONS: dict[type[Node], Implementation] = {}


def lowers(*types: type[Node], unless: Reason) -> Callable[[Lower], Lower]:
    """Register a function for types of nodes. ``unless`` returns why a node of them cannot run."""

    def register(lower: Lower) -> Lower:
        _IMPLEMENTATIONS.update(dict.fromkeys(types, Implementation(unless, lower)))
        return lower

    return register


def implementation_of(node: Node) -> Implementation | None:
    """Return the implementation of a node's type, None if there is none."""
    return _IMPLEMENTATIONS.get(type(node))

"""Registry of the operations: how to lower each, and checks of nodes that oneDNN cannot run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from hetero.core.types import Type
from hetero.graph import Node
from hetero_onednn.library.api import MAX_RANK

if TYPE_CHECKING:
    from hetero_onednn.lowering import Lowering, PrimitiveOperation

REALS = (Type.f32,)

Lower = Callable[["Lowering", "PrimitiveOperation"], None]
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


def type_reason(node: Node, types: Collection[object] = REALS, inputs: int | None = None) -> str | None:
    """Return why the element types of a node do not fit, None if they do: all values, or the first ``inputs``."""
    values = [*node.input_values()[:inputs], node.output(0)]
    wrong = next((value.element_type for value in values if value.element_type not in types), None)
    return f"oneDNN does not compute it in {wrong}" if wrong is not None else None


def rank_reason(node: Node, least: int = 0, most: int = MAX_RANK) -> str | None:
    """Return why the rank of the first input does not fit, None if it does."""
    shape = node.get_input_partial_shape(0)
    if not shape.has_rank:
        return "the rank of its data is not known"
    if not least <= len(shape) <= most:
        return f"oneDNN takes data of {least} to {most} dimensions, not of {len(shape)}"
    return None


def unsupported_unless(
    types: Collection[object] = REALS, inputs: int | None = None, least: int = 0, most: int = MAX_RANK
) -> Reason:
    """Return a check for ``lowers`` of the element types of all values, or the first ``inputs``, and of the rank."""
    return lambda node: type_reason(node, types, inputs) or rank_reason(node, least, most)

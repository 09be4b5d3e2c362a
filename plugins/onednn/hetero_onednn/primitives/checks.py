"""Checks of nodes that several families need."""

from __future__ import annotations

from collections.abc import Collection

from hetero.core.types import Type
from hetero.graph import Node
from hetero_onednn.library.api import MAX_RANK

REALS = (Type.f32,)


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

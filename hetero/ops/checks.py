"""What operations of many families check in the same way: element types that must agree, axes from the end."""

from __future__ import annotations

from collections.abc import Iterable

from hetero.graph import Node
from hetero.shape import Dimension, PartialShape
from hetero.types import Type


def common_type(node: Node, indices: Iterable[int]) -> Type:
    """The element type that the inputs share, dynamic while none is known. Raises GraphError where they differ."""
    found = Type.dynamic
    for index in indices:
        element_type = node.get_input_element_type(index)
        if found.is_static() and element_type.is_static() and element_type is not found:
            node.fail(f"its inputs must have one element type, but have {found} and {element_type}")
        found = element_type if found.is_dynamic() else found
    return found


def normalize_axis(node: Node, axis: int, rank: int) -> int:
    """The axis counted from the front. Raises GraphError where the rank has no such axis."""
    if not -rank <= axis < max(rank, 1):
        node.fail(f"axis {axis} does not exist in {rank} dimensions")
    return axis + rank if axis < 0 else axis


def normalize_axes(node: Node, axes: Iterable[int], rank: int) -> list[int]:
    """The axes counted from the front. Raises GraphError where one does not exist or comes twice."""
    found = [normalize_axis(node, int(axis), rank) for axis in axes]
    if len(set(found)) < len(found):
        node.fail(f"axes {found} name one axis twice")
    return found


def element_count_of(shape: PartialShape) -> int | None:
    """The number of elements where it is known."""
    count = shape.element_count()
    return count.get_length() if count.is_static else None


def merge_dimensions(node: Node, dimensions: Iterable[Dimension], what: str) -> Dimension:
    """The lengths that fit all dimensions. Raises GraphError, speaking of ``what``, where none does."""
    merged = Dimension()
    for dimension in dimensions:
        if not merged.compatible(dimension):
            node.fail(f"{what} must be equal, but are {merged} and {dimension}")
        merged = merged.merge(dimension)
    return merged

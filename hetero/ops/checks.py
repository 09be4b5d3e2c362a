"""What operations of many families check in the same way: element types that must agree, axes from the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hetero.graph import Node, choice
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


def check_type(node: Node, indices: Iterable[int], fits: Callable[[Type], bool], wanted: str) -> None:
    """Raises GraphError, saying what is ``wanted``, where the element type of an input is known and does not fit."""
    for index in indices:
        element_type = node.get_input_element_type(index)
        if element_type.is_static() and not fits(element_type):
            node.fail(f"input {index} must be {wanted}, but is {element_type}")


def is_number(element_type: Type) -> bool:
    """True for integers and floating-point numbers, false for boolean and string."""
    return element_type.is_integral() or element_type.is_real()


def check_scalar(node: Node, index: int) -> None:
    """Raises GraphError where an input cannot be a scalar."""
    shape = node.get_input_partial_shape(index)
    if not shape.compatible([]):
        node.fail(f"input {index} must be a scalar, but has the shape {shape}")


def check_scalar_or_one(node: Node, index: int) -> None:
    """Raises GraphError where an input can neither be a scalar nor a vector of one element."""
    shape = node.get_input_partial_shape(index)
    if not shape.compatible([]) and not shape.compatible([1]):
        node.fail(f"input {index} must be a scalar or have one element, but has the shape {shape}")


def normalize_axis(node: Node, axis: int, rank: int) -> int:
    """The axis from the front; a scalar counts as one dimension. Raises GraphError where the rank has no such axis."""
    length = max(rank, 1)
    if not -length <= axis < length:
        node.fail(f"axis {axis} does not exist in {rank} dimensions")
    return axis % length


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


def numpy_or_none(value: Any) -> str:
    """How shapes are broadcast, for attributes: "numpy", or "none", which may be written "explicit" too."""
    return choice("numpy", "none")("none" if str(value).lower() == "explicit" else value)


numpy_or_none.accepts = "one of numpy, explicit"  # type: ignore[attr-defined]

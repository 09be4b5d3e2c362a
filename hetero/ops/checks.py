"""Checks of inputs and attributes that operations of many families share, and value propagation.

Value propagation: partially known contents of small integer tensors, from which shape inference computes shapes. A
known value is an array of ints. If some elements are unknown, it is an object array in which each of them is a
Dimension, the interval of non-negative integers that contains it. numpy moves such elements like any others (Concat,
Slice, Reshape, …), and ``+``, ``-``, ``*`` use Dimension's operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from hetero.core.containers import ContainerType
from hetero.core.lengths.length import Length, whole
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Node, Op, Output, accepts, choice

# Values of more elements are taken for data, not shapes, and are not propagated.
MAX_VALUE_SIZE = 1024


def known_values(outputs: Sequence[Output]) -> list[np.ndarray] | None:
    """Return the values of integer (or boolean) outputs; None if one is not known or has too many elements."""
    values = [output.value for output in outputs]
    if any(v is None or v.size > MAX_VALUE_SIZE or v.dtype.kind not in "iubO" for v in values):
        return None
    return values  # type: ignore[return-value]  # none is None


def is_short(output: Output) -> bool:
    """Return whether an output has a static shape and few enough elements for value propagation."""
    return output.partial_shape.is_static and output.partial_shape.element_count().get_length() <= MAX_VALUE_SIZE


def is_exact(value: np.ndarray | None) -> TypeGuard[np.ndarray]:
    """Return whether every element of the value is known."""
    return value is not None and value.dtype != object


def exact_value(output: Output) -> np.ndarray | None:
    """Return the contents of an output, or None unless every element is known; works for Constants of any type.

    Elements that are Lengths become numbers.
    """
    value = output.value
    if value is None or value.dtype != object or isinstance(output.element_type, ContainerType):
        return value
    if not has_lengths(value):
        return None
    flat = [int(v.get_length()) if isinstance(v, Dimension) else v for v in value.reshape(-1)]
    return np.array(flat, output.element_type.to_dtype()).reshape(value.shape)


def has_lengths(value: np.ndarray) -> bool:
    """Return whether the elements of an object array are all known, some of them as Lengths."""
    return all(isinstance(v, int) or (isinstance(v, Dimension) and v.is_static) for v in value.reshape(-1))


def numbers_of(value: np.ndarray) -> np.ndarray | None:
    """Return the elements of a value as numbers, some of which may be Lengths; None unless every element is known."""
    if value.dtype != object:
        return value
    if not has_lengths(value):
        return None
    numbers = np.empty(value.shape, object)
    numbers.reshape(-1)[:] = [v.get_length() if isinstance(v, Dimension) else v for v in value.reshape(-1)]
    return numbers


def value_of_numbers(numbers: np.ndarray) -> np.ndarray | None:
    """Return numbers, some of which may be Lengths, as a value; None if a Length is negative, as no Dimension is."""
    flat: list[Any] = [whole(number) for number in np.asarray(numbers, object).reshape(-1)]
    if any(isinstance(number, Length) and number < 0 for number in flat):
        return None
    value = np.empty(len(flat), object)
    value[:] = [Dimension(number) if isinstance(number, Length) else number for number in flat]  # type: ignore[arg-type]
    return tidy(value.reshape(np.shape(numbers)))


def exact_number(output: Output) -> int | None:
    """Return the first element of an output that holds an integer, or None if it is not known."""
    value = exact_value(output)
    return None if value is None or not value.size else int(value.reshape(-1)[0])


def exact_length(output: Output) -> Dimension:
    """Return the length that an output holds, as far as it is known."""
    length = exact_number(output)
    return Dimension() if length is None else Dimension(length)


def value_of_shape(shape: PartialShape) -> np.ndarray | None:
    """Return a shape as a known value, as ShapeOf outputs it; None if the rank is unknown."""
    return tidy(np.array([*shape, None], dtype=object)[:-1]) if shape.has_rank else None


def shape_of_value(output: Output) -> PartialShape:
    """Return the shape that a 1-D integer output describes, as far as it is known."""
    if output.value is not None:
        return PartialShape([_as_dimension(v) for v in output.value.reshape(-1)])
    rank = output.partial_shape[0] if output.partial_shape.has_rank and len(output.partial_shape) == 1 else Dimension()
    return PartialShape.dynamic(rank)


def tidy(value: np.ndarray) -> np.ndarray:
    """Replace static Dimensions by ints, except Lengths; returns an int64 array if every element is an int."""
    if value.dtype != object:
        return value
    flat = [_as_int(v) for v in value.reshape(-1)]
    if all(isinstance(v, int) for v in flat):
        return np.array(flat, dtype=np.int64).reshape(value.shape)
    mixed = np.empty(len(flat), dtype=object)
    mixed[:] = flat
    return mixed.reshape(value.shape)


def all_fit(value: np.ndarray, dtype: np.dtype) -> bool:
    """Return whether all elements of an array of ints and Dimensions are in the range of an integer type."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    items = [_bounds(item) for item in np.asarray(value, object).reshape(-1)]
    return limits is not None and all(limits.min <= low <= high <= limits.max for low, high in items)


def is_minus_one(item: object) -> bool:
    """Return whether a known element is -1; an unknown Dimension, which equals -1 too, is not."""
    return isinstance(item, int) and item == -1


def _bounds(item: int | Dimension) -> tuple[int, int]:
    """Return the smallest and largest number of an int or Dimension; an unbounded one counts as its minimum."""
    if not isinstance(item, Dimension):
        return whole(item), whole(item)
    return item.min_length, max(item.min_length, item.max_length)


def as_objects(values: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Convert values to object arrays, on which numpy's operators call Dimension's."""
    return [v.astype(object) for v in values]


def _as_int(value: Any) -> object:
    if isinstance(value, Dimension):
        return value.get_length() if value.is_number else value
    return int(value)


def _as_dimension(value: Any) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(int(value))


# A predicate on element types, and its description for messages.
AcceptedTypes = tuple[Callable[[Type], bool], str]


def common_type(node: Node, indices: Iterable[int]) -> Type:
    """Return the element type that the inputs share, dynamic if none is known. Raises GraphError if they differ."""
    common = Type.dynamic
    for index in indices:
        element_type = node.get_input_element_type(index)
        if common.is_static() and element_type.is_static() and element_type is not common:
            node.fail(f"its inputs must have one element type, but have {common} and {element_type}")
        common = element_type if common.is_dynamic() else common
    return common


def check_type(node: Node, indices: Iterable[int], accepts: Callable[[Type], bool], accepted: str) -> None:
    """Raise GraphError if the known element type of an input is not accepted; ``accepted`` goes into the message."""
    for index in indices:
        element_type = node.get_input_element_type(index)
        if element_type.is_static() and not accepts(element_type):
            node.fail(f"input {index} must be {accepted}, but is {element_type}")


def check_index_type(node: Node, name: str) -> None:
    """Raise GraphError if an attribute is neither i32 nor i64."""
    if getattr(node, name) not in (Type.i32, Type.i64):
        node.fail(f"{name} must be i32 or i64, but is {getattr(node, name)}")


def is_number(element_type: Type) -> bool:
    """Return True for integers and floating-point numbers, False for boolean and string."""
    return element_type.is_integer() or element_type.is_real()


def is_computed_real(element_type: Type) -> bool:
    """Return True for the floating-point types with which OpenVINO's specifications compute: f32, f16 and bf16."""
    return element_type in (Type.f32, Type.f16, Type.bf16)


def is_index(element_type: Type) -> bool:
    """Return True for the types of indices in OpenVINO's specifications: i32 and i64."""
    return element_type in (Type.i32, Type.i64)


def is_boolean(element_type: Type) -> bool:
    return element_type is Type.boolean


def check_scalar(node: Node, index: int) -> None:
    """Raise GraphError if an input cannot be a scalar."""
    shape = node.get_input_partial_shape(index)
    if not shape.compatible([]):
        node.fail(f"input {index} must be a scalar, but has the shape {shape}")


def check_scalar_or_one(node: Node, index: int) -> None:
    """Raise GraphError if an input can be neither a scalar nor a vector of one element."""
    shape = node.get_input_partial_shape(index)
    if not shape.compatible([]) and not shape.compatible([1]):
        node.fail(f"input {index} must be a scalar or have one element, but has the shape {shape}")


def normalize_axis(node: Node, axis: int, rank: int) -> int:
    """Return the non-negative index of an axis; rank 0 counts as 1. Raises GraphError if the axis is out of range."""
    length = max(rank, 1)
    if not -length <= axis < length:
        node.fail(f"axis {axis} does not exist in {rank} dimensions")
    return axis % length


def normalize_axes(node: Node, axes: Iterable[int], rank: int) -> list[int]:
    """Return the non-negative indices of axes. Raises GraphError if one is out of range or repeated."""
    normalized = [normalize_axis(node, int(axis), rank) for axis in axes]
    if len(set(normalized)) < len(normalized):
        node.fail(f"axes {normalized} contain an axis twice")
    return normalized


def input_name(node: Op, index: int) -> str:
    """Return the declared name of an input, for messages."""
    return node.input_names[min(index, len(node.input_names) - 1)].strip("*?")


def shape_of_rank(node: Op, index: int, *ranks: int) -> PartialShape:
    """Return the shape of an input, of the first rank if unknown. Raises GraphError if it has another rank."""
    shape = node.get_input_partial_shape(index)
    if not shape.has_rank:
        return PartialShape.dynamic(ranks[0])
    if len(shape) not in ranks:
        accepted = " or ".join(map(str, ranks))
        node.fail(f"{input_name(node, index)} must have {accepted} dimensions, but the shape is {shape}")
    return shape


def non_scalar_shape(node: Op, index: int) -> PartialShape:
    """Return the shape of an input. Raises GraphError if it is a scalar."""
    shape = node.get_input_partial_shape(index)
    if shape.rank == 0:
        node.fail(f"{input_name(node, index)} must have one or more dimensions, but is a scalar")
    return shape


def known_axis(node: Op, index: int, shape: PartialShape) -> int | None:
    """Return the non-negative axis that an input holds; None if the axis or the rank of the shape is not known.

    Raises GraphError if the input holds several numbers, or if the shape has no such axis.
    """
    axis = exact_value(node.input_value(index))
    if axis is not None and axis.size != 1:
        node.fail(f"axis must be one number, but has {axis.size}")
    return None if axis is None or not shape.has_rank else normalize_axis(node, int(axis.item()), len(shape))


def merge_dimensions(node: Node, dimensions: Iterable[Dimension], what: str) -> Dimension:
    """Merge dimensions that must be equal; ``what`` names them in the GraphError raised if they are not."""
    merged = Dimension()
    for dimension in dimensions:
        if not merged.compatible(dimension):
            node.fail(f"{what} must be equal, but are {merged} and {dimension}")
        merged = merged.merge(dimension)
    return merged


@accepts("one of numpy, explicit")
def numpy_or_none(value: Any) -> str:
    """Parse an auto_broadcast attribute: "numpy", or "none", which may also be written "explicit"."""
    return choice("numpy", "none")("none" if str(value).lower() == "explicit" else value)

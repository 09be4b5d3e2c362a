"""Value propagation: partially known contents of small integer tensors, from which shape inference computes shapes.

A known value is an array of ints. If some elements are unknown, it is an object array in which each of them is a
Dimension, the interval of non-negative integers that contains it. numpy moves such elements like any others (Concat,
Slice, Reshape, …), and ``+``, ``-``, ``*`` use Dimension's operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.graph import Output

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
    """Return the contents of an output, or None unless every element is known; works for Constants of any type."""
    return output.value if is_exact(output.value) else None


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
    """Replace static Dimensions by ints; returns an int64 array if every element is an int."""
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
        return int(item), int(item)
    return item.min_length, max(item.min_length, item.max_length)


def as_objects(values: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Convert values to object arrays, on which numpy's operators call Dimension's."""
    return [v.astype(object) for v in values]


def _as_int(value: Any) -> object:
    if isinstance(value, Dimension):
        return value.get_length() if value.is_static else value
    return int(value)


def _as_dimension(value: Any) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(int(value))

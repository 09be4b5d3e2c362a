"""What is known of small integer tensors before anything runs: the contents that become shapes.

A known value is an array of ints; where an element is unknown, an object array with a Dimension in its
place, the interval of non-negative numbers in which it lies. Moving such elements about (Concat,
Slice, Reshape, …) is done by numpy as with any array, and ``+``, ``-``, ``*`` by Dimension's operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from hetero.graph import Output
from hetero.shape import Dimension, PartialShape

# Longer tensors are data, not shapes.
LONGEST_VALUE = 1024


def known_values(outputs: Sequence[Output]) -> list[np.ndarray] | None:
    """The known values of integer (or boolean) outputs; None when one has none or is too long."""
    values = [output.value for output in outputs]
    if any(v is None or v.size > LONGEST_VALUE or v.dtype.kind not in "iubO" for v in values):
        return None
    return values  # type: ignore[return-value]


def is_short(output: Output) -> bool:
    """Return whether an output has a known shape and so few elements that its contents are followed before it runs."""
    return output.partial_shape.is_static and output.partial_shape.element_count().get_length() <= LONGEST_VALUE


def is_exact(value: np.ndarray | None) -> bool:
    """Whether every element is known."""
    return value is not None and value.dtype != object


def exact_value(output: Output) -> np.ndarray | None:
    """The contents of an output where every element is known, a Constant's of any type and length; else None."""
    return output.value if is_exact(output.value) else None


def value_of_shape(shape: PartialShape) -> np.ndarray | None:
    """A shape as a value: what ShapeOf hands out."""
    return tidy(np.array([*shape, None], dtype=object)[:-1]) if shape.has_rank else None


def shape_of_value(output: Output) -> PartialShape:
    """The shape that a 1-D integer output describes, as far as it is known."""
    if output.value is not None:
        return PartialShape([_as_dimension(v) for v in output.value.reshape(-1)])
    rank = output.partial_shape[0] if output.partial_shape.has_rank and len(output.partial_shape) == 1 else Dimension()
    return PartialShape.dynamic(rank)


def tidy(value: np.ndarray) -> np.ndarray:
    """The value with static Dimensions as ints, as an int64 array when nothing else is left."""
    if value.dtype != object:
        return value
    flat = [_as_int(v) for v in value.reshape(-1)]
    if all(isinstance(v, int) for v in flat):
        return np.array(flat, dtype=np.int64).reshape(value.shape)
    tidied = np.empty(len(flat), dtype=object)
    tidied[:] = flat
    return tidied.reshape(value.shape)


def as_objects(values: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The values as object arrays, so that numpy's operators use Dimension's."""
    return [v.astype(object) for v in values]


def _as_int(value: object) -> object:
    if isinstance(value, Dimension):
        return value.get_length() if value.is_static else value
    return int(value)  # type: ignore[call-overload]


def _as_dimension(value: object) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(int(value))  # type: ignore[call-overload]

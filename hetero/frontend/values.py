"""What translators need of all formats: small operations on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.node_context import NodeContext
from hetero.graph import Constant, Output, is_constant
from hetero.ops.values import exact_value
from hetero.shape import Dimension

# How many dimensions numpy's arrays can have.
_MOST_DIMENSIONS = 64


def rank_of(value: Output) -> int:
    """The rank of a value. Raises FrontendError where the translation needs it but it is not known."""
    if not value.partial_shape.has_rank:
        raise FrontendError("it can be translated only for inputs of known rank")
    return len(value.partial_shape)


def dimension_count(numbers: Output) -> int:
    """How many dimensions a vector has numbers for. Raises FrontendError where it is not known, or more than can be."""
    count = numbers.partial_shape[0] if rank_of(numbers) == 1 else Dimension()
    if count.is_dynamic or count.get_length() > _MOST_DIMENSIONS:
        raise FrontendError(
            f"numbers of shape {numbers.partial_shape} must be for {_MOST_DIMENSIONS} dimensions at most"
        )
    return count.get_length()


def normalized(axis: int, rank: int) -> int:
    """The axis counted from the front. Raises FrontendError where the rank has no such axis."""
    if not -rank <= axis < rank:
        raise FrontendError(f"axis {axis} is none of a value of rank {rank}")
    return axis % rank


def scalar_like(value: Output, number: float) -> Constant:
    """A scalar of the value's element type."""
    return Constant(np.array(number, value.element_type.to_dtype()))


def int64(numbers: Sequence[int] | int) -> Constant:
    return Constant(np.array(numbers, np.int64))


def length_of(value: Output, axis: int) -> Output:
    """The length of an axis, as a scalar that is known when the model runs."""
    return ops.Gather(ops.ShapeOf(value), int64(axis), int64(0)).output(0)


def known_input(node: NodeContext, index: int, name: str) -> np.ndarray:
    """The contents of an input. Raises FrontendError where they are not known before the model runs."""
    value = exact_value(node.get_input(index))
    if value is None:
        raise FrontendError(f"its input {name} must be known before the model runs")
    return value


def constant_array(value: Output) -> np.ndarray | None:
    """The contents of a Constant; None of other values, of which what is known may change with the inputs' shapes."""
    return value.node.data if is_constant(value) else None


def reshape(value: Output, shape: Sequence[int]) -> Output:
    """The value in another shape, 0 copying a dimension; a constant as another view of its array, without a copy."""
    if 0 not in shape and (constant := _of_constant(value, lambda data: data.reshape(shape))):
        return constant
    return ops.Reshape(value, int64(shape), True).output(0)


def transpose(value: Output, order: Sequence[int]) -> Output:
    """The value with its axes in another order; a constant as another view of its array, without a copy."""
    return _of_constant(value, lambda data: data.transpose(order)) or ops.Transpose(value, int64(order)).output(0)


def _of_constant(value: Output, view: Callable[[np.ndarray], np.ndarray]) -> Output | None:
    """A constant of a view of the array, of one kept in a narrower type too; None of a value that is none."""
    if is_constant(value):
        return Constant(view(value.node.data)).output(0)
    node = value.node
    if isinstance(node, ops.Convert) and is_constant(node.input_value(0)):
        return ops.Convert(Constant(view(node.input_value(0).node.data)), value.element_type).output(0)
    return None


def flatten(value: Output, axis: int) -> Output:
    """The value as a matrix: the dimensions before ``axis`` times those from it on."""
    rank = rank_of(value)
    if not -rank <= axis <= rank:
        raise FrontendError(f"axis {axis} is none of a value of rank {rank}")
    axis = axis + rank if axis < 0 else axis
    shape = value.partial_shape
    if axis <= 1:
        return reshape(value, (0 if axis else 1, -1))
    if all(d.is_static for d in shape[:axis]):
        return reshape(value, (int(np.prod(shape[:axis].to_shape())), -1))
    if all(d.is_static for d in shape[axis:]):
        return reshape(value, (-1, int(np.prod(shape[axis:].to_shape()))))
    before = ops.Slice(ops.ShapeOf(value), int64([0]), int64([axis]), int64([1]), int64([0]))
    rows = ops.ReduceProd(before, int64([0]), True)
    return ops.Reshape(value, ops.Concat([rows, int64([-1])], 0), False).output(0)


def per_channel(vector: Output, rank: int) -> Output:
    """A vector with one element a channel, in a shape that broadcasts to data of this rank."""
    return reshape(vector, (1, -1, *[1] * (rank - 2)))


def spatial_axes(value: Output) -> Constant:
    return int64(range(2, rank_of(value)))

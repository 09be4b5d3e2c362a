"""Small building blocks for the translators of all formats: constants, conversions, shapes, axes, reshapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from hetero import ops
from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.frontend.translation.node_context import NodeContext
from hetero.graph import Constant, Node, Output, as_output, constant_array
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

# The maximum rank of numpy arrays.
_MAX_RANK = 64


def rank_of(value: Output) -> int:
    """Return the rank of a value. Raises FrontendError if it is unknown."""
    if not value.partial_shape.has_rank:
        raise FrontendError("it needs inputs of known rank")
    return len(value.partial_shape)


def dimension_count(numbers: Output) -> int:
    """Return the length of a vector with one number for each dimension of a shape.

    Raises FrontendError if the length is unknown or above the maximum rank.
    """
    count = numbers.partial_shape[0] if rank_of(numbers) == 1 else Dimension()
    if count.is_dynamic or count.get_length() > _MAX_RANK:
        raise FrontendError(f"numbers of shape {numbers.partial_shape} must be for {_MAX_RANK} dimensions at most")
    return count.get_length()


def normalize_axis(axis: int, rank: int) -> int:
    """Return a possibly negative axis as one from 0 to rank - 1. Raises FrontendError if it is out of range."""
    if not -rank <= axis < rank:
        raise _axis_error(axis, rank)
    return axis % rank


def _axis_error(axis: int, rank: int) -> FrontendError:
    return FrontendError(f"axis {axis} is out of range for rank {rank}")


def scalar_like(value: Output, number: float | np.floating) -> Constant:
    """Return a scalar constant of the value's element type."""
    return Constant(np.array(number, value.element_type.to_dtype()))


def multiply_by(value: Output | Node, factor: float) -> Output:
    """Multiply a value by a number; without an operation if the number is 1."""
    value = as_output(value)
    return value if factor == 1 else ops.Multiply(value, scalar_like(value, factor)).output(0)


def convert_to(value: Output, kind: Type) -> Output:
    """Return the value with this element type, without an operation if it has the type already."""
    return value if value.element_type is kind else ops.Convert(value, kind).output(0)


def int64(numbers: ArrayLike) -> Constant:
    """Return an i64 scalar or vector constant."""
    return Constant(np.array(numbers, np.int64))


def axis_length(value: Output | Node, axis: int | Sequence[int]) -> Output:
    """Return the length of an axis as an i64 scalar, or of a sequence of axes as a vector, computed at run time."""
    return ops.Gather(ops.ShapeOf(value), int64(axis), int64(0)).output(0)


def known_length(value: Output, axis: int, what: str) -> int:
    """Return the length of an axis. Raises FrontendError, which calls the length ``what``, if it is unknown."""
    shape = value.partial_shape
    if not shape.has_rank or shape[axis].is_dynamic:
        raise FrontendError(f"{what} must be known")
    return shape[axis].get_length()


def arange(length: Output | Node) -> Output:
    """Return the i64 vector 0 … length - 1."""
    return ops.Range(int64(0), length, int64(1), "i64").output(0)


def constant_input(node: NodeContext, index: int, name: str) -> np.ndarray:
    """Return the contents of a constant input. Raises FrontendError if they depend on the model's inputs."""
    value = exact_value(node.get_input(index))
    if value is None:
        raise FrontendError(f"input {name} must be known before the model runs")
    return value


def reshape(value: Output, shape: Sequence[int]) -> Output:
    """Reshape a value; 0 copies a dimension. A constant becomes a new constant, a view of the same array."""
    if 0 not in shape and (constant := _of_constant(value, lambda data: data.reshape(shape))):
        return constant
    return ops.Reshape(value, int64(shape), True).output(0)


def transpose(value: Output, order: Sequence[int]) -> Output:
    """Permute the axes of a value. A constant becomes a new constant, a view of the same array."""
    return _of_constant(value, lambda data: data.transpose(order)) or ops.Transpose(value, int64(order)).output(0)


def _of_constant(value: Output, view: Callable[[np.ndarray], np.ndarray]) -> Output | None:
    """Apply ``view`` to the array of a constant, or of a constant below a Convert; return None for other values."""
    if (data := constant_array(value)) is not None:
        return Constant(view(data)).output(0)
    node = value.node
    if isinstance(node, ops.Convert) and (data := constant_array(node.input_value(0))) is not None:
        return ops.Convert(Constant(view(data)), value.element_type).output(0)
    return None


def flatten(value: Output, axis: int) -> Output:
    """Reshape a value to a matrix: rows from the dimensions before ``axis``, columns from the others."""
    rank = rank_of(value)
    if not -rank <= axis <= rank:
        raise _axis_error(axis, rank)
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
    """Reshape a vector of one number per channel to broadcast to ``[N, C, …]`` data of this rank."""
    return reshape(vector, (1, -1, *[1] * (rank - 2)))


def channels_second(value: Output) -> Output:
    """Transpose ``[N, …, C]``, as in TensorFlow, to ``[N, C, …]``, as in OpenVINO."""
    rank = rank_of(value)
    return transpose(value, (0, rank - 1, *range(1, rank - 1)))


def channels_last(value: Output | Node) -> Output:
    """Transpose ``[N, C, …]``, as in OpenVINO, to ``[N, …, C]``, as in TensorFlow."""
    value = as_output(value)
    rank = rank_of(value)
    return transpose(value, (0, *range(2, rank), 1))


def prelu_broadcasting(value: Output, slope: Output) -> Output:
    """Return x where x > 0, else slope · x, with a slope that broadcasts as in numpy.

    PRelu-1 differs: it takes a slope of rank 1 as one slope for each channel.
    """
    shape = slope.partial_shape
    if shape.has_rank and (len(shape) != 1 or value.partial_shape.has_rank):
        is_of_channels = len(shape) == 1 and len(value.partial_shape) > 1
        return ops.PRelu(value, reshape(slope, (1, -1)) if is_of_channels else slope).output(0)
    zero = scalar_like(value, 0)
    negative = ops.Multiply(ops.Minimum(value, zero), slope)
    return ops.Add(ops.Maximum(value, zero), negative).output(0)

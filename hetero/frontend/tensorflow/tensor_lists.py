"""Lists of tensors of one shape, which are tensors with an additional first axis.

A list whose elements are not set yet may not know all of their dimensions: these are 1, and the first element that is
set broadcasts the others to its shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.handles import Handle, Value
from hetero.frontend.translation.subgraph import ModelScope
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


@dataclass(frozen=True)
class PendingList(Handle):
    """A list without any element yet, of elements of unknown rank. ``length``: the number of elements, i64."""

    length: Output
    element_type: Type

    def captured(self, scope: ModelScope) -> PendingList:
        """Return the list as a body sees it."""
        return PendingList(scope.capture(self.length, "length"), self.element_type)


def new_list(length: Output, element_type: Type, element_shape: PartialShape) -> Value:
    """Return a list of zeros; a PendingList if the rank of the elements is unknown."""
    if element_type.is_dynamic():
        raise FrontendError("lists of lists, resources or complex numbers are not supported")
    pending = PendingList(ops.Reshape(ops.Convert(length, Type.i64), int64([1]), False).output(0), element_type)
    return with_element_shape(pending, [None, *element_shape]) if element_shape.has_rank else pending


def with_element_shape(pending: PendingList, shape: PartialShape | list) -> Output:
    """Return the list as a tensor. ``shape``: that of the tensor, of which the first dimension does not matter."""
    lengths = [length.get_length() if length.is_static else 1 for length in list(shape)[1:]]
    # Zeros that are broadcast from one: they take no memory before the model runs.
    zero = Constant(np.zeros((), pending.element_type.to_dtype()))
    return ops.Broadcast(zero, ops.Concat([pending.length, int64(lengths)], 0)).output(0)


def set_item(values: Value, index: Output, item: Output, grows: bool = False) -> Output:
    """Return the list with another element. ``grows``: the list grows to the index if it is shorter."""
    at = ops.Reshape(index, int64([1]), False)
    tensor = with_item_shape(values, item)
    if grows:
        tensor = grown(tensor, ops.Add(convert_to(index, Type.i64), int64(1)).output(0))
    return ops.ScatterUpdate(tensor, at, _row(item), int64(0)).output(0)


def grown(tensor: Output, count: Output) -> Output:
    """Return a list with zeros added if it has fewer elements than the i64 scalar ``count``."""
    shape = ops.ShapeOf(tensor)
    length = ops.Gather(shape, int64([0]), int64(0))
    missing = ops.Relu(ops.Subtract(count, length))
    rest = ops.Slice(shape, int64([1]), int64([np.iinfo(np.int64).max]), int64([1]))
    zeros = ops.Broadcast(scalar_like(tensor, 0), ops.Concat([missing, rest], 0))
    return ops.Concat([tensor, zeros], 0).output(0)


def push_back(values: Value, item: Output) -> Output:
    """Return the list with an additional last element."""
    return ops.Concat([with_item_shape(values, item), _row(item)], 0).output(0)


def as_tensor(values: Value) -> Output:
    """Return a list that has elements. Raises FrontendError."""
    if not isinstance(values, Output):
        raise FrontendError("the elements of a list that is read must have been set before")
    return values


def _row(item: Output) -> Output:
    return ops.Unsqueeze(item, int64([0])).output(0)


def with_item_shape(values: Value, item: Output) -> Output:
    """Return the list with the shape of an item."""
    if isinstance(values, PendingList):
        if not item.partial_shape.has_rank:
            raise FrontendError("the items of a list must have a known rank")
        values = with_element_shape(values, [None, *item.partial_shape])
    tensor = as_tensor(values)
    shape = tensor.partial_shape
    if shape.has_rank and item.partial_shape.is_static and list(shape)[1:] == list(item.partial_shape):
        return tensor
    if shape.has_rank and all(length.is_static and length != 1 for length in list(shape)[1:]):
        return tensor
    length = ops.Gather(ops.ShapeOf(tensor), int64([0]), int64(0))
    return ops.Broadcast(tensor, ops.Concat([length, ops.ShapeOf(item)], 0)).output(0)

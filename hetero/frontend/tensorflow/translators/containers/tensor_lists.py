"""Lists of tensors: TensorList operators, and the TensorArrays of TensorFlow 1, which are the same with two values.

A list is a tensor with an additional first axis. One whose elements are not set yet may not know all of their
dimensions: these are 0, and the first element that is set gives the others its shape, as zeros. Any further element
must have this shape too: otherwise the model is refused if the shapes are known, and fails when it runs if not.
Elements that are set but have no numbers count as not set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.frontend.tensorflow.decoded import Reference
from hetero.frontend.tensorflow.node_context import Handle, TensorflowNodeContext, Value, Values, rows, translator
from hetero.frontend.tensorflow.translators.containers.unequal_lists import (
    UnequalList,
    may_differ,
    translate_unequal,
)
from hetero.frontend.translation.subgraph import ModelScope
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator
from hetero.frontend.translation.values import axis_length, constant_input, convert_to, int64, scalar_like
from hetero.graph import Constant, Op, Output, constant_array
from hetero.system.errors import FrontendError


@dataclass(frozen=True)
class PendingList(Handle):
    """A list without any element yet, of elements of unknown rank. ``length``: the number of elements, i64.

    ``may_differ``: it becomes an UnequalList if possible, because the elements may have different lengths.
    """

    length: Output
    element_type: Type
    may_differ: bool = False

    def captured(self, scope: ModelScope) -> PendingList:
        return replace(self, length=scope.capture(self.length, "length"))


def new_list(length: Output, element_type: Type, element_shape: PartialShape, may_differ: bool = False) -> Value:
    """Return a list of zeros; a PendingList if the rank of the elements is unknown."""
    if element_type.is_dynamic():
        raise FrontendError("lists of lists, resources or complex numbers are not supported")
    count = ops.Reshape(ops.Convert(length, Type.i64), int64([1]), False).output(0)
    pending = PendingList(count, element_type, may_differ)
    return with_element_shape(pending, element_shape) if element_shape.has_rank else pending


def with_element_shape(pending: PendingList, element_shape: PartialShape) -> Output | UnequalList:
    """Return the list as a tensor, or an UnequalList if the elements may differ and only the lengths are unknown."""
    if pending.may_differ and UnequalList.fits(element_shape):
        return UnequalList.empty(pending.length, pending.element_type, element_shape)
    lengths = [length.get_length() if length.is_static else 0 for length in element_shape]
    # Zeros that are broadcast from one: they take no memory before the model runs.
    return ops.Broadcast(_zero(pending.element_type), ops.Concat([pending.length, int64(lengths)], 0)).output(0)


def _zero(element_type: Type) -> Constant:
    """Return what an element has that is not set: 0, or an empty string."""
    return Constant(np.zeros((), element_type.to_dtype()))


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
    zeros = ops.Broadcast(_zero(tensor.element_type), ops.Concat([missing, rest], 0))
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
    """Return the list with elements of the shape of an item. Raises FrontendError if it has elements of another."""
    if isinstance(values, PendingList):
        _check_rank(item)
        values = with_element_shape(replace(values, may_differ=False), item.partial_shape)
    tensor = as_tensor(values)
    lengths = list(tensor.partial_shape)[1:] if tensor.partial_shape.has_rank else None
    if lengths is not None and item.partial_shape.has_rank:
        if not _may_take(lengths, item.partial_shape):
            raise FrontendError(
                f"an item has the shape {item.partial_shape}, but the elements of the list have "
                f"{PartialShape(lengths)}; they may differ only in the first dimension, and only if they are read one "
                "by one or concatenated"
            )
        if item.partial_shape.is_static and lengths == list(item.partial_shape):
            return tensor
    count, shape = axis_length(tensor, [0]), ops.ShapeOf(item)
    zero = _zero(tensor.element_type)
    if lengths is not None and 0 in lengths:
        return ops.Broadcast(zero, ops.Concat([count, shape], 0)).output(0)
    # The list itself, or zeros instead of one without elements: to concatenate both checks the shapes.
    own_shape = ops.Slice(ops.ShapeOf(tensor), int64([1]), int64([np.iinfo(np.int64).max]), int64([1]))
    is_unset = ops.Equal(ops.ReduceProd(own_shape, int64([0]), True), int64([0]))
    kept = ops.Select(is_unset, int64([0]), count)
    own = ops.Reshape(tensor, ops.Concat([kept, ops.Select(is_unset, shape, own_shape)], 0), False)
    zeros = ops.Broadcast(zero, ops.Concat([ops.Subtract(count, kept), shape], 0))
    return ops.Concat([own, zeros], 0).output(0)


def _check_rank(item: Output) -> None:
    if not item.partial_shape.has_rank:
        raise FrontendError("the items of a list must have a known rank")


def _may_take(lengths: list[Dimension], item: PartialShape) -> bool:
    """Return whether elements may have the shape of an item. Length 0: not set yet."""
    same_rank = len(lengths) == len(item)
    return same_rank and all(own.min_length == 0 or own.compatible(other) for own, other in zip(lengths, item))


def _element_shape(node: TensorflowNodeContext, index: int) -> PartialShape:
    """Return the element shape in an input: a vector with -1 for unknown dimensions, or a scalar for any rank."""
    shape = constant_array(node.get_input(index))
    if shape is None or shape.ndim == 0:
        known = node.get_input(index).partial_shape
        is_vector = known.has_rank and len(known) == 1 and known[0].is_static
        return (
            PartialShape([Dimension()] * known[0].get_length())
            if shape is None and is_vector
            else (PartialShape.dynamic())
        )
    return PartialShape([Dimension() if length < 0 else Dimension(int(length)) for length in shape])


def _new(node: TensorflowNodeContext, output: int, length: Output, element_shape: PartialShape) -> Value:
    """Return the list that an output of a node is."""
    element_type = node.get_attribute("element_dtype" if node.has_attribute("element_dtype") else "dtype")
    created = Reference(node.node_name, output)
    return new_list(length, element_type, element_shape, may_differ(node.graph, node.functions, created))


rows(
    {
        "TensorListReserve": lambda node: _new(node, 0, node.get_input(1), _element_shape(node, 0)),
        "EmptyTensorList": lambda node: _new(node, 0, int64(0).output(0), _element_shape(node, 0)),
        # Elements from rows of a tensor; input 2: the number of rows of each.
        "TensorListSplit": lambda node: _split(node.get_input(0), constant_input(node, 2, "lengths")),
        "TensorArraySplitV3": lambda node: _split(node.get_input(1), constant_input(node, 2, "lengths")),
        "TensorArrayV3": lambda node: [
            TensorArrayHandle(),
            _new(node, 1, node.get_input(0), node.get_attribute("element_shape", PartialShape.dynamic())),
        ],
    }
)


@translator("TensorListScatterV2", "TensorListScatter")
def scatter(node: TensorflowNodeContext) -> Translation:
    """A list as long as input 3 says, or as the largest index needs; elements that are not set are zero."""
    tensor, indices = node.get_input(0), node.get_input(1)
    count = ops.Add(ops.ReduceMax(indices, int64([0]), False), scalar_like(indices, 1)).output(0)
    if node.has_input(3):
        count = ops.Maximum(count, node.get_input(3)).output(0)
    return _scattered(tensor, indices, convert_to(count, Type.i64))


def _scattered(tensor: Output, indices: Output, count: Output) -> Output:
    lengths = ops.Slice(ops.ShapeOf(tensor), int64([1]), int64([np.iinfo(np.int64).max]), int64([1]))
    shape = ops.Concat([ops.Reshape(count, int64([1]), False), lengths], 0)
    return ops.ScatterUpdate(ops.Broadcast(_zero(tensor.element_type), shape), indices, tensor, int64(0)).output(0)


def _split(tensor: Output, lengths: np.ndarray) -> Value:
    if not lengths.size or (lengths != lengths[0]).any():
        return UnequalList(tensor, int64(lengths).output(0))
    rest = ops.Slice(ops.ShapeOf(tensor), int64([1]), int64([np.iinfo(np.int64).max]), int64([1]))
    return ops.Reshape(tensor, ops.Concat([int64([lengths.size, lengths[0]]), rest], 0), False).output(0)


class TensorArrayHandle(Handle):
    """The first value of a TensorArray. Its contents are in the second one, the flow."""


@translator("TensorArrayCloseV3")
def close_array(node: TensorflowNodeContext) -> Translation:
    if node.get_input_size() != 1:
        raise FrontendError("it takes one array")
    return []


def _items(values: Value, index: Output) -> Op:
    return ops.Gather(as_tensor(values), index, int64(0))


def _resize(values: Value, count: Output) -> Values:
    """New elements are zeros."""
    count = convert_to(count, Type.i64)
    if isinstance(values, PendingList):
        return new_list(count, values.element_type, PartialShape.dynamic(), values.may_differ)
    kept = ops.Slice(as_tensor(values), int64([0]), ops.Reshape(count, int64([1]), False), int64([1]), int64([0]))
    return grown(kept.output(0), count)


def _scatter_into(values: Value, tensor: Output, indices: Output) -> Op:
    """Set elements; the list grows to the largest index."""
    needed = ops.Add(ops.ReduceMax(indices, int64([0]), False), scalar_like(indices, 1)).output(0)
    item = ops.Gather(tensor, int64(0), int64(0)).output(0)
    longer = grown(with_item_shape(values, item), convert_to(needed, Type.i64))
    return ops.ScatterUpdate(longer, indices, tensor, int64(0))


def _pop_back(values: Value) -> list[Op]:
    others = ops.Slice(as_tensor(values), int64([0]), int64([-1]), int64([1]), int64([0]))
    return [others, ops.Gather(as_tensor(values), int64(-1), int64(0))]


def _length(values: Value) -> Output:
    count = values.length if isinstance(values, PendingList) else axis_length(as_tensor(values), [0])
    return convert_to(ops.Reshape(count, int64([]), False).output(0), Type.i32)


def _scatter_into_array(flow: Value, indices: Output, tensor: Output) -> Output:
    """The array keeps its length, of which the indices may be a part."""
    count = flow.length if isinstance(flow, PendingList) else axis_length(as_tensor(flow), [0])
    return _scattered(tensor, indices, count)


def _concatenated(value: Value) -> list[Op]:
    """Return the elements one after the other along their first axis, and their lengths."""
    values = as_tensor(value)
    shape = ops.ShapeOf(values)
    lengths = ops.Broadcast(axis_length(values, 1), axis_length(values, [0]))
    rest = ops.Slice(shape, int64([2]), int64([np.iinfo(np.int64).max]), int64([1]))
    return [ops.Reshape(values, ops.Concat([int64([-1]), rest], 0), False), lengths]


# Operators that set an element: their last input is the item.
_SETTING = ("TensorArrayWriteV3", "TensorListPushBack", "TensorListSetItem")


def _before_item(pending: PendingList, item: Output) -> Value:
    """Return a list that may take items of another length later."""
    _check_rank(item)
    lengths = list(item.partial_shape)
    return with_element_shape(pending, PartialShape([Dimension(), *lengths[1:]][: len(lengths)]))


def _of_lists(row: Row) -> Translator:
    """Return the translator of a function whose inputs may be lists without elements, which are no Outputs."""

    def translate(node: TensorflowNodeContext) -> Values:
        values: list[Any] = [node.get_values()[int(index)] for index in row.inputs]  # type: ignore[arg-type]
        if isinstance(values[0], PendingList) and values[0].may_differ and node.get_op_type() in _SETTING:
            values[0] = _before_item(values[0], values[-1])
        if isinstance(values[0], UnequalList):
            grows = node.get_attribute("resize_if_index_out_of_bounds", False, bool)
            return translate_unequal(node.get_op_type(), values, grows)
        return row.make(node, values)

    return translate


rows(
    {
        "TensorArrayConcatV3": Row(_concatenated, 2),
        "TensorArrayGatherV3": Row(_items, 2, 1),
        "TensorArrayReadV3": Row(_items, 2, 1),
        "TensorArrayScatterV3": Row(_scatter_into_array, 3, 1, 2),
        "TensorArraySizeV3": Row(_length, 1),
        "TensorArrayWriteV3": Row(set_item, 3, 1, 2),
        "TensorListConcat": Row(_concatenated, 0),
        "TensorListConcatV2": Row(_concatenated, 0),
        "TensorListFromTensor": Row(as_tensor, 0),
        "TensorListGather": Row(_items, 0, 1),
        "TensorListGetItem": Row(_items, 0, 1),
        "TensorListLength": Row(_length, 0),
        "TensorListPopBack": Row(_pop_back, 0),
        "TensorListPushBack": Row(push_back, 0, 1),
        "TensorListResize": Row(_resize, 0, 1),
        "TensorListScatterIntoExistingList": Row(_scatter_into, 0, 1, 2),
        "TensorListSetItem": Row(set_item, 0, 1, 2, grows=Attr("resize_if_index_out_of_bounds", False, bool)),
        "TensorListStack": Row(as_tensor, 0),
    },
    _of_lists,
)

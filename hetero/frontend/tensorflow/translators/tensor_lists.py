"""Lists of tensors: TensorList operators, and the TensorArrays of TensorFlow 1, which are the same with two values."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.handles import Handle, Value, Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.tensor_lists import (
    PendingList,
    as_tensor,
    grown,
    new_list,
    push_back,
    set_item,
    with_item_shape,
)
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, constant_input, int64, scalar_like
from hetero.graph import Node, Output, constant_array
from hetero.system.errors import FrontendError


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


@translator("TensorListReserve")
def reserve(node: TensorflowNodeContext) -> Values:
    return new_list(node.get_input(1), node.get_attribute("element_dtype"), _element_shape(node, 0))


@translator("EmptyTensorList")
def empty_list(node: TensorflowNodeContext) -> Values:
    return new_list(int64(0).output(0), node.get_attribute("element_dtype"), _element_shape(node, 0))


@translator("TensorListFromTensor", "TensorListStack")
def same_tensor(node: TensorflowNodeContext) -> Translation:
    return as_tensor(node.get_values()[0])


@translator("TensorListGetItem")
def get_item(node: TensorflowNodeContext) -> Translation:
    return ops.Gather(as_tensor(node.get_values()[0]), node.get_input(1), int64(0))


@translator("TensorListSetItem")
def replace_item(node: TensorflowNodeContext) -> Translation:
    """With ``resize_if_index_out_of_bounds``, the list grows to the index."""
    values, index, item = node.get_values()[0], node.get_input(1), node.get_input(2)
    return set_item(values, index, item, node.get_attribute("resize_if_index_out_of_bounds", False, bool))


@translator("TensorListResize")
def resize(node: TensorflowNodeContext) -> Values:
    """New elements are zeros."""
    values, count = node.get_values()[0], convert_to(node.get_input(1), Type.i64)
    if isinstance(values, PendingList):
        return new_list(count, values.element_type, PartialShape.dynamic())
    kept = ops.Slice(as_tensor(values), int64([0]), ops.Reshape(count, int64([1]), False), int64([1]), int64([0]))
    return grown(kept.output(0), count)


@translator("TensorListScatterIntoExistingList")
def scatter_into_list(node: TensorflowNodeContext) -> Translation:
    """Set elements; the list grows to the largest index."""
    values, tensor, indices = node.get_values()[0], node.get_input(1), node.get_input(2)
    needed = ops.Add(ops.ReduceMax(indices, int64([0]), False), scalar_like(indices, 1)).output(0)
    item = ops.Gather(tensor, int64(0), int64(0)).output(0)
    longer = grown(with_item_shape(values, item), convert_to(needed, Type.i64))
    return ops.ScatterUpdate(longer, indices, tensor, int64(0))


@translator("TensorListSplit")
def split_list(node: TensorflowNodeContext) -> Translation:
    """Elements from rows of a tensor; all have the same number of rows, that of input 2."""
    return _split(node.get_input(0), constant_input(node, 2, "lengths"))


def _split(tensor: Output, lengths: np.ndarray) -> Output:
    if not lengths.size or (lengths != lengths[0]).any():
        raise FrontendError(f"the elements have the lengths {lengths.tolist()}; only equal ones are supported")
    rest = ops.Slice(ops.ShapeOf(tensor), int64([1]), int64([np.iinfo(np.int64).max]), int64([1]))
    return ops.Reshape(tensor, ops.Concat([int64([lengths.size, lengths[0]]), rest], 0), False).output(0)


@translator("TensorListPushBack")
def append(node: TensorflowNodeContext) -> Translation:
    return push_back(node.get_values()[0], node.get_input(1))


@translator("TensorListPopBack")
def pop_back(node: TensorflowNodeContext) -> Translation:
    values = as_tensor(node.get_values()[0])
    others = ops.Slice(values, int64([0]), int64([-1]), int64([1]), int64([0]))
    return [others, ops.Gather(values, int64(-1), int64(0))]


@translator("TensorListLength")
def length(node: TensorflowNodeContext) -> Translation:
    return _length(node.get_values()[0])


def _length(values: Value) -> Output:
    count = values.length if isinstance(values, PendingList) else axis_length(as_tensor(values), [0])
    return convert_to(ops.Reshape(count, int64([]), False).output(0), Type.i32)


@translator("TensorListGather")
def gather(node: TensorflowNodeContext) -> Translation:
    return ops.Gather(as_tensor(node.get_values()[0]), node.get_input(1), int64(0))


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
    return ops.ScatterUpdate(ops.Broadcast(scalar_like(tensor, 0), shape), indices, tensor, int64(0)).output(0)


@translator("TensorListConcat", "TensorListConcatV2")
def concatenate(node: TensorflowNodeContext) -> Translation:
    """The elements one after the other along their first axis, and their lengths."""
    return _concatenated(node.get_values()[0])


def _concatenated(value: Value) -> list[Node | Output]:
    values = as_tensor(value)
    shape = ops.ShapeOf(values)
    lengths = ops.Broadcast(axis_length(values, 1), axis_length(values, [0]))
    rest = ops.Slice(shape, int64([2]), int64([np.iinfo(np.int64).max]), int64([1]))
    return [ops.Reshape(values, ops.Concat([int64([-1]), rest], 0), False), lengths]


class TensorArrayHandle(Handle):
    """The first value of a TensorArray. Its contents are in the second one, the flow."""


@translator("TensorArrayV3")
def tensor_array(node: TensorflowNodeContext) -> Values:
    shape = node.get_attribute("element_shape", PartialShape.dynamic())
    return [TensorArrayHandle(), new_list(node.get_input(0), node.get_attribute("dtype"), shape)]


@translator("TensorArrayReadV3")
def read_array(node: TensorflowNodeContext) -> Translation:
    return ops.Gather(as_tensor(node.get_values()[2]), node.get_input(1), int64(0))


@translator("TensorArrayGatherV3")
def gather_array(node: TensorflowNodeContext) -> Translation:
    return ops.Gather(as_tensor(node.get_values()[2]), node.get_input(1), int64(0))


@translator("TensorArrayWriteV3")
def write_array(node: TensorflowNodeContext) -> Translation:
    return set_item(node.get_values()[3], node.get_input(1), node.get_input(2))


@translator("TensorArrayScatterV3")
def scatter_array(node: TensorflowNodeContext) -> Translation:
    """The array keeps its length, of which the indices may be a part."""
    flow, indices, tensor = node.get_values()[3], node.get_input(1), node.get_input(2)
    count = flow.length if isinstance(flow, PendingList) else axis_length(as_tensor(flow), [0])
    return _scattered(tensor, indices, count)


@translator("TensorArraySplitV3")
def split_array(node: TensorflowNodeContext) -> Translation:
    return _split(node.get_input(1), constant_input(node, 2, "lengths"))


@translator("TensorArrayConcatV3")
def concatenate_array(node: TensorflowNodeContext) -> Translation:
    return _concatenated(node.get_values()[2])


@translator("TensorArraySizeV3")
def array_size(node: TensorflowNodeContext) -> Translation:
    return _length(node.get_values()[1])


@translator("TensorArrayCloseV3")
def close_array(node: TensorflowNodeContext) -> Translation:
    if node.get_input_size() != 1:
        raise FrontendError("it takes one array")
    return []

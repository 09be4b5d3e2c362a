"""New tensors from shapes and numbers, and questions about shapes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.shapes import shape_of
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, dimension_count, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Output


@translator("LinSpace")
def linspace(node: TensorflowNodeContext) -> Translation:
    """Numbers at equal distances from input 0 to input 1 inclusive; input 2 is their count."""
    start, stop, count = node.get_inputs()
    count = reshape(convert_to(count, Type.i64), ())
    intervals = ops.Convert(ops.Maximum(ops.Subtract(count, int64(1)), int64(1)), start.element_type)
    step = ops.Divide(ops.Subtract(stop, start), intervals)
    return ops.Add(start, ops.Multiply(ops.Convert(arange(count), start.element_type), step))


@translator("ZerosLike", "OnesLike")
def constant_like(node: TensorflowNodeContext) -> Translation:
    value, number = node.get_input(0), int(node.get_op_type() == "OnesLike")
    start = scalar_like(value, number)
    if node.is_complex():
        start = Constant(np.array([number, 0], value.element_type.to_dtype()))
    return ops.Broadcast(start, ops.ShapeOf(value))


@translator("Empty")
def empty(node: TensorflowNodeContext) -> Translation:
    """A tensor of any contents: zeros or empty strings."""
    kind = node.get_attribute("dtype")
    return ops.Broadcast(Constant(np.zeros((), kind.to_dtype())), node.get_input(0))


@translator("OneHot")
def one_hot(node: TensorflowNodeContext) -> Translation:
    indices, *numbers = node.get_inputs()
    return ops.OneHot(indices, *(reshape(number, ()) for number in numbers), node.get_attribute("axis", -1, int))


@translator("Rank")
def rank(node: TensorflowNodeContext) -> Translation:
    return Constant(np.array(rank_of(node.get_input(0)) - node.is_complex(), np.int32))


@translator("Size")
def size(node: TensorflowNodeContext) -> Translation:
    lengths = shape_of(node.get_input(0), node.get_attribute("out_type", Type.i32), node.is_complex())
    return ops.ReduceProd(lengths, int64([0]), False)


@translator("ShapeN")
def shapes(node: TensorflowNodeContext) -> Translation:
    kind, is_complex = node.get_attribute("out_type", Type.i32), node.is_complex()
    return [shape_of(value, kind, is_complex) for value in node.get_inputs()]


@translator("BroadcastTo")
def broadcast_to(node: TensorflowNodeContext) -> Translation:
    value, shape = node.get_inputs()
    if node.is_complex():
        shape = ops.Concat([shape, np.array([2], shape.element_type.to_dtype())], 0).output(0)
    return ops.Broadcast(value, shape)


@translator("BroadcastArgs")
def broadcast_args(node: TensorflowNodeContext) -> Translation:
    """Return the shape that two shapes broadcast to."""
    counts = [dimension_count(shape) for shape in node.get_inputs()]
    first, second = (_prepend_ones(shape, max(counts) - count) for shape, count in zip(node.get_inputs(), counts))
    return ops.Select(ops.Equal(first, scalar_like(first, 1)), second, first)


def _prepend_ones(shape: Output, count: int) -> Output:
    ones = Constant(np.ones(count, shape.element_type.to_dtype()))
    return ops.Concat([ones, shape], 0).output(0) if count else shape

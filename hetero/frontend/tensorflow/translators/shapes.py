"""Shapes, filled tensors, ranges and conversions of element types."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Output


@translator("Shape")
def shape(node: TensorflowNodeContext) -> Translation:
    return shape_of(node.get_input(0), node.get_attribute("out_type", Type.i32), node.is_complex())


def shape_of(value: Output, element_type: Type, is_complex: bool = False) -> Output:
    """Return the shape of a value; of a complex one, without the axis of real and imaginary parts."""
    lengths = ops.ShapeOf(value, element_type).output(0)
    if not is_complex:
        return lengths
    return ops.Slice(lengths, int64([0]), int64([-1]), int64([1])).output(0)


@translator("Fill")
def fill(node: TensorflowNodeContext) -> Translation:
    value, shape = node.get_input(1), node.get_input(0)
    if node.is_complex():
        shape = ops.Concat([shape, np.array([2], shape.element_type.to_dtype())], 0).output(0)
    return ops.Broadcast(value, shape)


@translator("Range")
def range_operator(node: TensorflowNodeContext) -> Translation:
    start, limit, delta = (node.get_input(index) for index in range(3))
    return ops.Range(start, limit, delta, start.element_type)


@translator("Cast")
def cast(node: TensorflowNodeContext) -> Translation:
    """A complex value converts to its real part."""
    value = node.get_input(0)
    if node.is_complex("SrcT"):
        if node.is_complex("DstT"):
            return convert_to(value, node.part_type("DstT"))
        value = ops.Gather(value, int64(0), int64(-1)).output(0)
    if not node.is_complex("DstT"):
        return _cast(value, node.get_attribute("DstT"))
    real = ops.Unsqueeze(convert_to(value, node.part_type("DstT")), int64([-1])).output(0)
    return ops.Concat([real, ops.Multiply(real, scalar_like(real, 0))], -1)


def _cast(value: Output, element_type: Type) -> Output:
    if element_type is Type.boolean and value.element_type is not Type.boolean:
        return ops.NotEqual(value, np.zeros((), value.element_type.to_dtype())).output(0)
    return convert_to(value, element_type)

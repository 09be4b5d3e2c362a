"""Constants, identities, shapes, new tensors, and conversions of element types."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import broadcast_shapes
from hetero.frontend.numerics.spacing import linspace
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, Values, rows, translator
from hetero.frontend.tensorflow.translators.signal import own_shape
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError


@translator("Const")
def constant(node: TensorflowNodeContext) -> Translation:
    """A complex constant becomes a real one with an additional last axis."""
    array = node.get_attribute("value")
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    return Constant(array)


@translator(
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "CheckNumericsV2",
    "EnsureShape",
    "PlaceholderWithDefault",
)
def identity(node: TensorflowNodeContext) -> Values:
    """The first input, which may be a resource; messages and gradients do not matter."""
    return node.get_values()[:1]


rows(
    {
        "IdentityN": lambda node: node.get_values(),
        "Size": lambda node: ops.ReduceProd(_shape_of(node, node.get_input(0)), int64([0]), False),
        "Rank": lambda node: Constant(np.array(rank_of(node.get_input(0)) - node.is_complex(), np.int32)),
        "Fill": lambda node: ops.Broadcast(node.get_input(1), own_shape(node, node.get_input(0))),
        "BroadcastTo": lambda node: ops.Broadcast(node.get_input(0), own_shape(node, node.get_input(1))),
        **dict.fromkeys(("NoOp", "Assert", "DisableCopyOnRead"), lambda node: []),
        **dict.fromkeys(("Shape", "ShapeN"), lambda node: [_shape_of(node, value) for value in node.get_inputs()]),
    }
)


@translator("Placeholder", "PlaceholderV2")
def unexpected_input(node: TensorflowNodeContext) -> Translation:
    """The inputs of the model are Parameters already."""
    raise FrontendError("it is not an input of the signature, or its element type is not supported")


def _shape_of(node: TensorflowNodeContext, value: Output) -> Output:
    """Return the shape of a value; of a complex one, without the axis of real and imaginary parts."""
    lengths = ops.ShapeOf(value, node.get_attribute("out_type", Type.i32)).output(0)
    if not node.is_complex():
        return lengths
    return ops.Slice(lengths, int64([0]), int64([-1]), int64([1])).output(0)


@translator("ZerosLike", "OnesLike")
def constant_like(node: TensorflowNodeContext) -> Translation:
    value, number = node.get_input(0), int(node.get_op_type() == "OnesLike")
    start = scalar_like(value, number)
    if node.is_complex():
        start = Constant(np.array([number, 0], value.element_type.to_dtype()))
    return ops.Broadcast(start, ops.ShapeOf(value))


def _empty(shape: Output, kind: Type) -> Op:
    """Return a tensor of any contents: zeros or empty strings."""
    return ops.Broadcast(Constant(np.zeros((), kind.to_dtype())), shape)


rows(
    {
        "BroadcastArgs": Row(broadcast_shapes), "Empty": Row(_empty, 0, kind=Attr("dtype")),
        "LinSpace": Row(lambda start, stop, count: linspace(start, stop, reshape(convert_to(count, Type.i64), ()))),
        "OneHot": Row(
            lambda indices, *numbers, axis: ops.OneHot(indices, *(reshape(number, ()) for number in numbers), axis),
            axis=Attr("axis", -1, int),
        ),
        "Range": Row(lambda start, limit, delta: ops.Range(start, limit, delta, start.element_type)),
    }
)  # fmt: skip


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

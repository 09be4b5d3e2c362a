"""Operations that change the shape or the type of data, or join and pad it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, constant_array, is_constant
from hetero_onednn.library.api import Argument, DataType
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import DATA_TYPES, channels_last, extended, ordered, plain
from hetero_onednn.library.primitive import describe, describe_reorder
from hetero_onednn.lowering import Lowering, unsupported
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.elementwise import elementwise
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
from hetero_onednn.program import Buffer, Value
from hetero_onednn.quantization import is_quantizing

_unsupported_reshaping = unsupported_unless(DATA_TYPES, inputs=1)


@lowers(ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, ops.Identity, unless=_unsupported_reshaping)
def reshaping(lowering: Lowering, operation: PrimitiveOperation) -> None:
    value = lowering.value(operation.inputs[0], reader=operation.node)
    lowering.define(operation.result, reshaped(lowering, value, extended(operation.result.shape), operation.node))


def reshaped(lowering: Lowering, value: Value, shape: Sequence[int], reader: Node) -> Value:
    """Return the memory of a value in another shape; it is copied only if its layout does not allow that."""
    descriptor = value.descriptor.reshaped(shape)
    if descriptor is None:
        value = lowering.reordered(value, plain(value.descriptor.dims, value.descriptor.data_type), reader)
        descriptor = plain(shape, value.descriptor.data_type)
    return Value(value.buffer, descriptor, value.offset)


def _unsupported_transpose(node: ops.Transpose) -> str | None:
    if not is_constant(node.input_value(1)):
        return "its order is not a constant"
    return _unsupported_reshaping(node)


@lowers(ops.Transpose, unless=_unsupported_transpose)
def transpose(lowering: Lowering, operation: PrimitiveOperation) -> None:
    order = constant_array(operation.inputs[1])
    assert order is not None  # after specialization
    axes = order.reshape(-1).tolist() or list(reversed(range(len(operation.result.shape))))
    value = lowering.value(operation.inputs[0], reader=operation.node)
    descriptor = value.descriptor.transposed(axes) if axes else value.descriptor
    lowering.define(operation.result, Value(value.buffer, descriptor, value.offset))


@lowers(ops.Concat, unless=unsupported_unless(DATA_TYPES, least=1))
def concat(lowering: Lowering, operation: PrimitiveOperation) -> None:
    axis = operation.main.axis % len(operation.result.shape)
    parts = [value for value in operation.inputs if value.shape[axis]]
    values = [lowering.stored_value(value, operation.node) for value in parts]
    lowering.define(operation.result, joined(lowering, operation, values, axis))


def joined(lowering: Lowering, operation: PrimitiveOperation, values: Sequence[Value], axis: int) -> Value:
    """Return values joined along an axis."""
    # All in the layout of the largest dense one: otherwise only the reference implementation takes them.
    dense = [value.descriptor for value in values if value.descriptor.is_dense]
    largest = max(dense, key=lambda descriptor: descriptor.byte_size, default=None)
    if largest is None:
        largest = plain(values[0].descriptor.dims, values[0].descriptor.data_type)
    if largest.is_strided and largest.strides[axis] * largest.dims[axis] < _SHORT_RUN:
        # Copies of short runs are slow: the axis becomes the outermost one in memory.
        others = [other for other in largest.axes_in_memory or () if other != axis]
        largest = ordered(largest.dims, largest.data_type, [axis, *others])
    layouts = [largest.resized(value.descriptor.dims) for value in values]
    values = [
        Value(value.buffer, layout, value.offset)
        if value.descriptor.same_places(layout)
        else lowering.reordered(value, layout, operation.node)
        for value, layout in zip(values, layouts)
    ]
    shape = list(values[0].descriptor.dims)
    shape[axis] = sum(value.descriptor.dims[axis] for value in values)
    sources = (ctypes.c_void_p * len(values))(*(value.descriptor.handle for value in values))
    target = largest.resized(shape)
    descriptor = describe("concat", target, len(values), axis, sources, Attributes())
    arguments = {Argument.multiple_src + index: value for index, value in enumerate(values)}
    return lowering.execute(operation.node, descriptor, arguments)


# The number of elements that `concat` copies at a time fast.
_SHORT_RUN = 16

# The types between which a reorder converts as Convert does: it rounds floats to integers, which Convert cuts off.
_INTEGERS = (Type.i32, Type.i8, Type.u8)
_FLOATS = (Type.f32, Type.f16, Type.bf16)


def _unsupported_convert(node: ops.Convert) -> str | None:
    source, target = node.get_input_element_type(0), node.get_output_element_type(0)
    if source in (*_INTEGERS, *_FLOATS) and target in _FLOATS:
        return rank_reason(node)
    if is_quantizing(node):
        return rank_reason(node)
    return f"oneDNN does not convert {source} to {target} as Convert does"


@lowers(ops.Convert, unless=_unsupported_convert)
def convert(lowering: Lowering, operation: PrimitiveOperation) -> None:
    if operation.epilogue:
        return elementwise(lowering, operation)
    value = lowering.value(operation.inputs[0], reader=operation.node)
    layout = value.descriptor.resized(value.descriptor.dims, lowering.data_type(operation.result))
    result = value if value.descriptor == layout else lowering.reordered(value, layout, operation.node)
    lowering.define(operation.result, result)


def _unsupported_pad(node: ops.Pad) -> str | None:
    if node.pad_mode != "constant":
        return f"oneDNN does not pad by {node.pad_mode}"
    pads = [constant_array(value) for value in node.input_values()[1:3]]
    if any(array is not None and (array < 0).any() for array in pads):
        return "oneDNN does not pad by negative amounts"
    if node.get_input_size() > 3 and constant_array(node.input_value(3)) is None:
        return "the number that it pads with is not a constant"
    return type_reason(node, inputs=1) or rank_reason(node, 1)


@lowers(ops.Pad, ops.PadV1, unless=_unsupported_pad)
def pad(lowering: Lowering, operation: PrimitiveOperation) -> None:
    """Copy the data into memory that holds the padding from the start."""
    node, result, data = operation.main, operation.result, operation.inputs[0]
    begins, ends = (constant_array(value) for value in operation.inputs[1:3])
    assert begins is not None and ends is not None
    if (begins < 0).any() or (ends < 0).any():
        raise unsupported(operation, "its padding is negative")
    value = constant_array(operation.inputs[3]) if len(operation.inputs) > 3 else None
    number = 0.0 if value is None else float(value.reshape(-1)[0])
    source = lowering.dense(data, node)
    own = source.descriptor
    # Elements of blocks beyond the channels must be zeros, and copies to parts of blocks are slow.
    layout = own.resized(result.shape) if own.is_strided else channels_last(result.shape, own.data_type)
    inside = layout.part(extended(data.shape), begins.reshape(-1).tolist())
    assert inside is not None
    kind = np.float32 if layout.data_type is DataType.f32 else Type.bf16.to_dtype()
    buffer = Buffer(layout.byte_size, initial=np.array(number, kind))
    target = Value(buffer, inside)
    descriptor = describe_reorder(source.descriptor, inside)
    lowering.run(node, descriptor, {Argument.src: source, Argument.dst: target})
    lowering.define(result, Value(buffer, layout))

"""Operations that move elements: views of the same memory where layouts allow it."""

from __future__ import annotations

import ctypes

from hetero import ops
from hetero.graph import Node, Output, constant_array, is_constant
from hetero_onednn.api import Argument
from hetero_onednn.attributes import Attributes
from hetero_onednn.descriptors import DATA_TYPES, extended, plain
from hetero_onednn.lowering import Lowering
from hetero_onednn.operation import Operation
from hetero_onednn.primitive import describe
from hetero_onednn.primitives.checks import rank_reason, type_reason
from hetero_onednn.primitives.registry import lowers
from hetero_onednn.program import Value


def _unsupported_reshaping(node: Node) -> str | None:
    return type_reason(node, DATA_TYPES, inputs=1) or rank_reason(node)


@lowers(ops.Reshape, ops.Squeeze, ops.SqueezeV1, ops.Unsqueeze, unless=_unsupported_reshaping)
def reshaping(lowering: Lowering, operation: Operation) -> None:
    lowering.define(operation.result, reshaped(lowering, operation.inputs[0], operation.result))


def reshaped(lowering: Lowering, data: Output, result: Output) -> Value:
    """Return the memory of a value in another shape; it is copied only if its layout does not allow that."""
    shape = extended(result.shape)
    value = lowering.value(data, reader=result.node)
    descriptor = value.descriptor.reshaped(shape)
    if descriptor is None:
        value = lowering.plain(data, result.node)
        descriptor = plain(shape, value.descriptor.data_type)
    return Value(value.buffer, descriptor)


def _unsupported_transpose(node: ops.Transpose) -> str | None:
    if not is_constant(node.input_value(1)):
        return "its order is not a constant"
    return _unsupported_reshaping(node)


@lowers(ops.Transpose, unless=_unsupported_transpose)
def transpose(lowering: Lowering, operation: Operation) -> None:
    order = constant_array(operation.inputs[1])
    assert order is not None  # after specialization
    axes = order.reshape(-1).tolist() or list(reversed(range(len(operation.result.shape))))
    value = lowering.value(operation.inputs[0], reader=operation.node)
    lowering.define(operation.result, Value(value.buffer, value.descriptor.transposed(axes)))


def _unsupported_concat(node: ops.Concat) -> str | None:
    return type_reason(node, DATA_TYPES) or rank_reason(node, 1)


@lowers(ops.Concat, unless=_unsupported_concat)
def concat(lowering: Lowering, operation: Operation) -> None:
    node, result = operation.node, operation.result
    axis = node.axis % len(result.shape)
    parts = [value for value in operation.inputs if value.shape[axis]]
    values = [lowering.dense(value, node) for value in parts]
    # All parts in the layout of the largest one: otherwise only the reference implementation takes them.
    largest = max(values, key=lambda value: value.descriptor.byte_size).descriptor
    values = [lowering.value(value, largest.resized(value.shape), node) for value in parts]
    sources = (ctypes.c_void_p * len(values))(*(value.descriptor.handle for value in values))
    descriptor = describe("concat", lowering.any_layout(result), len(values), axis, sources, Attributes())
    target = lowering.new_value(descriptor.dst)
    arguments = {Argument.multiple_src + index: value for index, value in enumerate(values)}
    lowering.run(node, descriptor, {**arguments, Argument.dst: target})
    lowering.define(result, target)

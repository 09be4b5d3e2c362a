"""Matrix products."""

from __future__ import annotations

from collections.abc import Mapping

from hetero import ops
from hetero.graph import Output, is_constant
from hetero_onednn.library.api import Argument, DataType
from hetero_onednn.library.attributes import Attributes
from hetero_onednn.library.descriptors import Descriptor, any_layout, plain
from hetero_onednn.library.primitive import PrimitiveDescriptor, describe
from hetero_onednn.lowering import Lowering, padded_shape
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives.int8 import int8_operands, quantized_columns
from hetero_onednn.primitives.post_ops import bias_and_post_ops
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason
from hetero_onednn.program import Value
from hetero_onednn.quantization import quantized_weights


def _unsupported_reason(node: ops.MatMul) -> str | None:
    if reason := type_reason(node) or rank_reason(node, 1):
        return reason
    shapes = [node.get_input_partial_shape(index) for index in (0, 1)]
    return None if shapes[1].has_rank else "the rank of its second operand is not known"


@lowers(ops.MatMul, unless=_unsupported_reason)
def matmul(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    left, right = operation.inputs
    rank = max(2, len(left.shape), len(right.shape))
    first = _seen(lowering, left, rank, node.transpose_a, is_left=True)
    second = _seen(lowering, right, rank, node.transpose_b, is_left=False)
    batch = [max(a, b) if min(a, b) else 0 for a, b in zip(first.dims[:-2], second.dims[:-2])]
    shape = [*batch, first.dims[-2], second.dims[-1]]
    int8 = None
    if len(left.shape) > 1 and len(right.shape) == 2:
        int8 = int8_operands(lowering, left, right, quantized_weights if node.transpose_b else quantized_columns)
    if int8 is not None:
        left = int8.data.integers
        first = _seen(lowering, left, rank, node.transpose_a, is_left=True)
        second = second.resized(second.dims, DataType.s8)
    bias, post_ops = bias_and_post_ops(operation, axis=len(result.shape) - 1) if result.shape else (None, [])
    kind = DataType.s8 if int8 else lowering.data_type(right)
    weights = any_layout(second.dims, kind) if is_constant(right) else second

    def describe_it(attributes: Attributes) -> PrimitiveDescriptor:
        added = None if bias is None else plain([1] * (rank - 1) + [bias.size], DataType.f32)
        target = plain(shape, lowering.result_type(operation, is_int8=int8 is not None))
        if int8 is not None:
            int8.describe(attributes, weights_mask=1 << rank - 1)
        return describe("matmul", first, weights, added, target, attributes)

    def arguments(descriptor: PrimitiveDescriptor) -> Mapping[int, Value]:
        values: dict[int, Value] = {
            Argument.src: lowering.as_seen(left, first, first, operation.node),
            Argument.weights: lowering.as_seen(right, second, descriptor.weights, operation.node)
            if int8 is None
            else lowering.constant(int8.weights, second, descriptor.weights),
        }
        if int8 is not None:
            values.update(int8.arguments(lowering))
        return values if bias is None else values | {Argument.bias: lowering.constant(bias)}

    value = lowering.emit(operation, post_ops, describe_it, arguments)
    value = Value(value.buffer, plain(result.shape, value.descriptor.data_type))
    lowering.define(result, lowering.in_type(value, operation))


def _seen(lowering: Lowering, value: Output, rank: int, transposed: bool, is_left: bool) -> Descriptor:
    """Return how the product reads a row-major operand: with all axes, and not transposed."""
    shape = tuple(value.shape)
    if len(shape) == 1:
        # A vector is a row on the left and a column on the right.
        shape, transposed = ((1, *shape) if is_left else (*shape, 1)), False
    descriptor = plain(padded_shape(shape, rank), lowering.stored_type(value))
    return descriptor.transposed([*range(rank - 2), rank - 1, rank - 2]) if transposed else descriptor

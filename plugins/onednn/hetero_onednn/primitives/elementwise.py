"""Element-wise operations that no other primitive takes as post-ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.graph import Node, Output
from hetero_onednn.api import FORWARD_INFERENCE, Argument, Binary, DataType
from hetero_onednn.attributes import Attributes, BinaryOp, EltwiseOp, PostOp
from hetero_onednn.descriptors import extended, plain
from hetero_onednn.lowering import Lowering, padded_shape
from hetero_onednn.operation import Operation
from hetero_onednn.primitive import PrimitiveDescriptor, describe
from hetero_onednn.primitives.checks import type_reason
from hetero_onednn.primitives.post_ops import ELEMENTWISE, chain_of, post_ops_of
from hetero_onednn.primitives.registry import lowers
from hetero_onednn.program import Value


def _unsupported_reason(node: Any) -> str | None:
    if reason := type_reason(node):
        return reason
    if getattr(node, "auto_broadcast", "numpy") not in ("numpy", "none"):
        return f"it broadcasts by the rule '{node.auto_broadcast}'"
    if not any(post_ops_of(node, position) for position in range(node.get_input_size())):
        return "its parameters are not constants of one element"
    return None


@lowers(*ELEMENTWISE, unless=_unsupported_reason)
def elementwise(lowering: Lowering, operation: Operation) -> None:
    node, result = operation.main, operation.result
    position = next(
        (
            index
            for index, value in enumerate(operation.inputs)
            if value.shape == node.output(0).shape and post_ops_of(node, index)
        ),
        None,
    )
    if position is None:
        position = next(index for index in range(len(operation.inputs)) if post_ops_of(node, index))
        running = broadcast(lowering, operation.inputs[position], result.shape, operation.node)
    else:
        running = lowering.dense(operation.inputs[position], operation.node)
    post_ops = [*(post_ops_of(node, position) or ()), *chain_of(operation)]
    lowering.define(result, run_chain(lowering, operation, running, post_ops))


def run_chain(lowering: Lowering, operation: Operation, running: Value, post_ops: list[PostOp]) -> Value:
    """Append one primitive that applies post-ops to a value, and return its result."""
    source = running.descriptor
    first, others = post_ops[0], post_ops[1:]
    if isinstance(first, EltwiseOp) and all(isinstance(op, BinaryOp) for op in others):

        def describe_eltwise(attributes: Attributes) -> PrimitiveDescriptor:
            numbers = first.alpha, first.beta
            return describe("eltwise_forward", FORWARD_INFERENCE, first.algorithm, source, source, *numbers, attributes)

        return lowering.emit(operation, others, describe_eltwise, lambda _: {Argument.src: running})
    if isinstance(first, BinaryOp):
        algorithm, operand = first.algorithm, lowering.operand(first.operand, source, operation)
    else:
        # Only `binary` takes all post-ops. A product with 1 is exact.
        algorithm, others = Binary.mul, post_ops
        operand = lowering.constant(_ONE, plain([1] * source.rank, DataType.f32))

    def describe_binary(attributes: Attributes) -> PrimitiveDescriptor:
        return describe("binary", algorithm, source, operand.descriptor, source, attributes)

    return lowering.emit(operation, others, describe_binary, lambda _: {Argument.src: running, Argument.src_1: operand})


def broadcast(lowering: Lowering, value: Output, shape: tuple[int, ...], reader: Node) -> Value:
    """Return a value in a shape to which it broadcasts: as a product with ones."""
    target = plain(shape, lowering.stored_type(value))
    ones = lowering.constant(np.ones(extended(shape), np.float32))
    narrow = plain(padded_shape(value.shape, len(extended(shape))), lowering.stored_type(value))
    operand = lowering.as_seen(value, narrow, narrow, reader)
    descriptor = describe("binary", Binary.mul, ones.descriptor, narrow, target, Attributes())
    result = lowering.new_value(target)
    lowering.run(reader, descriptor, {Argument.src: ones, Argument.src_1: operand, Argument.dst: result}, "broadcast")
    return result


_ONE = np.ones(1, np.float32)

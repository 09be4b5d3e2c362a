"""Element-wise operations that no other primitive takes as post-ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Node, Output
from hetero_onednn.api import FORWARD_INFERENCE, Argument, Binary, DataType
from hetero_onednn.attributes import Attributes, BinaryOp, EltwiseOp, PostOp, PReluOp
from hetero_onednn.descriptors import Descriptor, any_layout, channels_last, extended, plain
from hetero_onednn.lowering import Lowering, padded_shape
from hetero_onednn.operation import Operation
from hetero_onednn.primitive import PrimitiveDescriptor, describe
from hetero_onednn.primitives.checks import rank_reason, type_reason
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
    while post_ops:
        if isinstance(post_ops[0], PReluOp):
            running = _prelu(lowering, operation, running, post_ops.pop(0))
        # `eltwise` and `binary` do not take PRelu as a post-op.
        count = next((index for index, op in enumerate(post_ops) if isinstance(op, PReluOp)), len(post_ops))
        if count:
            running = _run_chain(lowering, operation, running, post_ops[:count])
        del post_ops[:count]
    lowering.define(result, running)


def _run_chain(lowering: Lowering, operation: Operation, running: Value, post_ops: list[PostOp]) -> Value:
    """Append one primitive that applies post-ops to a value, and return its result."""
    own = running.descriptor
    layouts = [own, channels_last(own.dims, own.data_type), plain(own.dims, own.data_type)]
    chains = [_Chain(lowering, operation, layout, post_ops) for layout in layouts]
    # Reference implementations take all layouts, but are some hundred times as slow.
    chain = next((one for one in chains if not one.is_reference), chains[0])
    if chain.layout != own:
        running = lowering.reordered(running, chain.layout, operation.node)
    arguments: dict[int, Value] = {Argument.src: running}
    if chain.operand is not None:
        arguments[Argument.src_1] = chain.operand_value()
    return lowering.emit(operation, chain.others, chain.describe, lambda _: arguments)


def _prelu(lowering: Lowering, operation: Operation, running: Value, op: PReluOp) -> Value:
    source = running.descriptor
    slope = operation.outside(op.slope)
    weights = any_layout(padded_shape(slope.shape, source.rank), lowering.stored_type(slope))
    descriptor = describe("prelu_forward", FORWARD_INFERENCE, source, weights, source, Attributes())
    result = lowering.new_value(descriptor.dst)
    arguments: dict[int, Value] = {
        Argument.src: running,
        Argument.weights: lowering.padded(slope, descriptor.weights, operation.node),
        Argument.dst: result,
    }
    lowering.run(operation.node, descriptor, arguments)
    return result


class _Chain:
    """A primitive for post-ops on a value in a layout: ``eltwise`` or ``binary`` for the first, with the others."""

    def __init__(
        self, lowering: Lowering, operation: Operation, layout: Descriptor, post_ops: Sequence[PostOp]
    ) -> None:
        """``post_ops`` are without PRelu."""
        self.lowering, self.operation, self.layout = lowering, operation, layout
        self.first, self.others = post_ops[0], post_ops[1:]
        self.algorithm = Binary.mul
        self.operand: Descriptor | None = None
        if isinstance(self.first, BinaryOp):
            self.algorithm = self.first.algorithm
            self.operand = lowering.operand_layout(self.first.operand, layout, operation)
        elif not all(isinstance(op, BinaryOp) for op in self.others):
            # Only `binary` takes all post-ops. A product with 1 is exact.
            self.others = post_ops
            self.operand = plain([1] * layout.rank, DataType.f32)

    def describe(self, attributes: Attributes) -> PrimitiveDescriptor:
        if self.operand is not None:
            return describe("binary", self.algorithm, self.layout, self.operand, self.layout, attributes)
        assert isinstance(self.first, EltwiseOp)
        numbers = self.first.alpha, self.first.beta
        kind = self.first.algorithm
        return describe("eltwise_forward", FORWARD_INFERENCE, kind, self.layout, self.layout, *numbers, attributes)

    @property
    def is_reference(self) -> bool:
        found = self.lowering.described(self.operation, self.others, self.describe)
        return found.implementation.startswith("ref")

    def operand_value(self) -> Value:
        assert self.operand is not None
        if not isinstance(self.first, BinaryOp):
            return self.lowering.constant(_ONE, self.operand)
        output = self.operation.outside(self.first.operand)
        return self.lowering.padded(output, self.operand, self.operation.node)


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


def _unsupported_broadcast(node: ops.Broadcast) -> str | None:
    if node.broadcast_spec not in ("numpy", "bidirectional"):
        return f"it broadcasts by the rule '{node.broadcast_spec}'"
    return type_reason(node, inputs=1) or rank_reason(node)


@lowers(ops.Broadcast, unless=_unsupported_broadcast)
def broadcast_to(lowering: Lowering, operation: Operation) -> None:
    data, result = operation.inputs[0], operation.result
    lowering.define(result, broadcast(lowering, data, tuple(result.shape), operation.node))


_ONE = np.ones(1, np.float32)

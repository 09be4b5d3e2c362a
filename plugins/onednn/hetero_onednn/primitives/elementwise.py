"""Element-wise operations that no other primitive takes as post-ops."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, constant_array, is_constant
from hetero_onednn.library.api import FORWARD_INFERENCE, Argument, Binary, DataType, Eltwise
from hetero_onednn.library.primitive import (
    Attributes,
    BinaryOp,
    Descriptor,
    EltwiseOp,
    PostOp,
    PReluOp,
    PrimitiveDescriptor,
    any_layout,
    channels_last,
    describe,
    extended,
    operand_argument,
    plain,
)
from hetero_onednn.lowering import Lowering, PrimitiveOperation, padded_shape
from hetero_onednn.primitives.post_ops import ELEMENTWISE, chain_of, post_ops_of
from hetero_onednn.primitives.registry import lowers, rank_reason, type_reason, unsupported_unless
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
def elementwise(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node, result = operation.main, operation.result
    position = next(
        (
            index
            for index, value in enumerate(operation.inputs)
            if value.shape == node.output(0).shape and post_ops_of(node, index) is not None
        ),
        None,
    )
    if position is None:
        position = next(index for index in range(len(operation.inputs)) if post_ops_of(node, index))
        running = broadcast(lowering, operation.inputs[position], result.shape, operation.node)
    else:
        running = lowering.dense(operation.inputs[position], operation.node)
    post_ops = [*(post_ops_of(node, position) or ()), *chain_of(operation)]
    if post_ops and isinstance(post_ops[0], PReluOp) and _is_maximum(operation.outside(post_ops[0].slope)):
        # max(x, slope · x), which `binary` runs with what follows.
        data = node.input_value(position)
        post_ops[:1] = [BinaryOp(Binary.mul, post_ops[0].slope), BinaryOp(Binary.max, data)]
    running = run_post_ops(lowering, operation, running, post_ops)
    lowering.define(result, lowering.in_type(running, operation))


def run_post_ops(lowering: Lowering, operation: PrimitiveOperation, running: Value, post_ops: list[PostOp]) -> Value:
    """Append the primitives that apply post-ops to a value of the shape of an operation's result."""
    kind, post_ops = lowering.data_type(operation.result), list(post_ops)
    while post_ops:
        if isinstance(first := post_ops[0], PReluOp):
            running = _prelu(lowering, operation, running, first)
            del post_ops[0]
        # `eltwise` and `binary` do not take PRelu as a post-op.
        count = next((index for index, op in enumerate(post_ops) if isinstance(op, PReluOp)), len(post_ops))
        if count:
            to = kind if count == len(post_ops) else running.descriptor.data_type
            running = _run_chain(lowering, operation, running, post_ops[:count], to)
        del post_ops[:count]
    return running


@lowers(ops.Log, unless=unsupported_unless())
def logarithm(lowering: Lowering, operation: PrimitiveOperation) -> None:
    node = operation.node
    source = lowering.dense(operation.inputs[0], node)
    layout = source.descriptor
    arguments = FORWARD_INFERENCE, Eltwise.log, layout, layout, 0.0, 0.0, Attributes()
    # The logarithm of the C library. Those with vectors have an error of 3e-6, also near 1.
    descriptor = describe("eltwise_forward", *arguments, implementation="ref")
    lowering.define(operation.result, lowering.execute(node, descriptor, {Argument.src: source}))


def _is_maximum(slope: Output) -> bool:
    """Return whether PRelu is max(x, slope · x). With a slope of 0 it loses the NaN that 0 · ∞ is."""
    array = constant_array(slope)
    return array is not None and bool(((array <= 1) & (array != 0)).all())


def _run_chain(
    lowering: Lowering, operation: PrimitiveOperation, running: Value, post_ops: list[PostOp], kind: DataType
) -> Value:
    """Append one primitive that applies post-ops to a value, and return its result, in another type."""
    own = running.descriptor
    if own.data_type in _BYTES and kind not in _BYTES:
        # Fast implementations write real numbers only if they read them.
        own = own.resized(own.dims, DataType.f32)
        running = lowering.reordered(running, own, operation.node)
    # Reference implementations take all layouts, but are some hundred times as slow.
    for layout in (own, channels_last(own.dims, own.data_type), plain(own.dims, own.data_type)):
        chain = _Chain(lowering, operation, layout, post_ops, kind)
        if not chain.is_slow:
            break
    else:
        # No other implementation takes vectors along several axes.
        if (count := chain.count_along_one_axis) < len(post_ops):
            running = _run_chain(lowering, operation, running, post_ops[:count], own.data_type)
            return _run_chain(lowering, operation, running, post_ops[count:], kind)
    if chain.layout != own:
        running = lowering.reordered(running, chain.layout, operation.node)
    return chain.lower(running)


def _prelu(lowering: Lowering, operation: PrimitiveOperation, running: Value, op: PReluOp) -> Value:
    source = running.descriptor
    slope = operation.outside(op.slope)
    weights = any_layout(padded_shape(slope.shape, source.rank), lowering.stored_type(slope))
    descriptor = describe("prelu_forward", FORWARD_INFERENCE, source, weights, source, Attributes())
    padded = lowering.padded(slope, descriptor.weights, operation.node)
    return lowering.execute(operation.node, descriptor, {Argument.src: running, Argument.weights: padded})


class _Chain:
    """A primitive for post-ops on a value in a layout: ``eltwise`` for a single one, else ``binary``."""

    def __init__(
        self,
        lowering: Lowering,
        operation: PrimitiveOperation,
        layout: Descriptor,
        post_ops: Sequence[PostOp],
        kind: DataType,
    ) -> None:
        """``post_ops`` are without PRelu; ``kind`` is the type of the result."""
        self.lowering, self.operation, self.layout, self.post_ops = lowering, operation, layout, post_ops
        self.kind = kind
        self._is_eltwise = len(post_ops) == 1 and isinstance(post_ops[0], EltwiseOp) and kind is layout.data_type
        operands = [operation.outside(op.operand) for op in post_ops if isinstance(op, BinaryOp)]
        vectors = [operand for operand in operands if not self._is_whole(operand) and self._wide_axes(operand)]
        wide = {axis for operand in vectors for axis in self._wide_axes(operand)}
        # The value as the primitive sees it, the places of its axes there, and how often vectors are repeated.
        self._seen, self._places, self._repeats = _collapsed(layout, wide, all(map(is_constant, vectors)))
        self._operands = [(operand, self._operand_descriptor(operand)) for operand in operands]
        self._descriptor = self._describe()

    @property
    def is_slow(self) -> bool:
        """Whether it is computed by the reference implementation, or on blocks that consist of padding for the most."""
        is_reference = self._descriptor.implementation.startswith("ref")
        return is_reference or (self.layout.is_padded and not self.layout.is_strided)

    def lower(self, running: Value) -> Value:
        arguments: dict[int, Value] = {Argument.src: Value(running.buffer, self._seen, running.offset)}
        values = [self._operand_value(*pair) for pair in self._operands]
        if isinstance(self.post_ops[0], BinaryOp):
            arguments[Argument.src_1] = values.pop(0)
        elif not self._is_eltwise:
            arguments[Argument.src_1] = self.lowering.constant(_ONE, self._one)
        for index, op in enumerate(self._others):
            if isinstance(op, BinaryOp):
                arguments[operand_argument(index, op)] = values.pop(0)
        result = self.lowering.new_value(self._in_type(self.layout, self.kind))
        arguments[Argument.dst] = Value(result.buffer, self._in_type(self._seen, self.kind))
        self.lowering.run(self.operation.node, self._descriptor, arguments)
        return result

    @property
    def count_along_one_axis(self) -> int:
        """The number of post-ops before the first one whose operand is a vector along another axis than one before."""
        seen: set[tuple[int, ...]] = set()
        for index, op in enumerate(self.post_ops):
            if isinstance(op, BinaryOp) and not self._is_whole(operand := self.operation.outside(op.operand)):
                seen |= {tuple(axes)} if (axes := self._wide_axes(operand)) else set()
                if len(seen) > 1:
                    return index
        return len(self.post_ops)

    @property
    def _others(self) -> Sequence[PostOp]:
        """The post-ops besides the operation of the primitive itself."""
        is_own = self._is_eltwise or isinstance(self.post_ops[0], BinaryOp)
        return self.post_ops[1:] if is_own else self.post_ops

    @property
    def _one(self) -> Descriptor:
        return plain([1] * self._seen.rank, DataType.f32)

    def _describe(self) -> PrimitiveDescriptor:
        first, seen = self.post_ops[0], self._seen
        descriptors = [descriptor for _, descriptor in self._operands]
        if self._is_eltwise and isinstance(first, EltwiseOp):
            numbers = first.alpha, first.beta
            return describe("eltwise_forward", FORWARD_INFERENCE, first.algorithm, seen, seen, *numbers, Attributes())
        # The fast implementation of `eltwise` takes no post-ops. A product with 1 is exact.
        algorithm, operand = Binary.mul, self._one
        if isinstance(first, BinaryOp):
            algorithm, operand = first.algorithm, descriptors.pop(0)
        others = [(op, descriptors.pop(0) if isinstance(op, BinaryOp) else None) for op in self._others]
        return describe("binary", algorithm, seen, operand, self._in_type(seen, self.kind), Attributes(others))

    @staticmethod
    def _in_type(descriptor: Descriptor, kind: DataType) -> Descriptor:
        return descriptor if descriptor.data_type is kind else descriptor.resized(descriptor.dims, kind)

    def _is_whole(self, operand: Output) -> bool:
        return extended(operand.shape) == self.layout.dims

    def _wide_axes(self, operand: Output) -> list[int]:
        shape = padded_shape(operand.shape, self.layout.rank)
        return [axis for axis, length in enumerate(shape) if length > 1]

    def _operand_descriptor(self, operand: Output) -> Descriptor:
        kind = self.lowering.stored_type(operand)
        if self._is_whole(operand):
            return self._in_type(self._seen, kind)
        shape = [1] * self._seen.rank
        for axis in self._wide_axes(operand):
            shape[self._places[axis]] = self.layout.dims[axis] * self._repeats
        return plain(shape, kind)

    def _operand_value(self, operand: Output, seen: Descriptor) -> Value:
        if not self._is_whole(operand):
            if self._repeats > 1 and (array := constant_array(operand)) is not None and array.size > 1:
                return self.lowering.constant(np.tile(array.reshape(-1), self._repeats), seen)
            return self.lowering.as_seen(operand, seen, seen, self.operation.node)
        value = self.lowering.padded(operand, self._in_type(self.layout, seen.data_type), self.operation.node)
        return Value(value.buffer, seen, value.offset)


def _collapsed(
    layout: Descriptor, wide: Collection[int], is_repeatable: bool
) -> tuple[Descriptor, dict[int, int], int]:
    """Return a dense layout with the axes before and after the one in ``wide`` joined, and the places of axes.

    Only then are there fast implementations for all layouts. They are slow for short rows: if vectors along that axis
    may be repeated, several rows become one. Returns how many.
    """
    order = layout.axes_in_memory
    if order is None or len(wide) > 1:
        return layout, {axis: axis for axis in range(layout.rank)}, 1
    axis = next(iter(wide), order[-1])
    place = order.index(axis)
    outer = math.prod(layout.dims[index] for index in order[:place])
    inner = math.prod(layout.dims[index] for index in order[place + 1 :])
    length, repeats = layout.dims[axis], 1
    if inner == 1 and is_repeatable:
        while not outer % (2 * repeats) and length * repeats < _LONG_ROW:
            repeats *= 2
    shape = (outer // repeats, length * repeats, inner)[: 2 if inner == 1 else 3]
    return plain(shape, layout.data_type), {axis: 1}, repeats


def broadcast(lowering: Lowering, value: Output, shape: tuple[int, ...], reader: Node) -> Value:
    """Return a value in a shape to which it broadcasts: as a product with ones."""
    target = plain(shape, lowering.stored_type(value))
    ones = lowering.constant(np.ones(extended(shape), np.float32))
    narrow = plain(padded_shape(value.shape, len(extended(shape))), lowering.stored_type(value))
    operand = lowering.as_seen(value, narrow, narrow, reader)
    descriptor = describe("binary", Binary.mul, ones.descriptor, narrow, target, Attributes())
    return lowering.execute(reader, descriptor, {Argument.src: ones, Argument.src_1: operand}, target, "broadcast")


def _unsupported_broadcast(node: ops.Broadcast) -> str | None:
    if node.broadcast_spec not in ("numpy", "bidirectional"):
        return f"it broadcasts by the rule '{node.broadcast_spec}'"
    return type_reason(node, inputs=1) or rank_reason(node)


@lowers(ops.Broadcast, unless=_unsupported_broadcast)
def broadcast_to(lowering: Lowering, operation: PrimitiveOperation) -> None:
    data, result = operation.inputs[0], operation.result
    lowering.define(result, broadcast(lowering, data, tuple(result.shape), operation.node))


_BYTES = (DataType.s8, DataType.u8)
# The number of elements of a row that `binary` computes fast.
_LONG_ROW = 128
_ONE = np.ones(1, np.float32)

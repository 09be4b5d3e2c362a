"""Softmax and normalizations that several formats have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.values import int64, rank_of
from hetero.graph import Op, Output


def of_scalars_too(operation: type[Op]) -> Callable[[Output, int], Op]:
    """Return Softmax or LogSoftmax along an axis as a function that also takes scalars."""

    def apply(value: Output, axis: int) -> Op:
        if rank_of(value):
            return operation(value, axis)
        return ops.Squeeze(operation(ops.Unsqueeze(value, int64([0])), 0), int64([0]))

    return apply


def local_response(value: Output, radius: int, alpha: float, beta: float, bias: float) -> Op:
    """Normalize over windows of ``2 · radius + 1`` elements of the last axis, as TensorFlow does.

    LRN divides alpha by the size of the window, TensorFlow does not.
    """
    size = 2 * radius + 1
    return ops.LRN(value, int64([-1]), alpha * size, beta, bias, size)


def scale_and_shift(
    node: NodeContext, value: Output, names: Sequence[str], shaped: Callable[[Output], Output] = lambda part: part
) -> Output:
    """Multiply by the first of these inputs and add the second, as far as the node has them.

    ``shaped``: returns an input in a shape that broadcasts.
    """
    for name, operation in zip(names, (ops.Multiply, ops.Add)):
        if node.has_input(name):
            value = operation(value, shaped(node.get_input(name))).output(0)
    return value

"""Matrix products and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx


@emitter(ops.MatMul)
def matmul(node: NodeWriter) -> str:
    operands = node.inputs
    for index, transposed in enumerate((node.op.transpose_a, node.op.transpose_b)):
        if transposed and (rank := node.rank(index)) > 1:
            operands[index] = node.transpose(operands[index], [*range(rank - 2), rank - 1, rank - 2])
    return node.add("MatMul", *operands)


@emitter(ops.ScaledDotProductAttention)
def attention(node: NodeWriter) -> str:
    """softmax(query · keyᵀ · scale + mask) · value."""
    op = node.op
    if op.has_input("sink"):
        raise NotInOnnx("a sink")
    scores = node.add("MatMul", node.input(0), node.transpose(node.input(1), _swapped(node.rank(1))))
    if op.has_input("scale"):
        scores = node.add("Mul", scores, node.input(4))
    else:
        width = node.cast(node.lengths(node.input(0), [-1]), node.kind(0))
        scores = node.add("Div", scores, node.add("Sqrt", width))
    lowest = node.number(-math.inf)
    if op.causal:
        ones = node.add("Expand", node.number(1), node.lengths(scores, [-2, -1]))
        allowed = node.add("Cast", node.add("Trilu", ones, upper=0), to=9)
        scores = node.add("Where", allowed, scores, lowest)
    elif op.has_input("attention_mask") and node.kind(3) == Type.boolean:
        scores = node.add("Where", node.input(3), scores, lowest)
    elif op.has_input("attention_mask"):
        scores = node.add("Add", scores, node.input(3))
    weights = node.add("Softmax", scores)
    if op.has_input("attention_mask") and not op.causal:  # a fully masked row gets zeros
        is_masked = node.add("Equal", node.add("ReduceMax", scores, [-1]), lowest)
        weights = node.add("Where", is_masked, node.number(0), weights)
    return node.add("MatMul", weights, node.input(2))


def _swapped(rank: int) -> Sequence[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


@emitter(ops.LinearAttention)
def linear_attention(node: NodeWriter) -> Sequence[str]:
    op = node.op
    decay, beta = None, None
    gates = node.inputs[4:]
    if op.is_gated:
        decay = gates.pop(0)
    if op.has_delta:
        beta = gates.pop(0)
    return node.add_outputs(
        2, "LinearAttention", *node.inputs[:4], decay, beta, q_num_heads=op.query_heads,
        kv_num_heads=op.heads, update_rule=op.update_rule, scale=op.scale or None,
    )  # fmt: skip

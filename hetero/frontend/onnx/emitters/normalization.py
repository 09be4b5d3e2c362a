"""Matrix products, softmax, normalizations and attention."""

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


@emitter(ops.Einsum)
def einsum(node: NodeWriter) -> str:
    return node.add("Einsum", *node.inputs, equation=node.op.equation)


@emitter(ops.Softmax, ops.LogSoftmax)
def softmax(node: NodeWriter) -> str:
    return node.add(node.op.type_info.name, node.input(0), axis=node.op.axis)


@emitter(ops.BatchNormInference)
def batch_norm(node: NodeWriter) -> str:
    return node.add("BatchNormalization", *node.inputs, epsilon=node.op.epsilon)


@emitter(ops.GroupNormalization)
def group_norm(node: NodeWriter) -> str:
    return node.add("GroupNormalization", *node.inputs, num_groups=node.op.num_groups, epsilon=node.op.epsilon)


@emitter(ops.LRN)
def lrn(node: NodeWriter) -> str:
    op, rank = node.op, node.rank(0)
    if node.axes(1, rank) == [1]:
        return node.add("LRN", node.input(0), alpha=op.alpha, beta=op.beta, bias=op.bias, size=op.size)
    raise NotInOnnx("axes other than 1")


@emitter(ops.MVN)
def mvn(node: NodeWriter) -> str:
    axes = node.vector(1)
    centered = node.add("Sub", node.input(0), node.add("ReduceMean", node.input(0), axes))
    if not node.op.normalize_variance:
        return centered
    variance, epsilon = node.add("ReduceMean", node.add("Mul", centered, centered), axes), node.number(node.op.eps)
    if node.op.eps_mode == "inside_sqrt":
        deviation = node.add("Sqrt", node.add("Add", variance, epsilon))
    else:
        deviation = node.add("Add", node.add("Sqrt", variance), epsilon)
    return node.add("Div", centered, deviation)


@emitter(ops.NormalizeL2)
def normalize_l2(node: NodeWriter) -> str:
    total = node.add("ReduceSumSquare", node.input(0), node.vector(1), noop_with_empty_axes=1)
    bounded = node.add("Add" if node.op.eps_mode == "add" else "Max", total, node.number(node.op.eps))
    return node.add("Div", node.input(0), node.add("Sqrt", bounded))


@emitter(ops.GRN)
def grn(node: NodeWriter) -> str:
    total = node.add("ReduceSumSquare", node.input(0), [1])
    return node.add("Div", node.input(0), node.add("Sqrt", node.add("Add", total, node.number(node.op.bias))))


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

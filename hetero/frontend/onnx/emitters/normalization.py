"""Normalizations."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.emitters.registry import emit, emitter
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx

emit({ops.BatchNormInference: lambda node: node.add("BatchNormalization", *node.inputs, epsilon=node.op.epsilon)})


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

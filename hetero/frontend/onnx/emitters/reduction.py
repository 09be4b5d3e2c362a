"""Reductions, cumulative sums, sorting and counting; normalizations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx, emit, emitter


@emitter(
    ops.ReduceL1, ops.ReduceL2, ops.ReduceMax, ops.ReduceMean, ops.ReduceMin, ops.ReduceProd, ops.ReduceSum
)  # fmt: skip
def reduce(node: NodeWriter) -> str:
    return _reduced(node, node.op.type_info.name, node.input(0))


@emitter(ops.ReduceLogicalAnd, ops.ReduceLogicalOr)
def reduce_logical(node: NodeWriter) -> str:
    name = "ReduceMin" if isinstance(node.op, ops.ReduceLogicalAnd) else "ReduceMax"
    # As u8, whose limits are the results for no elements.
    numbers = node.cast(node.cast(node.input(0), Type.boolean, node.kind(0)), Type.u8)
    return node.cast(_reduced(node, name, numbers), Type.boolean)


def _reduced(node: NodeWriter, name: str, value: str) -> str:
    # Without noop_with_empty_axes, an empty list of axes means all.
    return node.add(name, value, node.vector(1), keepdims=int(node.op.keep_dims), noop_with_empty_axes=1)


@emitter(ops.TopK)
def top_k(node: NodeWriter) -> Sequence[str]:
    op, axis = node.op, node.op.axis
    count = node.vector(1)
    is_sorted = int(op.sort == "value")
    values, indices = node.add_outputs(
        2, "TopK", node.input(0), count, axis=axis, largest=int(op.mode == "max"), sorted=is_sorted
    )
    if op.sort == "index":
        indices, order = node.add_outputs(2, "TopK", indices, count, axis=axis, largest=0)
        values = node.add("GatherElements", values, order, axis=axis)
    return [values, node.cast(indices, op.index_element_type, Type.i64)]


emit({ops.NonZero: lambda node: node.cast(node.add("NonZero", node.input(0)), node.op.output_type, Type.i64)})


@emitter(ops.Unique)
def unique(node: NodeWriter) -> Sequence[str]:
    op = node.op
    axis = int(node.numbers(1)[0]) if op.has_input("axis") else None
    values, *positions = node.add_outputs(4, "Unique", node.input(0), axis=axis, sorted=int(op.sorted))
    kinds = (op.index_element_type, op.index_element_type, op.count_element_type)
    return [values, *(node.cast(each, kind, Type.i64) for each, kind in zip(positions, kinds))]


@emitter(ops.Bucketize)
def bucketize(node: NodeWriter) -> str:
    """The number of buckets that end before each element."""
    kind = max(node.kind(0), node.kind(1), key=lambda each: each.is_real())
    values = node.add("Unsqueeze", node.cast(node.input(0), kind, node.kind(0)), [-1])
    ends = node.cast(node.input(1), kind, node.kind(1))
    return _count(node, values, ends, strictly=node.op.with_right_bound)


@emitter(ops.SearchSorted)
def search_sorted(node: NodeWriter) -> str:
    values = node.add("Unsqueeze", node.input(1), [-1])
    ends = node.input(0) if node.rank(0) == 1 else node.add("Unsqueeze", node.input(0), [-2])
    return _count(node, values, ends, strictly=not node.op.right_mode)


def _count(node: NodeWriter, values: str, ends: str, strictly: bool) -> str:
    """Count the ends that are less than each value, or not greater than it."""
    beyond = node.add("Greater" if strictly else "GreaterOrEqual", values, ends)
    return node.add("ReduceSum", node.cast(beyond, node.op.output_type), [-1], keepdims=0)


_RANGE_TYPES = (Type.f64, Type.f32, Type.f16, Type.bf16, Type.i64, Type.i32, Type.i16)


@emitter(ops.Range)
def range_(node: NodeWriter) -> str:
    kind = node.op.output_type if node.op.output_type in _RANGE_TYPES else Type.i64
    bounds = [node.converted(index, kind) for index in range(3)]
    scalars = [
        bound.reshape(()) if isinstance(bound, np.ndarray) else node.add("Reshape", bound, np.array([], np.int64))
        for bound in bounds
    ]
    return node.cast(node.add("Range", *scalars), node.op.output_type, kind)


@emitter(ops.Eye)
def eye(node: NodeWriter) -> str:
    (diagonal,) = node.numbers(2)
    kind = node.op.output_type
    lengths = node.add("Concat", node.vector(0), node.vector(1), axis=0)
    zeros = node.add("Expand", np.zeros((), kind.to_dtype()), lengths)
    matrix = node.add("EyeLike", zeros, k=int(diagonal))
    if not node.op.has_input("batch_shape"):
        return matrix
    return node.add("Expand", matrix, node.add("Concat", node.vector(3), [1, 1], axis=0))


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

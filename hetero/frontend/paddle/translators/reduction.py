"""Reductions, norms and cumulative functions."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.numerics.reduction import log_sum_exp, norm
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Constant, Op, Output, as_output

_REDUCTIONS: dict[str, type[Op]] = {
    "reduce_sum": ops.ReduceSum, "reduce_mean": ops.ReduceMean, "reduce_max": ops.ReduceMax,
    "reduce_min": ops.ReduceMin, "reduce_prod": ops.ReduceProd, "reduce_amax": ops.ReduceMax,
    "reduce_amin": ops.ReduceMin, "reduce_any": ops.ReduceLogicalOr, "reduce_all": ops.ReduceLogicalAnd,
}  # fmt: skip


def axes_of(node: PaddleNodeContext, value: Output) -> Output:
    """Return the axes of a reduction: those in ``dim``, or all."""
    if node.get_attribute("reduce_all", False):
        return int64(range(rank_of(value))).output(0)
    axes = node.integers("dim", default=[])
    return int64(range(rank_of(value))).output(0) if axes.partial_shape == [0] else axes


@translator(*_REDUCTIONS)
def reduce(node: PaddleNodeContext) -> ConversionResult:
    value, kind = node.get_input("X"), node.get_op_type()
    result = node.type_attribute("out_dtype", "dtype")
    if kind in ("reduce_any", "reduce_all"):
        value = convert_to(value, Type.boolean)
    elif kind in ("reduce_sum", "reduce_prod"):
        default = value.element_type if value.element_type.is_real() else Type.i64
        declared = node.output_variable().element_type
        value = convert_to(value, result or (default if declared.is_dynamic() else declared))
    if rank_of(value) == 0:
        return value
    return _REDUCTIONS[kind](value, axes_of(node, value), node.get_attribute("keep_dim", False))


@translator("mean")
def mean(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    return ops.ReduceMean(value, int64(range(rank_of(value))), False)


@translator("logsumexp")
def log_sum_exp_of_axes(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    axes = axes_of(node, value) if node.has_attribute("dim") else node.integers("axis", default=[0])
    if node.get_attribute("reduce_all", False):
        axes = int64(range(rank_of(value))).output(0)
    keep = node.get_attribute("keep_dim", node.get_attribute("keepdim", False))
    return log_sum_exp(value, axes, keep)


@translator("p_norm")
def p_norm(node: PaddleNodeContext) -> ConversionResult:
    value, order = node.get_input("X"), node.get_attribute("porder", 2.0)
    keep = node.get_attribute("keepdim", False)
    axis = node.get_attribute("axis", -1)
    axes = int64(range(rank_of(value)) if node.get_attribute("asvector", False) else [axis]).output(0)
    return norm(value, axes, order, keep)


@translator("frobenius_norm")
def frobenius_norm(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    return ops.ReduceL2(value, axes_of(node, value), node.get_attribute("keep_dim", False))


@translator("norm")
def normalize(node: PaddleNodeContext) -> ConversionResult:
    """Divide by the Euclidean norm along an axis; also return it."""
    value, axis = node.get_input("X"), node.get_attribute("axis", -1)
    total = ops.ReduceSum(ops.Multiply(value, value), int64([axis]), True)
    norm = ops.Sqrt(ops.Add(total, scalar_like(value, node.get_attribute("epsilon", 1e-10))))
    return {"Out": ops.Divide(value, norm), "Norm": norm}


@translator("clip_by_norm")
def clip_by_norm(node: PaddleNodeContext) -> ConversionResult:
    value, most = node.get_input("X"), node.get_attribute("max_norm")
    norm = ops.ReduceL2(value, int64(range(rank_of(value))), False)
    return ops.Multiply(value, ops.Divide(scalar_like(value, most), ops.Maximum(norm, scalar_like(value, most))))


@translator("cumsum", "cumprod")
def cumulative(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    if node.get_attribute("flatten", False):
        value = ops.Reshape(value, int64([-1]), False).output(0)
    is_sum = node.get_op_type() == "cumsum"
    axis = node.known_integer("axis" if is_sum else "dim", default=-1)
    if node.get_attribute("flatten", False):
        axis = 0
    options = node.get_attribute("exclusive", False), node.get_attribute("reverse", False)
    if value.element_type is Type.boolean:
        value = ops.Convert(value, Type.i64).output(0)
    return (ops.CumSum if is_sum else ops.CumProd)(value, int64(axis), *options)


@translator("size")
def element_count(node: PaddleNodeContext) -> ConversionResult:
    shape = ops.ShapeOf(node.get_input("Input"))
    return ops.ReduceProd(shape, int64([0]), False) if rank_of(node.get_input("Input")) else int64(1)


@translator("diagonal", "trace")
def diagonal(node: PaddleNodeContext) -> ConversionResult:
    """Elements whose places on two axes differ by ``offset``, along a new last axis; for a trace their sum."""
    value = as_output(node.get_input("X" if node.has_input("X") else "Input"))
    rank = rank_of(value)
    first, second = (node.get_attribute(name, at) % rank for at, name in enumerate(("axis1", "axis2")))
    offset = node.get_attribute("offset", 0)
    shape = value.partial_shape
    rows, columns = (shape[axis].get_length() for axis in (first, second))
    places = [(row, row + offset) for row in range(rows) if 0 <= row + offset < columns]
    order = [first, second, *(axis for axis in range(rank) if axis not in (first, second))]
    index = Constant(np.array(places, np.int64).reshape(-1, 2))
    picked = ops.GatherND(ops.Transpose(value, int64(order)), index).output(0)
    moved = ops.Transpose(picked, int64([*range(1, rank - 1), 0]))
    return ops.ReduceSum(moved, int64([-1]), False) if node.get_op_type() == "trace" else moved

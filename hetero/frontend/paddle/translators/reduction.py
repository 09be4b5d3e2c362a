"""Reductions, norms and cumulative functions; sorting, searching and unique elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import diagonal_of
from hetero.frontend.numerics.reduction import log_sum_exp, norm, search_sorted
from hetero.frontend.paddle.node_context import PaddleNodeContext, PaddleTranslator, rows, translator
from hetero.frontend.paddle.translators.creation import MAX_COMPUTED
from hetero.frontend.translation.translators import Attr, ConversionResult, Row
from hetero.frontend.translation.values import axis_length, convert_to, int64, known_length, rank_of, scalar_like
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


def axes_of(node: PaddleNodeContext, value: Output) -> Output:
    """Return the axes of a reduction: those in ``dim``, or all."""
    if node.get_attribute("reduce_all", False):
        return int64(range(rank_of(value))).output(0)
    axes = node.integers("dim", default=[])
    return int64(range(rank_of(value))).output(0) if axes.partial_shape == [0] else axes


def _reduction(convert: Callable[[PaddleNodeContext, Output], Output]) -> Callable[[Row], PaddleTranslator]:
    """Return the convention of reductions, whose input is converted first. A scalar stays as it is."""

    def convention(operator: Row) -> PaddleTranslator:
        def translate(node: PaddleNodeContext) -> ConversionResult:
            value = convert(node, node.get_input("X"))
            return operator.make(node, [value, axes_of(node, value)]) if rank_of(value) else value

        return translate

    return convention


def _in_result_type(node: PaddleNodeContext, value: Output) -> Output:
    """Return a value in the type of its sum: the one that the program says, else i64 for integers."""
    default = value.element_type if value.element_type.is_real() else Type.i64
    declared = node.output_variable().element_type
    result = node.type_attribute("out_dtype", "dtype")
    return convert_to(value, result or (default if declared.is_dynamic() else declared))


def _clip_by_norm(value: Output, limit: float) -> Op:
    norm = ops.ReduceL2(value, int64(range(rank_of(value))), False)
    most = scalar_like(value, limit)
    return ops.Multiply(value, ops.Divide(most, ops.Maximum(norm, most)))


_KEEP_DIM = Attr("keep_dim", False)

rows(
    {
        "reduce_amax": Row(ops.ReduceMax, keep_dims=_KEEP_DIM),
        "reduce_amin": Row(ops.ReduceMin, keep_dims=_KEEP_DIM),
        "reduce_max": Row(ops.ReduceMax, keep_dims=_KEEP_DIM),
        "reduce_mean": Row(ops.ReduceMean, keep_dims=_KEEP_DIM),
        "reduce_min": Row(ops.ReduceMin, keep_dims=_KEEP_DIM),
    },
    _reduction(lambda node, value: value),
)
rows(
    {
        "reduce_all": Row(ops.ReduceLogicalAnd, keep_dims=_KEEP_DIM),
        "reduce_any": Row(ops.ReduceLogicalOr, keep_dims=_KEEP_DIM),
    },
    _reduction(lambda node, value: convert_to(value, Type.boolean)),
)
rows(
    {
        "reduce_prod": Row(ops.ReduceProd, keep_dims=_KEEP_DIM),
        "reduce_sum": Row(ops.ReduceSum, keep_dims=_KEEP_DIM),
    },
    _reduction(_in_result_type),
)
rows(
    {
        "clip_by_norm": Row(_clip_by_norm, "X", limit=Attr("max_norm")),
        "mean": Row(lambda value: ops.ReduceMean(value, int64(range(rank_of(value))), False), "X"),
    }
)


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


rows(
    {
        "frobenius_norm": lambda node: ops.ReduceL2(
            node.get_input("X"), axes_of(node, node.get_input("X")), node.get_attribute("keep_dim", False)
        ),
        "size": Row(
            lambda value: ops.ReduceProd(ops.ShapeOf(value), int64([0]), False) if rank_of(value) else int64(1), "Input"
        ),
        **dict.fromkeys(
            ("top_k_v2", "top_k"),
            lambda node: _sorted(
                node, "max" if node.get_attribute("largest", True) else "min", node.scalar("k", "K", Type.i64, 1), False
            ),
        ),
        "argsort": lambda node: _sorted(node, "max" if node.get_attribute("descending", False) else "min", None, True),
    }
)


@translator("norm")
def normalize(node: PaddleNodeContext) -> ConversionResult:
    """Divide by the Euclidean norm along an axis; also return it."""
    value, axis = node.get_input("X"), node.get_attribute("axis", -1)
    total = ops.ReduceSum(ops.Multiply(value, value), int64([axis]), True)
    norm = ops.Sqrt(ops.Add(total, scalar_like(value, node.get_attribute("epsilon", 1e-10))))
    return {"Out": ops.Divide(value, norm), "Norm": norm}


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


@translator("diagonal", "trace")
def diagonal(node: PaddleNodeContext) -> ConversionResult:
    """Elements whose places on two axes differ by ``offset``, along a new last axis; for a trace their sum."""
    value = node.get_input("X" if node.has_input("X") else "Input")
    axes = (node.get_attribute(name, default) for default, name in enumerate(("axis1", "axis2")))
    elements = diagonal_of(value, node.get_attribute("offset", 0), *axes)
    return ops.ReduceSum(elements, int64([-1]), False) if node.get_op_type() == "trace" else elements


def _sorted(node: PaddleNodeContext, mode: str, count: Output | None, stable: bool) -> ConversionResult:
    """Return the first elements along an axis, or all, in order. A scalar stays as it is."""
    value, axis = node.get_input("X"), node.get_attribute("axis", -1)
    if rank_of(value) == 0:
        return {"Out": value, "Indices": int64(0)}
    top = ops.TopK(value, axis_length(value, axis) if count is None else count, axis, mode, "value", "i64", stable)
    return {"Out": top.output(0), "Indices": top.output(1)}


@translator("arg_max", "arg_min")
def arg_extreme(node: PaddleNodeContext) -> ConversionResult:
    value, keep = node.get_input("X"), node.get_attribute("keepdims", False)
    mode = "max" if node.get_op_type() == "arg_max" else "min"
    kind = node.type_attribute("dtype") or Type.i64
    rank, axis = rank_of(value), node.known_integer("axis", default=-1)
    is_flat = node.get_attribute("flatten", False) or rank == 0
    if is_flat:
        value, axis = ops.Reshape(value, int64([-1]), False).output(0), 0
    index = ops.TopK(value, int64(1), axis, mode, "value", kind.to_string(), True).output(1)
    if is_flat:
        return ops.Reshape(index, int64([1] * rank if keep else []), False)
    return index if keep else ops.Squeeze(index, int64([axis]))


@translator("kthvalue")
def kth_value(node: PaddleNodeContext) -> ConversionResult:
    value, axis, keep = node.get_input("X"), node.get_attribute("axis", -1), node.get_attribute("keepdim", False)
    count = node.get_attribute("k", 1)
    ordered = ops.TopK(value, axis_length(value, axis), axis, "min", "value", "i64", True)
    at = int64([count - 1] if keep else count - 1)
    values, indices = (ops.Gather(output, at, int64(axis)) for output in ordered.outputs())
    return {"Out": values, "Indices": indices}


@translator("unique")
def unique(node: PaddleNodeContext) -> ConversionResult:
    value, axes = node.get_input("X"), node.get_attribute("axis", [])
    kind = node.type_attribute("dtype") or Type.i64
    inputs = [value, int64(axes[0])] if axes else [value]
    is_sorted = node.get_attribute("is_sorted", True)
    outputs = ops.Unique(*inputs, sorted=is_sorted, index_element_type=kind, count_element_type=kind).outputs()
    ports = ("Out", "Indices", "Index", "Counts")
    return dict(zip(ports, outputs))


@translator("searchsorted", "bucketize")
def search(node: PaddleNodeContext) -> ConversionResult:
    limits, value = node.get_input("SortedSequence"), node.get_input("Values")
    kind = "i32" if node.get_attribute("out_int32", False) else "i64"
    value, right = convert_to(value, limits.element_type), node.get_attribute("right", False)
    return search_sorted(limits, value, right, kind)


@translator("repeat_interleave")
def repeat_interleave(node: PaddleNodeContext) -> ConversionResult:
    """Each slice along an axis several times."""
    value, count = node.get_input("X"), node.get_attribute("repeats", node.get_attribute("Repeats", 1))
    axis = node.get_attribute("axis", node.get_attribute("dim", 0))
    length = known_length(value, axis, "the length of the axis")
    if not 0 <= count * length <= MAX_COMPUTED:
        raise FrontendError(f"{length} slices cannot be repeated {count} times")
    return ops.Gather(value, int64(np.repeat(np.arange(length), count)), int64(axis))

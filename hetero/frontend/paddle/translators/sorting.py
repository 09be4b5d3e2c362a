"""Sorting, searching and unique elements."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.paddle.translators.creation import MAX_COMPUTED
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import axis_length, int64, known_length, rank_of
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("top_k_v2", "top_k")
def top_k(node: PaddleNodeContext) -> ConversionResult:
    mode = "max" if node.get_attribute("largest", True) else "min"
    return _sorted(node, mode, node.scalar("k", "K", Type.i64, 1), False)


@translator("argsort")
def argsort(node: PaddleNodeContext) -> ConversionResult:
    return _sorted(node, "max" if node.get_attribute("descending", False) else "min", None, True)


def _sorted(node: PaddleNodeContext, mode: str, count: Output | None, stable: bool) -> ConversionResult:
    """Return the first elements along an axis, or all, in order. A scalar stays as it is."""
    value, axis = node.get_input("X"), node.get_attribute("axis", -1)
    if rank_of(value) == 0:
        return {"Out": value, "Indices": int64(0)}
    found = ops.TopK(value, axis_length(value, axis) if count is None else count, axis, mode, "value", "i64", stable)
    return {"Out": found.output(0), "Indices": found.output(1)}


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
    found = ops.TopK(value, axis_length(value, axis), axis, "min", "value", "i64", True)
    at = int64([count - 1] if keep else count - 1)
    values, indices = (ops.Gather(one, at, int64(axis)) for one in found.outputs())
    return {"Out": values, "Indices": indices}


@translator("unique")
def unique(node: PaddleNodeContext) -> ConversionResult:
    value, axes = node.get_input("X"), node.get_attribute("axis", [])
    kind = node.type_attribute("dtype") or Type.i64
    inputs = [value, int64(axes[0])] if axes else [value]
    is_sorted = node.get_attribute("is_sorted", True)
    found = ops.Unique(*inputs, sorted=is_sorted, index_element_type=kind, count_element_type=kind).outputs()
    ports = ("Out", "Indices", "Index", "Counts")
    return dict(zip(ports, found))


@translator("searchsorted", "bucketize")
def search_sorted(node: PaddleNodeContext) -> ConversionResult:
    limits, value = node.get_input("SortedSequence"), node.get_input("Values")
    kind = "i32" if node.get_attribute("out_int32", False) else "i64"
    value, right = convert_to(value, limits.element_type), node.get_attribute("right", False)
    if rank_of(limits) == 1:
        return ops.Bucketize(value, limits, kind, not right)
    return ops.SearchSorted(limits, value, right, kind)


@translator("repeat_interleave")
def repeat_interleave(node: PaddleNodeContext) -> ConversionResult:
    """Each slice along an axis several times."""
    value, count = node.get_input("X"), node.get_attribute("repeats", node.get_attribute("Repeats", 1))
    axis = node.get_attribute("axis", node.get_attribute("dim", 0))
    length = known_length(value, axis, "the length of the axis")
    if not 0 <= count * length <= MAX_COMPUTED:
        raise FrontendError(f"{length} slices cannot be repeated {count} times")
    return ops.Gather(value, int64(np.repeat(np.arange(length), count)), int64(axis))

"""Reductions, norms, cumulative functions, sorting, searching and counting."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    constant_input,
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Op, Output, constant_array


def _reduce(operation: type[Op], empty: float, value: Output, axes: Output, keep_dims: bool) -> Op:
    """Reduce over axes. ``empty``: the result of no elements, for which OpenVINO's reductions give a finite number."""
    reduced = operation(value, axes, keep_dims)
    count = _element_count(value, axes) if value.element_type.is_real() else None
    if count is None:
        return reduced
    return ops.Add(reduced, ops.Select(ops.Equal(count, int64(0)), scalar_like(value, empty), scalar_like(value, 0)))


def _element_count(value: Output, axes: Output) -> Output | None:
    """Return the number of elements that are reduced to one, None if it is known to be positive."""
    known, shape = constant_array(axes), value.partial_shape
    if known is not None and shape.has_rank:
        numbers = [normalize_axis(axis, len(shape)) for axis in known.reshape(-1).tolist()]
        if all(shape[axis].min_length > 0 for axis in numbers):
            return None
    lengths = ops.Gather(ops.ShapeOf(value), ops.Reshape(axes, int64([-1]), False), int64(0))
    return ops.ReduceProd(lengths, int64([0]), False).output(0)


def _with_complex_axes(row: Row) -> Translator:
    """Return the translator of a reduction whose negative axes do not count the axis of real and imaginary parts."""

    def translate(node: TensorflowNodeContext) -> Translation:
        value, axes = node.get_input(0), node.get_input(1)
        if node.is_complex():
            is_negative = ops.Less(axes, scalar_like(axes, 0))
            axes = ops.Select(is_negative, ops.Subtract(axes, scalar_like(axes, 1)), axes).output(0)
        return row.make(node, [value, axes])

    return translate


def _euclidean_norm(value: Output, axes: Output, keep_dims: bool) -> Op:
    """The norm of integers is truncated."""
    if value.element_type.is_real():
        return ops.ReduceL2(value, axes, keep_dims)
    squares = ops.ReduceSum(ops.Multiply(value, value), axes, keep_dims)
    return ops.Convert(ops.Sqrt(ops.Convert(squares, Type.f64)), value.element_type)


_KEEP_DIMS: dict[str, Any] = {"keep_dims": Attr("keep_dims", False, bool)}
rows(
    {
        "All": Row(ops.ReduceLogicalAnd, **_KEEP_DIMS),
        "Any": Row(ops.ReduceLogicalOr, **_KEEP_DIMS),
        "EuclideanNorm": Row(_euclidean_norm, **_KEEP_DIMS),
        "Max": Row(partial(_reduce, ops.ReduceMax, -np.inf), **_KEEP_DIMS),
        "Mean": Row(partial(_reduce, ops.ReduceMean, np.nan), **_KEEP_DIMS),
        "Min": Row(partial(_reduce, ops.ReduceMin, np.inf), **_KEEP_DIMS),
        "Prod": Row(ops.ReduceProd, **_KEEP_DIMS),
        "Sum": Row(ops.ReduceSum, **_KEEP_DIMS),
    },
    _with_complex_axes,
)


def _l2_loss(value: Output) -> Op:
    """Return half the sum of the squares of all elements."""
    total = ops.ReduceSum(ops.Multiply(value, value), int64(range(rank_of(value))), False)
    return ops.Multiply(total, scalar_like(value, 0.5))


def _cumulative(operation: type[Op], value: Output, axis: Output, exclusive: bool, reverse: bool) -> Op:
    return operation(value, reshape(axis, ()), exclusive, reverse)


_ORDER: dict[str, Any] = {"exclusive": Attr("exclusive", False, bool), "reverse": Attr("reverse", False, bool)}
rows(
    {
        "Cumprod": Row(partial(_cumulative, ops.CumProd), **_ORDER),
        "Cumsum": Row(partial(_cumulative, ops.CumSum), **_ORDER),
        "L2Loss": Row(_l2_loss),
    }
)


@translator("CumulativeLogsumexp")
def cumulative_log_sum_exp(node: TensorflowNodeContext) -> Translation:
    """The logarithm of the sum of exponentials of the elements up to each one, by a square of all pairs of elements.

    Each sum is relative to the maximum of its own elements: relative to that of all, small ones would be lost.
    """
    value, axis = node.get_input(0), normalize_axis(int(constant_input(node, 1, "axis")), rank_of(node.get_input(0)))
    exclusive, reverse = (node.get_attribute(name, False, bool) for name in ("exclusive", "reverse"))
    positions = arange(axis_length(value, axis))
    earlier, later = (ops.Unsqueeze(positions, int64([side])) for side in ((0, 1) if not reverse else (1, 0)))
    is_part = (ops.Less if exclusive else ops.LessEqual)(earlier, later)
    # Pairs have the axis of the sums, then that of the elements, then the axes that follow.
    trailing = int64(range(2, rank_of(value) + 1 - axis))
    lowest = scalar_like(value, -np.inf)
    pairs = ops.Select(ops.Unsqueeze(is_part, trailing), ops.Unsqueeze(value, int64([axis])), lowest)
    largest = ops.ReduceMax(pairs, int64([axis + 1]), True)
    # A maximum of -infinity or infinity is the result; its difference to itself would be NaN.
    offset = ops.Select(ops.IsFinite(largest), largest, scalar_like(value, 0))
    total = ops.ReduceSum(ops.Exp(ops.Subtract(pairs, offset)), int64([axis + 1]), True)
    return ops.Squeeze(ops.Add(ops.Log(total), offset), int64([axis + 1]))


@translator("TopK", "TopKV2")
def top_k(node: TensorflowNodeContext) -> Translation:
    """The count is an attribute of TopK, an input of TopKV2."""
    count = node.get_optional_input(1)
    count = int64(node.get_attribute("k", dtype=int)).output(0) if count is None else reshape(count, ())
    kind = node.get_attribute("index_type", Type.i32)
    index = kind if kind in (Type.i32, Type.i64) else Type.i32
    best = ops.TopK(node.get_input(0), count, -1, "max", "value", index, True)
    return [best.output(0), convert_to(best.output(1), kind)]


@translator("ArgMax", "ArgMin")
def arg_max_or_min(node: TensorflowNodeContext) -> Translation:
    """Return the index of the largest or least element, the first one of several that are equal."""
    value, axis = node.get_input(0), int(np.ravel(node.get_values_from_const_input(1, 0, int))[0])
    kind = node.get_attribute("output_type", Type.i64)
    mode = "max" if node.get_op_type() == "ArgMax" else "min"
    value = convert_to(value, Type.u8) if value.element_type is Type.boolean else value
    index = kind if kind in (Type.i32, Type.i64) else Type.i64
    best = ops.TopK(value, int64(1), axis, mode, "value", index, True)
    return convert_to(ops.Squeeze(best.output(1), int64([axis])).output(0), kind)


@translator("InTopK", "InTopKV2")
def in_top_k(node: TensorflowNodeContext) -> Translation:
    """Return whether the score of the target is finite and fewer than k scores of its row are greater."""
    scores, targets = node.get_input(0), node.get_input(1)
    count = node.get_optional_input(2)
    count = Constant(np.array(node.get_attribute("k"), np.int64)).output(0) if count is None else count
    own = ops.Gather(scores, ops.Unsqueeze(targets, int64([1])), int64(1), 1)
    greater = ops.Convert(ops.Greater(scores, own), count.element_type)
    fewer = ops.Less(ops.ReduceSum(greater, int64([1]), False), count)
    return ops.LogicalAnd(fewer, ops.IsFinite(ops.Squeeze(own, int64([1]))))


@translator("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2")
def unique(node: TensorflowNodeContext) -> Translation:
    """Unique elements in the order of their first occurrence, the index of each element among them, their counts.

    Input 1 of version 2 has the axis of slices, or is empty for a vector.
    """
    kind, axes = node.get_attribute("out_idx", Type.i32), np.ravel(node.get_values_from_const_input(1, [], int))
    uniques = ops.Unique(node.get_input(0), int64(int(axes[0])) if axes.size else None, False, kind, kind)
    return [uniques.output(index) for index in (0, 2, 3)][: node.get_output_size()]


def _nth_element(rows: Output, position: Output, is_reversed: bool) -> Op:
    """Return the element at a position of each sorted row."""
    count = ops.Add(reshape(position, ()), scalar_like(position, 1))
    best = ops.TopK(rows, count, -1, "max" if is_reversed else "min", "value", Type.i64)
    return ops.Gather(best.output(0), int64(-1), int64(-1))


def _list_difference(values: Output, excluded: Output, kind: Type) -> Translation:
    """Return the elements of a vector that another vector does not have, and their indices."""
    matches = ops.Equal(ops.Unsqueeze(values, int64([1])), ops.Unsqueeze(excluded, int64([0])))
    kept = ops.LogicalNot(ops.ReduceLogicalOr(matches, int64([1]), False))
    indices = reshape(ops.NonZero(kept).output(0), (-1,))
    return [ops.Gather(values, indices, int64(0)), convert_to(indices, kind)]


def _invert_permutation(order: Output) -> Op:
    positions = convert_to(arange(axis_length(order, 0)), order.element_type)
    return ops.ScatterUpdate(order, order, positions, int64(0))


def _bincount(values: Output, size: Output, weights: Output) -> Output:
    """``size``: the number of bins; ``weights``: empty if each integer counts 1."""
    return _count_bins(reshape(values, (-1,)), size, weights_of(values, weights, weights.element_type))


def _histogram(values: Output, limits: Output, count: Output, dtype: Type) -> Output:
    """Count the values in bins of equal width; values beyond the range are in the first or the last bin."""
    kind, bins = values.element_type, convert_to(reshape(count, ()), Type.i64)
    low, high = (ops.Gather(limits, int64(index), int64(0)) for index in (0, 1))
    width = ops.Divide(ops.Subtract(high, low), convert_to(bins, kind))
    position = ops.Divide(ops.Subtract(ops.Maximum(values, low), low), width)
    last = convert_to(ops.Subtract(bins, int64(1)).output(0), kind)
    indices = reshape(ops.Convert(ops.Minimum(position, last), Type.i64).output(0), (-1,))
    return _count_bins(indices, bins, _ones_like(indices, dtype))


def _dense_bincount(values: Output, size: Output, weights: Output, is_binary: bool) -> Op | Output:
    """Bincount of a vector, or of each row of a matrix; ``is_binary``: 1 for every value that occurs."""
    kind = weights.element_type
    amounts = _ones_like(values, kind) if is_binary else weights_of(values, weights, kind)
    if rank_of(values) == 1:
        counts = _count_bins(values, size, amounts)
    else:
        # Bins of row r start at r · size.
        rows, size = axis_length(values, 0), convert_to(size, Type.i64)
        starts = ops.Unsqueeze(ops.Multiply(arange(rows), reshape(size, ())), int64([1]))
        in_range = ops.Less(convert_to(values, Type.i64), size)
        shifted = ops.Add(convert_to(values, Type.i64), starts)
        amounts = ops.Reshape(amounts, ops.ShapeOf(values), False).output(0)
        amounts = ops.Select(in_range, amounts, scalar_like(amounts, 0)).output(0)
        total = ops.Multiply(rows, reshape(size, ()))
        flat = _count_bins(reshape(shifted.output(0), (-1,)), total.output(0), reshape(amounts, (-1,)))
        counts = ops.Reshape(flat, ops.Concat([reshape(rows, (1,)), reshape(size, (1,))], 0), False).output(0)
    return ops.Minimum(counts, scalar_like(counts, 1)) if is_binary else counts


def weights_of(values: Output, weights: Output, kind: Type) -> Output:
    """Return the flat weights of the values: ones if there are none."""
    count = weights.partial_shape.element_count()
    if count.is_static:
        return reshape(weights, (-1,)) if count.get_length() else _ones_like(values, kind)
    ones = _ones_like(values, kind)
    either = ops.Concat([reshape(weights, (-1,)), ones], 0)
    return ops.Slice(either, int64([0]), ops.ShapeOf(ones), int64([1])).output(0)


def _ones_like(values: Output, kind: Type) -> Output:
    ones = ops.Broadcast(Constant(np.array(1, kind.to_dtype())), ops.ShapeOf(values))
    return reshape(ones.output(0), (-1,))


def _count_bins(values: Output, size: Output, weights: Output) -> Output:
    """Sum the weights of each value from 0 to size - 1; others go to an additional bin, which is sliced off."""
    size = reshape(convert_to(size, Type.i64), (1,))
    values = ops.Minimum(convert_to(values, Type.i64), size).output(0)
    bins = ops.Broadcast(scalar_like(weights, 0), ops.Add(size, int64([1])))
    counted = ops.ScatterElementsUpdate(bins, values, weights, int64(0), "sum")
    return ops.Slice(counted, int64([0]), size, int64([1]), int64([0])).output(0)


_INDEX_TYPE: dict[str, Any] = {"output_type": Attr("out_type", Type.i32)}
rows(
    {
        "Bincount": Row(_bincount),
        "Bucketize": Row(
            lambda value, boundaries: ops.Bucketize(value, Constant(np.array(boundaries, np.float32)), Type.i32, False),
            boundaries=Attr("boundaries", ()),
        ),
        "DenseBincount": Row(_dense_bincount, is_binary=Attr("binary_output", False, bool)),
        "HistogramFixedWidth": Row(_histogram, dtype=Attr("dtype", Type.i32)),
        "InvertPermutation": Row(_invert_permutation),
        "ListDiff": Row(_list_difference, kind=Attr("out_idx", Type.i32)),
        "LowerBound": Row(ops.SearchSorted, right_mode=False, **_INDEX_TYPE),
        "NthElement": Row(_nth_element, is_reversed=Attr("reverse", False, bool)),
        "UpperBound": Row(ops.SearchSorted, right_mode=True, **_INDEX_TYPE),
        "Where": Row(lambda value: ops.Transpose(ops.NonZero(value), int64([1, 0]))),
    }
)

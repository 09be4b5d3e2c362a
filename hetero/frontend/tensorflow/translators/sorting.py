"""Sorting and searching: TopK, ArgMax, Unique, Where, Bucketize, bounds, counts."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Output


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
    """Of equal elements the first is chosen."""
    value, axis = node.get_input(0), int(np.ravel(node.get_values_from_const_input(1, 0, int))[0])
    kind = node.get_attribute("output_type", Type.i64)
    mode = "max" if node.get_op_type() == "ArgMax" else "min"
    value = convert_to(value, Type.u8) if value.element_type is Type.boolean else value
    index = kind if kind in (Type.i32, Type.i64) else Type.i64
    best = ops.TopK(value, int64(1), axis, mode, "value", index, True)
    return convert_to(ops.Squeeze(best.output(1), int64([axis])).output(0), kind)


@translator("NthElement")
def nth_element(node: TensorflowNodeContext) -> Translation:
    """The element at a position of each sorted row."""
    rows, position = node.get_inputs()
    mode = "max" if node.get_attribute("reverse", False, bool) else "min"
    count = ops.Add(reshape(position, ()), scalar_like(position, 1))
    best = ops.TopK(rows, count, -1, mode, "value", Type.i64)
    return ops.Gather(best.output(0), int64(-1), int64(-1))


@translator("InTopK", "InTopKV2")
def in_top_k(node: TensorflowNodeContext) -> Translation:
    """Whether the score of the target is finite and fewer than k scores of its row are greater."""
    scores, targets = node.get_input(0), node.get_input(1)
    count = node.get_optional_input(2)
    count = Constant(np.array(node.get_attribute("k"), np.int64)).output(0) if count is None else count
    own = ops.Gather(scores, ops.Unsqueeze(targets, int64([1])), int64(1), 1)
    greater = ops.Convert(ops.Greater(scores, own), count.element_type)
    fewer = ops.Less(ops.ReduceSum(greater, int64([1]), False), count)
    return ops.LogicalAnd(fewer, ops.IsFinite(ops.Squeeze(own, int64([1]))))


@translator("Unique", "UniqueWithCounts")
def unique(node: TensorflowNodeContext) -> Translation:
    """Unique elements in the order of their first occurrence, the index of each element among them, their counts."""
    kind = node.get_attribute("out_idx", Type.i32)
    found = ops.Unique(node.get_input(0), None, False, kind, kind)
    return [found.output(index) for index in (0, 2, 3)][: node.get_output_size()]


@translator("UniqueV2", "UniqueWithCountsV2")
def unique_slices(node: TensorflowNodeContext) -> Translation:
    """Input 1 has the axis, or is empty for a vector."""
    kind, axes = node.get_attribute("out_idx", Type.i32), np.ravel(node.get_values_from_const_input(1, dtype=int))
    found = ops.Unique(node.get_input(0), int64(int(axes[0])) if axes.size else None, False, kind, kind)
    return [found.output(index) for index in (0, 2, 3)][: node.get_output_size()]


@translator("Where")
def where(node: TensorflowNodeContext) -> Translation:
    """Return the indices of non-zero elements, one row each."""
    return ops.Transpose(ops.NonZero(node.get_input(0)), int64([1, 0]))


@translator("ListDiff")
def list_difference(node: TensorflowNodeContext) -> Translation:
    """The elements of a vector that another vector does not have, and their indices."""
    values, excluded = node.get_inputs()
    kind = node.get_attribute("out_idx", Type.i32)
    matches = ops.Equal(ops.Unsqueeze(values, int64([1])), ops.Unsqueeze(excluded, int64([0])))
    kept = ops.LogicalNot(ops.ReduceLogicalOr(matches, int64([1]), False))
    indices = reshape(ops.NonZero(kept).output(0), (-1,))
    return [ops.Gather(values, indices, int64(0)), convert_to(indices, kind)]


@translator("Bucketize")
def bucketize(node: TensorflowNodeContext) -> Translation:
    bounds = Constant(np.array(node.get_attribute("boundaries", ()), np.float32))
    return ops.Bucketize(node.get_input(0), bounds, Type.i32, False)


@translator("LowerBound", "UpperBound")
def bound(node: TensorflowNodeContext) -> Translation:
    """The position of each value in its row of sorted numbers."""
    is_upper = node.get_op_type() == "UpperBound"
    return ops.SearchSorted(*node.get_inputs(), is_upper, node.get_attribute("out_type", Type.i32))


@translator("InvertPermutation")
def invert_permutation(node: TensorflowNodeContext) -> Translation:
    order = node.get_input(0)
    positions = convert_to(arange(axis_length(order, 0)), order.element_type)
    return ops.ScatterUpdate(order, order, positions, int64(0))


@translator("Bincount")
def bincount(node: TensorflowNodeContext) -> Translation:
    """Inputs: integers, the number of bins, and weights of the integers, which are empty if each counts 1."""
    values, size, weights = node.get_inputs()
    return _count_bins(reshape(values, (-1,)), size, weights_of(values, weights, weights.element_type))


@translator("HistogramFixedWidth")
def histogram(node: TensorflowNodeContext) -> Translation:
    """Counts of the values in bins of equal width; values beyond the range are in the first or the last bin."""
    values, limits, count = node.get_inputs()
    kind, bins = values.element_type, convert_to(reshape(count, ()), Type.i64)
    low, high = (ops.Gather(limits, int64(index), int64(0)) for index in (0, 1))
    width = ops.Divide(ops.Subtract(high, low), convert_to(bins, kind))
    position = ops.Divide(ops.Subtract(ops.Maximum(values, low), low), width)
    last = convert_to(ops.Subtract(bins, int64(1)).output(0), kind)
    indices = reshape(ops.Convert(ops.Minimum(position, last), Type.i64).output(0), (-1,))
    return _count_bins(indices, bins, _ones_like(indices, node.get_attribute("dtype", Type.i32)))


@translator("DenseBincount")
def dense_bincount(node: TensorflowNodeContext) -> Translation:
    """Bincount of a vector, or of each row of a matrix; ``binary_output`` is 1 for every value that occurs."""
    values, size, weights = node.get_inputs()
    kind, is_binary = weights.element_type, node.get_attribute("binary_output", False, bool)
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

"""Sparse tensors in coordinate form: indices ``[count, rank]``, values ``[count]`` and the dense shape ``[rank]``."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.segments import (
    mean_of_segments,
    reduce_segments,
    rows_of_segments,
    scatter_rows,
    sparse_to_dense,
)
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.tensorflow.translators.indexing import strides_of
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import arange, axis_length, convert_to, int64, reshape, scalar_like
from hetero.graph import Op, Output


def _with_new_shape(indices: Output, old_shape: Output, new_shape: Output) -> Translation:
    """Return the indices in a dense shape of as many elements, one length of which may be -1, and that shape."""
    known = ops.ReduceProd(ops.Abs(new_shape), int64([0]), False)
    rest = ops.Divide(ops.ReduceProd(old_shape, int64([0]), False), known)
    shape = ops.Select(ops.Less(new_shape, int64(0)), rest, new_shape).output(0)
    flat = ops.ReduceSum(ops.Multiply(indices, strides_of(old_shape)), int64([1]), True)
    return [ops.FloorMod(ops.Divide(flat, strides_of(shape)), shape), shape]


def _in_row_major_order(indices: Output, values: Output, shape: Output) -> Translation:
    """Sort elements by their indices in row-major order."""
    flat = ops.ReduceSum(ops.Multiply(indices, strides_of(shape)), int64([1]), False)
    count = axis_length(flat, 0)
    order = ops.TopK(flat, count, 0, "min", "value", Type.i64, True).output(1)
    return [ops.Gather(indices, order, int64(0)), ops.Gather(values, order, int64(0))]


def _reduce_sum(indices: Output, values: Output, shape: Output, axes: Output, keep_dims: bool) -> Op:
    """Sum the elements along axes to a dense tensor."""
    return ops.ReduceSum(scatter_rows(indices, values, shape), axes, keep_dims)


def _fill_empty_rows(indices: Output, values: Output, shape: Output, default: Output) -> Translation:
    """Indices are those of a matrix, sorted by rows. Output 3 is the new position of each input value."""
    filled = ops.SparseFillEmptyRows(values, shape, indices, default)
    is_empty = filled.output(2)
    empty_before = ops.CumSum(ops.Convert(is_empty, Type.i64), int64(0))
    rows = ops.Gather(indices, int64(0), int64(1))
    positions = ops.Add(arange(axis_length(indices, 0)), ops.Gather(empty_before, rows, int64(0)))
    return [filled.output(0), filled.output(1), is_empty, positions]


def _matmul(indices: Output, values: Output, shape: Output, dense: Output, *, left: bool, right: bool) -> Op:
    """Multiply a sparse and a dense matrix. Values of equal indices are summed."""
    return ops.MatMul(scatter_rows(indices, values, shape), dense, left, right)


rows(
    {
        "SparseFillEmptyRows": Row(_fill_empty_rows),
        "SparseReduceSum": Row(_reduce_sum, keep_dims=Attr("keep_dims", False, bool)),
        "SparseReorder": Row(_in_row_major_order),
        "SparseReshape": Row(_with_new_shape),
        "SparseTensorDenseAdd": Row(
            lambda indices, values, dense: ops.ScatterNDUpdate(dense, indices, values, "sum"), 0, 1, 3
        ),
        "SparseTensorDenseMatMul": Row(
            _matmul, left=Attr("adjoint_a", False, bool), right=Attr("adjoint_b", False, bool)
        ),
        "SparseToDense": Row(sparse_to_dense),
    }
)


_SEGMENTS = ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")


@translator(*_SEGMENTS, *(f"{name}WithNumSegments" for name in _SEGMENTS))
def sparse_segments(node: TensorflowNodeContext) -> Translation:
    """Reduce selected rows of the data by sorted segments. Inputs: data, row indices, segments, their number."""
    data, indices, segments = (node.get_input(index) for index in range(3))
    rows, segments = ops.Gather(data, indices, int64(0)).output(0), convert_to(segments, Type.i64)
    if node.has_input(3):
        count = reshape(convert_to(node.get_input(3), Type.i64), (1,))
    else:
        # The maximum with -1, because there may be no row.
        last = ops.ReduceMax(ops.Concat([segments, int64([-1])], 0), int64([0]), True)
        count = ops.Add(last, int64(1)).output(0)
    if "Mean" in node.get_op_type():
        return mean_of_segments(rows, segments, count)
    total = reduce_segments(rows, segments, count, "sum")
    if "Sum" in node.get_op_type():
        return total
    lengths = ops.Maximum(rows_of_segments(rows, segments, count), scalar_like(rows, 1))
    return ops.Divide(total, ops.Sqrt(lengths))

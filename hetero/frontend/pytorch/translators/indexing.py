"""Indexing by tensors, scattering, and selection by masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import gather_elements
from hetero.frontend.pytorch.node_context import TorchNodeContext, rows, translator
from hetero.frontend.pytorch.translators.movement import NO_END
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    convert_to,
    int64,
    multiply_by,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
    transpose,
)
from hetero.graph import Constant, Node, Output, Parameter, as_output
from hetero.system.errors import FrontendError

# The reductions of ScatterElementsUpdate by torch's names, where these differ.
_REDUCTIONS = {"amax": "max", "amin": "min", "add": "sum", "multiply": "prod"}


class _Selection(NamedTuple):
    """The elements that index tensors select.

    ``order``: the axes, those that are indexed first. ``indices``: their indices [selected…, number of indexed axes].
    ``moved``: the axes of the selected elements [selected…, other axes…] in the order of the result.
    """

    order: list[int]
    indices: Node
    moved: list[int]


def _selection(node: TorchNodeContext, value: Output) -> _Selection:
    by_axis: list[tuple[int, Output]] = []
    axis = 0
    for index in node.arguments["indices"]:
        if index is None:
            axis += 1
        elif index.element_type in (Type.boolean, Type.u8):
            # A mask selects by the indices of its elements that are true.
            coordinates = ops.NonZero(index).output(0)
            for row in range(rank_of(index)):
                by_axis.append((axis, ops.Gather(coordinates, row, 0).output(0)))
                axis += 1
        else:
            by_axis.append((axis, ops.Convert(index, Type.i64).output(0)))
            axis += 1
    axes = [axis for axis, _ in by_axis]
    if not axes or axes[-1] >= rank_of(value):
        raise FrontendError(f"it indexes {len(axes)} axes of a tensor with {rank_of(value)}")
    total: Output | Node = by_axis[0][1]
    for _, index in by_axis[1:]:
        total = ops.Add(total, index)
    shape = ops.ShapeOf(total)
    columns = []
    for axis, index in by_axis:
        length = axis_length(value, axis)
        positive = ops.Select(ops.Less(index, np.int64(0)), ops.Add(index, length), index)
        columns.append(ops.Unsqueeze(ops.Broadcast(positive, shape), int64([-1])))
    others = [axis for axis in range(rank_of(value)) if axis not in axes]
    count = rank_of(as_output(total))
    # Neighboring axes are replaced where they are; else the selected axes come first.
    is_together = axes == list(range(axes[0], axes[0] + len(axes)))
    before = axes[0] if is_together else 0
    moved = [*range(count, count + before), *range(count), *range(count + before, count + len(others))]
    return _Selection([*axes, *others], ops.Concat(columns, -1), moved)


@translator("aten::index", "aten::_unsafe_index")
def index(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    selection = _selection(node, value)
    selected = ops.GatherND(ops.Transpose(value, int64(selection.order)), selection.indices)
    return ops.Transpose(selected, int64(selection.moved)) if selection.moved else selected


@translator("aten::index_put", "aten::index_put_")
def index_put(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    selection = _selection(node, value)
    ordered = ops.Transpose(value, int64(selection.order))
    selected = ops.GatherND(ordered, selection.indices)
    shape = ops.ShapeOf(ops.Transpose(selected, int64(selection.moved)) if selection.moved else selected)
    updates: Node = ops.Broadcast(node.converted("values", value.element_type), shape)
    if selection.moved:
        updates = ops.Transpose(updates, int64(np.argsort(selection.moved)))
    reduction = "sum" if node.get_attribute("accumulate", False) else "none"
    put = ops.ScatterNDUpdate(ordered, selection.indices, updates, reduction)
    return ops.Transpose(put, int64(np.argsort(selection.order)))


@translator("aten::scatter", "aten::scatter_add", "aten::scatter_reduce")
def scatter(node: TorchNodeContext) -> Translation:
    value, index, axis = node.get_input("self"), node.get_input("index"), node.get_attribute("dim")
    source = "value" if "value" in node.arguments else "src"
    updates = node.converted(source, value.element_type)
    is_scalar = rank_of(value) == 0
    if is_scalar:
        value, index, updates = reshape(value, [1]), reshape(index, [1]), reshape(updates, [1])
    if source == "value":
        updates = ops.Broadcast(updates, ops.ShapeOf(index)).output(0)
    else:  # there may be more updates than indices
        count = rank_of(value)
        updates = ops.Slice(updates, [0] * count, ops.ShapeOf(index), [1] * count).output(0)
    name = "sum" if node.get_op_type() == "aten::scatter_add" else node.get_attribute("reduce", "none")
    result = _scattered(node, value, index, updates, axis, name)
    return reshape(result.output(0), []) if is_scalar else result


def _scattered(
    node: TorchNodeContext, value: Output, index: Output, updates: Output, axis: int, reduction: str
) -> Node:
    """Write updates at indices along an axis, combined by a reduction; integer means are rounded down."""
    keeps, name = node.get_attribute("include_self", True), _REDUCTIONS.get(reduction, reduction)
    if name != "mean" or value.element_type.is_real():
        return ops.ScatterElementsUpdate(value, index, updates, axis, name, keeps)
    total = ops.ScatterElementsUpdate(value, index, updates, axis, "sum", keeps)
    first = ops.Broadcast(scalar_like(value, int(keeps)), ops.ShapeOf(value))
    ones = ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(updates))
    counts = ops.ScatterElementsUpdate(first, index, ones, axis, "sum")
    return ops.Divide(total, ops.Maximum(counts, scalar_like(value, 1)), m_pythondiv=True)


@translator("aten::index_copy", "aten::index_fill")
def index_copy(node: TorchNodeContext) -> Translation:
    """Write tensors, or a number, at indices along an axis."""
    value, axis = node.get_input("self"), node.get_attribute("dim")
    index = reshape(node.get_input("index"), [-1])
    updates = node.converted("source" if "source" in node.arguments else "value", value.element_type)
    if rank_of(value) == 0:
        return reshape(updates, [])
    axis = normalize_axis(axis, rank_of(value))
    shape = _with_length(value, axis, ops.ShapeOf(index))
    return ops.ScatterUpdate(value, index, ops.Broadcast(updates, shape), axis)


@translator("aten::index_add", "aten::index_reduce")
def index_add(node: TorchNodeContext) -> Translation:
    """Combine tensors with those at indices along an axis."""
    value, axis = node.get_input("self"), node.get_attribute("dim")
    updates = multiply_by(node.converted("source", value.element_type), node.get_attribute("alpha", 1))
    if rank_of(value) == 0:
        value, updates = reshape(value, [1]), reshape(updates, [1])
    axis = normalize_axis(axis, rank_of(value))
    column = reshape(node.get_input("index"), [-1, *[1] * (rank_of(value) - axis - 1)])
    index = ops.Broadcast(column, ops.ShapeOf(updates))
    name = "sum" if node.get_op_type() == "aten::index_add" else node.get_attribute("reduce")
    combined = _scattered(node, value, index.output(0), updates, axis, name)
    return ops.Reshape(combined, ops.ShapeOf(node.get_input("self")), False)


@translator("aten::select_scatter")
def select_scatter(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    axis, at = node.get_attribute("dim"), node.get_attribute("index")
    source = ops.Unsqueeze(node.converted("src", value.element_type), [normalize_axis(axis, rank_of(value))])
    return ops.SliceScatter(value, source, [at], [at + 1 or NO_END], [1], [axis])


@translator("aten::slice_scatter")
def slice_scatter(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    begin, end, step = node.integers("start", 0), node.integers("end", NO_END), node.integers("step", 1)
    source, axes = node.converted("src", value.element_type), node.integers("dim", 0)
    return ops.SliceScatter(value, source, begin, end, step, axes)


def _last_offset(first: int, sizes: Sequence[int | Output], strides: Sequence[int]) -> float:
    """Return the largest offset of an element, which is infinite if a size is computed at run time."""
    steps = (math.inf if isinstance(size, Output) else (size - 1) * stride for size, stride in zip(sizes, strides))
    return first + sum(steps)


def _is_stored(value: Output) -> bool:
    while isinstance(value.node, _SAME_ORDER):
        value = value.node.input_value(0)
    return isinstance(value.node, (Constant, Parameter, ops.ReadValue))


# Operations that keep the order of elements in memory.
_SAME_ORDER = (ops.Reshape, ops.Squeeze, ops.Unsqueeze)


@translator("aten::as_strided")
def as_strided(node: TorchNodeContext) -> Translation:
    """Elements by their offsets in the memory of a tensor.

    Raises FrontendError unless the program says in which order the tensor fills its memory, or the tensor is an input
    or a weight, in another shape.
    """
    value, order = node.get_input("self"), node.memory_order("self")
    sizes, strides = node.arguments["size"], node.get_attribute("stride")
    first = node.get_attribute("storage_offset", 0)
    if order is not None and _last_offset(first, sizes, strides) < np.prod(value.partial_shape.to_shape()):
        value = transpose(value, order)
    elif not _is_stored(value):
        raise FrontendError("the order in memory is unknown for a tensor that is a part of another one, or has dynamic "
                            "dimensions, and is neither an input nor a weight")  # fmt: skip
    offsets: Node = int64(first)
    for size, stride in zip(sizes, strides):
        steps = ops.Multiply(arange(size if isinstance(size, Output) else int64(size)), int64(stride))
        offsets = ops.Add(ops.Unsqueeze(offsets, [-1]), steps)
    return ops.Gather(reshape(value, [-1]), offsets, 0)


@translator("aten::fill", "aten::copy")
def fill(node: TorchNodeContext) -> Translation:
    name = "value" if "value" in node.arguments else "src"
    value = node.get_input("self")
    return ops.Broadcast(node.converted(name, value.element_type), ops.ShapeOf(value))


@translator("aten::repeat_interleave")
def repeat_interleave(node: TorchNodeContext) -> Translation:
    """Repeat each slice along an axis, by one number or by one for each slice."""
    if "self" not in node.arguments:
        return _repeated(node.get_input("repeats"))
    value, axis = node.get_input("self"), node.get_attribute("dim", None)
    if axis is None:
        value, axis = reshape(value, [-1]), 0
    counts = ops.Broadcast(reshape(node.get_input("repeats"), [-1]), axis_length(value, [axis]))
    return ops.Gather(value, _repeated(counts.output(0)), axis)


def _repeated(counts: Output) -> Node:
    """Return 0, 1, …, each as often as its count says."""
    counts = convert_to(counts, Type.i64)
    total = ops.ReduceSum(counts, [0], False)
    return ops.Bucketize(arange(total), ops.CumSum(counts, 0), "i64", False)


def _gathered(value: Output, indices: Output, axis: int) -> Output | Node:
    if rank_of(value) == 0:
        return ops.Broadcast(value, ops.ShapeOf(indices))
    if rank_of(indices) == 0:
        return reshape(ops.GatherElements(value, reshape(indices, [1]), axis).output(0), [])
    return gather_elements(value, indices, axis)


def _taken_along(value: Output, indices: Output, axis: int | None) -> Node:
    """Gather along an axis; the other axes of both broadcast."""
    if axis is None:
        return ops.GatherElements(reshape(value, [-1]), reshape(indices, [-1]), 0)
    axis = normalize_axis(axis, rank_of(value))
    lengths = _with_length(value, axis, [1]), _with_length(indices, axis, [1])
    value = ops.Broadcast(value, lengths[1], broadcast_spec="BIDIRECTIONAL").output(0)
    indices = ops.Broadcast(indices, lengths[0], broadcast_spec="BIDIRECTIONAL").output(0)
    return ops.GatherElements(value, indices, axis)


def _with_length(value: Output, axis: int, length: Any) -> Node:
    """Return the shape of a value, with another length of an axis."""
    return ops.Concat([axis_length(value, range(axis)), length, axis_length(value, range(axis + 1, rank_of(value)))], 0)


def _broadcast(left: Output, right: Output) -> tuple[Output, Output]:
    left = ops.Broadcast(left, ops.ShapeOf(right), broadcast_spec="BIDIRECTIONAL").output(0)
    return left, ops.Broadcast(right, ops.ShapeOf(left)).output(0)


def _masked(value: Output, mask: Output) -> Node:
    value, mask = _broadcast(value, mask)
    if rank_of(value) == 0:
        value, mask = reshape(value, [1]), reshape(mask, [1])
    return ops.GatherND(value, ops.Transpose(ops.NonZero(mask), [1, 0]))


def _masked_scattered(value: Output, mask: Output, source: Output) -> Node:
    """Put the elements of the source, in order, where the mask is true."""
    value, mask = _broadcast(value, mask)
    indices = ops.Transpose(ops.NonZero(mask), [1, 0]).output(0)
    elements = ops.Slice(reshape(source, [-1]), [0], axis_length(indices, [0]), [1], [0])
    return ops.ScatterNDUpdate(value, indices, elements)


def _nonzero(value: Output) -> Node:
    """Return the indices of the elements that are not 0, [count, rank]."""
    if rank_of(value):
        return ops.Transpose(ops.NonZero(value), [1, 0])
    count = ops.Convert(reshape(convert_to(value, Type.boolean), [1]), Type.i64)
    return ops.Broadcast(0, ops.Concat([count, [0]], 0))


def _flipped(value: Output, axes: Sequence[int]) -> Output | Node:
    count = len(axes)
    return ops.Slice(value, [-1] * count, [-(2**63) + 1] * count, [-1] * count, axes) if axes else value


def _one_hot(value: Output, count: int) -> Node:
    if count < 0:
        raise FrontendError("the number of classes must be known")
    return ops.OneHot(value, count, scalar_like(value, 1), scalar_like(value, 0), -1)


rows({
    "aten::embedding": Row(ops.Gather, "weight", "indices", axis=0),
    "aten::select": Row(ops.Gather, "self", "index", axis=Attr("dim")),
    "aten::select_copy": Row(ops.Gather, "self", "index", axis=Attr("dim")),
    "aten::index_select": Row(
        lambda value, index, axis: ops.Gather(value, reshape(index, [-1]), axis) if rank_of(value) else value,
        "self", "index", axis=Attr("dim"),
    ),
    "aten::gather": Row(_gathered, "self", "index", axis=Attr("dim")),
    "aten::take": Row(lambda value, index: ops.Gather(reshape(value, [-1]), index, 0), "self", "index"),
    "aten::take_along_dim": Row(_taken_along, "self", "indices", axis=Attr("dim", None)),
    "aten::masked_select": Row(_masked, "self", "mask"),
    "aten::masked_scatter": Row(_masked_scattered, "self", "mask", "source"),
    "aten::nonzero": Row(_nonzero, "self"), "aten::argwhere": Row(_nonzero, "self"),
    "aten::flip": Row(_flipped, "self", axes=Attr("dims")), "aten::fliplr": Row(_flipped, "self", axes=[1]),
    "aten::flipud": Row(_flipped, "self", axes=[0]),
    "aten::one_hot": Row(_one_hot, "self", count=Attr("num_classes", -1)),
})  # fmt: skip

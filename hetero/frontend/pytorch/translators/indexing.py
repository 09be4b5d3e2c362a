"""Indexing by tensors, and scattering."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.movement import NO_END
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    int64,
    known_length,
    multiply_by,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Output, Parameter, as_output
from hetero.system.errors import FrontendError

_REDUCTIONS = {
    "sum": "sum",
    "prod": "prod",
    "mean": "mean",
    "amax": "max",
    "amin": "min",
    "add": "sum",
    "multiply": "prod",
}


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
            found = ops.NonZero(index).output(0)
            for row in range(rank_of(index)):
                by_axis.append((axis, ops.Gather(found, int64(row), int64(0)).output(0)))
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
    if rank_of(value) == 0:
        value, index = (ops.Reshape(one, int64([1]), False).output(0) for one in (value, index))
        updates = ops.Reshape(updates, int64([1]), False).output(0)
    if source == "value":
        updates = ops.Broadcast(updates, ops.ShapeOf(index)).output(0)
    else:  # there may be more updates than indices
        count = rank_of(value)
        updates = ops.Slice(updates, int64([0] * count), ops.ShapeOf(index), int64([1] * count)).output(0)
    name = "sum" if node.get_op_type() == "aten::scatter_add" else node.get_attribute("reduce", "none")
    found = _scattered(node, value, index, updates, axis, name)
    return ops.Reshape(found, int64([]), False) if rank_of(node.get_input("self")) == 0 else found


def _scattered(
    node: TorchNodeContext, value: Output, index: Output, updates: Output, axis: int, reduction: str
) -> Node:
    """Write updates at indices along an axis, combined by a reduction; integer means are rounded down."""
    keeps, name = node.get_attribute("include_self", True), _REDUCTIONS.get(reduction, reduction)
    if name != "mean" or value.element_type.is_real():
        return ops.ScatterElementsUpdate(value, index, updates, int64(axis), name, keeps)
    total = ops.ScatterElementsUpdate(value, index, updates, int64(axis), "sum", keeps)
    first = ops.Broadcast(scalar_like(value, int(keeps)), ops.ShapeOf(value))
    ones = ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(updates))
    counts = ops.ScatterElementsUpdate(first, index, ones, int64(axis), "sum")
    return ops.Divide(total, ops.Maximum(counts, scalar_like(value, 1)), m_pythondiv=True)


@translator("aten::index_copy", "aten::index_fill")
def index_copy(node: TorchNodeContext) -> Translation:
    """Write tensors, or a number, at indices along an axis."""
    value, axis = node.get_input("self"), node.get_attribute("dim")
    index = ops.Reshape(node.get_input("index"), int64([-1]), False)
    updates = node.converted("source" if "source" in node.arguments else "value", value.element_type)
    if rank_of(value) == 0:
        return ops.Reshape(updates, int64([]), False)
    axis = normalize_axis(axis, rank_of(value))
    lengths = [axis_length(value, range(axis)), ops.ShapeOf(index), axis_length(value, range(axis + 1, rank_of(value)))]
    return ops.ScatterUpdate(value, index, ops.Broadcast(updates, ops.Concat(lengths, 0)), int64(axis))


@translator("aten::index_add", "aten::index_reduce")
def index_add(node: TorchNodeContext) -> Translation:
    """Combine tensors with those at indices along an axis."""
    value, axis = node.get_input("self"), node.get_attribute("dim")
    updates = multiply_by(node.converted("source", value.element_type), node.get_attribute("alpha", 1))
    if rank_of(value) == 0:
        value, updates = (ops.Reshape(one, int64([1]), False).output(0) for one in (value, updates))
    axis = normalize_axis(axis, rank_of(value))
    column = ops.Reshape(node.get_input("index"), int64([-1, *[1] * (rank_of(value) - axis - 1)]), False)
    index = ops.Broadcast(column, ops.ShapeOf(updates))
    name = "sum" if node.get_op_type() == "aten::index_add" else node.get_attribute("reduce")
    combined = _scattered(node, value, index.output(0), updates, axis, name)
    return ops.Reshape(combined, ops.ShapeOf(node.get_input("self")), False)


@translator("aten::select_scatter")
def select_scatter(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    axis, at = node.get_attribute("dim"), node.get_attribute("index")
    source = ops.Unsqueeze(node.converted("src", value.element_type), int64([normalize_axis(axis, rank_of(value))]))
    return ops.SliceScatter(value, source, int64([at]), int64([at + 1 or NO_END]), int64([1]), int64([axis]))


@translator("aten::slice_scatter")
def slice_scatter(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    begin, end, step = node.integers("start", 0), node.integers("end", NO_END), node.integers("step", 1)
    source, axes = node.converted("src", value.element_type), node.integers("dim", 0)
    return ops.SliceScatter(value, source, begin, end, step, axes)


@translator("aten::nonzero", "aten::argwhere")
def non_zero(node: TorchNodeContext) -> Translation:
    """The indices of the elements that are not 0, [count, rank]."""
    value = node.get_input("self")
    if rank_of(value):
        return ops.Transpose(ops.NonZero(value), int64([1, 0]))
    count = ops.Convert(ops.Reshape(node.converted("self", Type.boolean), int64([1]), False), Type.i64)
    return ops.Broadcast(int64(0), ops.Concat([count, int64([0])], 0))


@translator("aten::flip")
def flip(node: TorchNodeContext) -> Translation:
    axes = node.get_attribute("dims")
    if not axes:
        return node.get_input("self")
    ends, steps = int64([-(2**63) + 1] * len(axes)), int64([-1] * len(axes))
    return ops.Slice(node.get_input("self"), int64([-1] * len(axes)), ends, steps, int64(axes))


@translator("aten::diagonal", "aten::diagonal_copy")
def diagonal(node: TorchNodeContext) -> Translation:
    value, offset = node.get_input("self"), node.get_attribute("offset", 0)
    rank = rank_of(value)
    axes = [normalize_axis(node.get_attribute(f"dim{at + 1}", at), rank) for at in range(2)]
    height, width = (known_length(value, axis, "the size of a matrix") for axis in axes)
    indices = [(row, row + offset) for row in range(height) if 0 <= row + offset < width]
    others = [axis for axis in range(rank) if axis not in axes]
    matrices = ops.Transpose(value, int64([*axes, *others]))
    found = ops.GatherND(matrices, int64(np.reshape(indices, (-1, 2))))
    return ops.Transpose(found, int64([*range(1, len(others) + 1), 0]))


# Operations that keep the order of elements in memory.
_SAME_ORDER = (ops.Reshape, ops.Squeeze, ops.Unsqueeze)


@translator("aten::as_strided")
def as_strided(node: TorchNodeContext) -> Translation:
    """Elements by their offsets in the memory of a tensor.

    Raises FrontendError unless the tensor is an input or a weight, in another shape: of others the order in memory is
    unknown.
    """
    value = node.get_input("self")
    source = value
    while isinstance(source.node, _SAME_ORDER):
        source = source.node.input_value(0)
    if not isinstance(source.node, (Constant, Parameter, ops.ReadValue)):
        raise FrontendError("the order in memory is unknown for a tensor that is neither an input nor a weight")
    sizes, strides = node.arguments["size"], node.get_attribute("stride")
    offsets: Node = int64(node.get_attribute("storage_offset", 0))
    for size, stride in zip(sizes, strides):
        steps = ops.Multiply(arange(size if isinstance(size, Output) else int64(size)), int64(stride))
        offsets = ops.Add(ops.Unsqueeze(offsets, int64([-1])), steps)
    return ops.Gather(ops.Reshape(value, int64([-1]), False), offsets, int64(0))


@translator("aten::masked_scatter")
def masked_scatter(node: TorchNodeContext) -> Translation:
    """Put the elements of the source, in order, where the mask is true."""
    source, shape = node.get_input("source"), ops.ShapeOf(node.get_input("mask"))
    value = ops.Broadcast(node.get_input("self"), shape, broadcast_spec="BIDIRECTIONAL")
    mask = ops.Broadcast(node.get_input("mask"), ops.ShapeOf(value))
    indices = ops.Transpose(ops.NonZero(mask), int64([1, 0]))
    count = axis_length(indices, [0])
    flat = ops.Slice(ops.Reshape(source, int64([-1]), False), int64([0]), count, int64([1]), int64([0]))
    return ops.ScatterNDUpdate(value, indices, flat)


@translator("aten::fill", "aten::copy")
def fill(node: TorchNodeContext) -> Translation:
    name = "value" if "value" in node.arguments else "src"
    value = node.get_input("self")
    return ops.Broadcast(node.converted(name, value.element_type), ops.ShapeOf(value))


@translator("aten::one_hot")
def one_hot(node: TorchNodeContext) -> Translation:
    count = node.get_attribute("num_classes", -1)
    if count < 0:
        raise FrontendError("the number of classes must be known")
    value = node.get_input("self")
    return ops.OneHot(value, int64(count), scalar_like(value, 1), scalar_like(value, 0), -1)

"""Axis rules: how each operation works on data whose axes are in another order.

An order of axes is what Transpose takes: axis k of the result is axis ``order[k]`` of the data.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.graph import Constant, Node, Op, Output
from hetero.ops.checks import exact_value, normalize_axis
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.elementwise.elementwise import Unary
from hetero.ops.reduction import Reduction

Order = tuple[int, ...]


@functools.cache
def identity(rank: int) -> Order:
    return tuple(range(rank))


@functools.lru_cache(4096)
def restrict(order: Order, axes: Order) -> Order:
    """Return the order of a tensor that has only these of the axes."""
    return tuple(axes.index(axis) for axis in order if axis in axes)


class AxisRule(NamedTuple):
    """The axes of an operation, and how to rewrite it for another order of them.

    ``inputs`` maps the index of each data input, and ``outputs`` each output, to which of the ``rank`` axes its
    dimensions are. If ``broadcasts`` is set, inputs that lack axes broadcast along them.
    ``rewrite(node, order)`` updates the attributes and inputs that name axes; the data inputs are reordered already.
    ``elementwise``: devices fuse the operation into the convolution before it.
    """

    rank: int
    inputs: Mapping[int, Order]
    outputs: tuple[Order, ...]
    rewrite: Callable[[Any, Order], None] = lambda node, order: None
    broadcasts: bool = False
    allows: Callable[[Order], bool] = lambda order: True
    elementwise: bool = False

    def lacks_axes(self, index: int) -> bool:
        """Return whether an input broadcasts along axes that it does not have."""
        return self.broadcasts and len(self.inputs[index]) < self.rank


def axis_rule(node: Node) -> AxisRule | None:
    """Return the rule of a node; None if it cannot work in another order or too little is known of its shapes."""
    rule = next((_RULES[cls](node) for cls in type(node).__mro__ if cls in _RULES), None)
    return rule if rule is not None and rule.rank > 1 else None


def rank_of(value: Output) -> int:
    """Return the rank of a value, 0 if it is unknown."""
    return len(value.partial_shape) if value.partial_shape.has_rank else 0


def _same_axes(node: Node, rewrite: Callable[[Any, Order], None], data: int = 1) -> AxisRule | None:
    """Return the rule of a node whose first ``data`` inputs and all outputs have the same axes."""
    rank = rank_of(node.input_value(0))
    if rank < 2 or any(rank_of(node.input_value(index)) != rank for index in range(data)):
        return None
    axes = identity(rank)
    return AxisRule(rank, dict.fromkeys(range(data), axes), (axes,) * node.get_output_size(), rewrite)


# Element-wise operations


@functools.cache
def _broadcast(ranks: tuple[int, ...]) -> AxisRule:
    rank = max(ranks)
    inputs = {index: tuple(range(rank - own, rank)) for index, own in enumerate(ranks)}
    return AxisRule(rank, inputs, (identity(rank),), broadcasts=True, elementwise=True)


def _unary(node: Node) -> AxisRule | None:
    parameters = [] if isinstance(node, (ops.ConvertLike, ops.Bucketize)) else node.input_values()[1:]
    if any(value.partial_shape.element_count() != 1 for value in parameters):
        return None
    return _broadcast((rank_of(node.input_value(0)),))


def _broadcasting(node: Node) -> AxisRule | None:
    shapes = [value.partial_shape for value in node.input_values()]
    return _broadcast(tuple(map(len, shapes))) if all(shape.has_rank for shape in shapes) else None


def _prelu(node: ops.PRelu) -> AxisRule | None:
    data, slope = (value.partial_shape for value in node.input_values())
    if not data.has_rank or not slope.has_rank or len(slope) > len(data) or len(data) < 2:
        return None
    rule = _broadcast((len(data), len(slope)))
    if len(slope) != 1 or slope[0] == 1 or not slope[0].compatible(data[1]):
        return rule
    if slope[0].is_dynamic or data[1].is_dynamic:
        return None  # the slopes may belong to axis 1 or to the last one
    # Along the last axis the slopes would stay a vector, which belongs to axis 1 if that is as long.
    return rule._replace(inputs={0: identity(len(data)), 1: (1,)}, allows=lambda order: order[-1] != 1)


# Operations that name axes in attributes


def _along_axis(node: Node, *names: str, data: int = 1) -> AxisRule | None:
    return _same_axes(node, functools.partial(_set_axis_attributes, names=names or ("axis",)), data)


def _set_axis_attributes(node: Node, order: Order, names: Sequence[str]) -> None:
    for name in names:
        setattr(node, name, order.index(normalize_axis(node, getattr(node, name), len(order))))


# Operations that name axes in an input


def _along_axes(node: Node, index: int = 1) -> AxisRule | None:
    axes = exact_value(node.input_value(index))
    return None if axes is None else _same_axes(node, functools.partial(_set_axes, axes=axes, index=index))


def _reduction(node: Reduction) -> AxisRule | None:
    rank, axes = rank_of(node.input_value(0)), exact_value(node.input_value(1))
    if rank < 2 or axes is None:
        return None
    kept = identity(rank) if node.keep_dims else _without(rank, node.axes(rank) or ())
    return AxisRule(rank, {0: identity(rank)}, (kept,), functools.partial(_set_axes, axes=axes))


def _gather(node: ops.Gather) -> AxisRule | None:
    """For a scalar index, which removes the axis, or a vector of indices."""
    rank, indices = rank_of(node.input_value(0)), node.get_input_partial_shape(1)
    axis = exact_value(node.input_value(2))
    if rank < 2 or axis is None or not indices.has_rank or len(indices) > 1 or node.batch_dims:
        return None
    gathered = normalize_axis(node, int(axis.reshape(-1)[0]), rank)
    kept = identity(rank) if len(indices) else _without(rank, [gathered])
    return AxisRule(rank, {0: identity(rank)}, (kept,), functools.partial(_set_axes, axes=axis, index=2))


def _without(rank: int, axes: Sequence[int]) -> Order:
    return tuple(axis for axis in range(rank) if axis not in axes)


def _set_axes(node: Op, order: Order, axes: np.ndarray, index: int = 1) -> None:
    moved = [order.index(normalize_axis(node, axis, len(order))) for axis in axes.reshape(-1).tolist()]
    set_constant(node, index, np.array(moved, axes.dtype).reshape(axes.shape), "axes")


def set_constant(node: Node, index: int, array: np.ndarray, what: str) -> None:
    """Replace an input by a Constant of the node's own."""
    constant = Constant(array, name=f"{node.friendly_name}/{what.strip('?')}")
    node.input(index).replace_source_output(constant.output(0))


# Operations with an input that has a number for each axis


def _with_vectors(node: Node, indices: tuple[int, ...]) -> AxisRule | None:
    rank = rank_of(node.input_value(0))
    if any(node.get_input_partial_shape(index) != [rank] for index in indices):
        return None
    return _same_axes(node, functools.partial(_permute_vectors, indices=indices))


def _permute_vectors(node: Op, order: Order, indices: tuple[int, ...]) -> None:
    for index in indices:
        _pick(node, index, order)


def _pick(node: Op, index: int, positions: Sequence[int | None], default: int = 0) -> None:
    """Replace a vector input by its elements at these positions, and by the default for None."""
    vector = node.input_value(index)
    known = exact_value(vector)
    if known is not None:
        numbers = [default if position is None else known[position] for position in positions]
        return set_constant(node, index, np.array(numbers, known.dtype), node.input_names[index])
    if None in positions:
        more = Constant(np.array([default], vector.element_type.to_dtype()))
        positions = [vector.shape[0] if position is None else position for position in positions]
        vector = ops.Concat([vector, more], 0).output(0)
    picked = ops.Gather(vector, np.array(positions, np.int64), np.int64(0))
    node.input(index).replace_source_output(picked.output(0))


def _space_and_batch(node: Op) -> AxisRule | None:
    blocks, rule = exact_value(node.input_value(1)), _with_vectors(node, (1, 2, 3))
    if blocks is None or rule is None:
        return None
    # The batch holds the blocks of the axes in their order.
    split = tuple(axis for axis, block in enumerate(blocks.tolist()) if block > 1)
    return rule._replace(allows=lambda order: order[0] == 0 and restrict(order, split) == identity(len(split)))


def _broadcast_to(node: ops.Broadcast) -> AxisRule | None:
    rank, own = rank_of(node.output(0)), rank_of(node.input_value(0))
    if not own or node.get_input_partial_shape(1) != [rank] or node.broadcast_spec == "explicit":
        return None
    rewrite = functools.partial(_permute_vectors, indices=(1,))
    return AxisRule(rank, {0: tuple(range(rank - own, rank))}, (identity(rank),), rewrite, broadcasts=True)


def _interpolate(node: ops.Interpolate) -> AxisRule | None:
    """For orders in which batch and channels come first, as devices are fastest at these."""
    axes = exact_value(node.input_value(node.input_index("axes"))) if node.has_input("axes") else None
    if axes is None or (rule := _same_axes(node, functools.partial(_set_image_axes, axes=axes))) is None:
        return None
    resized = {axis % rule.rank for axis in axes.reshape(-1).tolist()}
    return rule._replace(allows=lambda order: resized.isdisjoint(order[:2]))


def _set_image_axes(node: ops.Interpolate, order: Order, axes: np.ndarray) -> None:
    for name in ("pads_begin", "pads_end"):
        padded = [*getattr(node, name), *[0] * len(order)]
        setattr(node, name, [padded[axis] for axis in order])
    _set_axes(node, order, axes, node.input_index("axes"))


# Slices


def _strided_slice(node: ops.StridedSlice) -> AxisRule | None:
    rank, bounds = rank_of(node.input_value(0)), node.get_input_partial_shape(1)
    if rank < 2 or not bounds.is_static or len(bounds) != 1 or any(node.new_axis_mask):
        return None
    if any(node.get_input_partial_shape(index) != bounds for index in (2, 3)):
        return None
    # The position of each axis in the vectors of bounds, None for an axis that is taken whole.
    count = bounds.to_shape()[0]
    ellipsis = next((position for position in range(count) if _is_set(node.ellipsis_mask, position)), count)
    after = range(ellipsis + 1, count)
    positions = [*range(ellipsis), *[None] * (rank - ellipsis - len(after)), *after]
    kept = tuple(axis for axis, position in enumerate(positions) if not _is_set(node.shrink_axis_mask, position))
    return AxisRule(rank, {0: identity(rank)}, (kept,), functools.partial(_set_slices, positions=positions))


def _is_set(mask: Sequence[int], position: int | None) -> bool:
    return position is not None and position < len(mask) and mask[position] == 1


def _set_slices(node: ops.StridedSlice, order: Order, positions: Sequence[int | None]) -> None:
    moved = [positions[axis] for axis in order]
    for index, default in ((1, 0), (2, 0), (3, 1)):
        _pick(node, index, moved, default)
    node.begin_mask = [position is None or _is_set(node.begin_mask, position) for position in moved]
    node.end_mask = [position is None or _is_set(node.end_mask, position) for position in moved]
    node.shrink_axis_mask = [_is_set(node.shrink_axis_mask, position) for position in moved]
    node.ellipsis_mask = ()


# Operations that add or remove dimensions of length 1


def _squeeze(node: ops.Squeeze) -> AxisRule | None:
    data, rank = node.get_input_partial_shape(0), rank_of(node.input_value(0))
    if rank < 2:
        return None
    axes = exact_value(node.input_value(1)) if node.has_input("axes") else None
    if axes is not None:
        removed = [axis % rank for axis in axes.reshape(-1).tolist()]
    elif data.is_static and not node.has_input("axes"):
        removed = [axis for axis in range(rank) if data[axis] == 1]
    else:
        return None
    if not removed or any(data[axis] != 1 for axis in removed):
        return None
    rule = AxisRule(rank, {0: identity(rank)}, (_without(rank, removed),))
    return rule if axes is None else rule._replace(rewrite=functools.partial(_set_axes, axes=axes))


def _unsqueeze(node: ops.Unsqueeze) -> AxisRule | None:
    data_rank, axes = rank_of(node.input_value(0)), exact_value(node.input_value(1))
    if not data_rank or axes is None or not axes.size:
        return None
    rank, added = rank_of(node.output(0)), node.axes_of(axes, data_rank)
    rewrite = functools.partial(_set_added_axes, added=added)
    return AxisRule(rank, {0: _without(rank, added)}, (identity(rank),), rewrite)


def _set_added_axes(node: ops.Unsqueeze, order: Order, added: Sequence[int]) -> None:
    set_constant(node, 1, np.array(sorted(order.index(axis) for axis in added), np.int64), "axes")


def _reshape(node: ops.Reshape) -> AxisRule | None:
    """For a Reshape that only adds, or only removes, dimensions of length 1."""
    data, result = node.get_input_partial_shape(0), node.get_output_partial_shape(0)
    pairs = _matching_dimensions(data, result)
    if pairs is None:
        return None
    data_axes, result_axes = tuple(axis for axis, _ in pairs), tuple(axis for _, axis in pairs)
    if len(pairs) == len(result):
        inputs, outputs, rank = identity(len(data)), data_axes, len(data)
    elif len(pairs) == len(data):
        inputs, outputs, rank = result_axes, identity(len(result)), len(result)
    else:
        return None
    return AxisRule(rank, {0: inputs}, (outputs,), functools.partial(_set_shape, result=result, axes=outputs))


def _matching_dimensions(data: PartialShape, result: PartialShape) -> list[tuple[int, int]] | None:
    """Return pairs of equal dimensions of data and result; None if others than those of length 1 differ."""
    if not data.has_rank or not result.has_rank or any(length == 0 for length in (*data, *result)):
        return None
    pairs, axis, result_axis, unknown = [], 0, 0, 0
    while axis < len(data) or result_axis < len(result):
        length = data[axis] if axis < len(data) else None
        result_length = result[result_axis] if result_axis < len(result) else None
        if length is not None and result_length is not None and length.compatible(result_length):
            pairs.append((axis, result_axis))
            unknown += length.is_dynamic or result_length.is_dynamic
            axis, result_axis = axis + 1, result_axis + 1
        elif length is not None and length == 1:
            axis += 1
        elif result_length is not None and result_length == 1:
            result_axis += 1
        else:
            return None
    return pairs if unknown <= 1 else None  # one unknown pair is equal, as the element counts are


def _set_shape(node: ops.Reshape, order: Order, result: PartialShape, axes: Order) -> None:
    lengths = [-1 if length.is_dynamic else length.get_length() for length in result]  # at most one -1
    shape = [lengths[position] for position in restrict(order, axes)]
    set_constant(node, 1, np.array(shape, np.int64), "output_shape")
    node.special_zero = False


_ELEMENTWISE: tuple[type[Op], ...] = (
    Unary, ops.LogicalNot, ops.BitwiseNot, ops.IsFinite, ops.IsNaN, ops.IsInf, ops.Convert, ops.ConvertLike, ops.Cast,
    ops.BitCast, ops.Identity, ops.Bucketize,
)  # fmt: skip
_RULES: dict[type[Node], Callable[[Any], AxisRule | None]] = {
    **dict.fromkeys(_ELEMENTWISE, _unary),
    **dict.fromkeys((Broadcasting, ops.Select, ops.FakeQuantize), _broadcasting),
    ops.PRelu: _prelu,
    **dict.fromkeys((ops.Softmax, ops.LogSoftmax, ops.TopK, ops.ShuffleChannels), _along_axis),
    ops.Concat: lambda node: _along_axis(node, data=node.get_input_size()),
    ops.GatherElements: lambda node: _along_axis(node, data=2),
    ops.ReverseSequence: lambda node: _along_axis(node, "batch_axis", "seq_axis"),
    **dict.fromkeys((ops.Split, ops.VariadicSplit, ops.CumSum, ops.NormalizeL2, ops.MVN, ops.LRN), _along_axes),
    ops.Roll: lambda node: _along_axes(node, 2),
    ops.Reverse: lambda node: _with_vectors(node, (1,)) if node.mode == "mask" else _along_axes(node),
    Reduction: _reduction,
    ops.Gather: _gather,
    ops.Pad: lambda node: _with_vectors(node, (1, 2)),
    ops.Tile: lambda node: _with_vectors(node, (1,)),
    **dict.fromkeys((ops.SpaceToBatch, ops.BatchToSpace), _space_and_batch),
    ops.Broadcast: _broadcast_to,
    ops.Interpolate: _interpolate,
    ops.Slice: lambda node: _along_axes(node, 4) if node.has_input("axes") else _with_vectors(node, (1, 2, 3)),
    ops.StridedSlice: _strided_slice,
    ops.Squeeze: _squeeze,
    ops.Unsqueeze: _unsqueeze,
    ops.Reshape: _reshape,
}

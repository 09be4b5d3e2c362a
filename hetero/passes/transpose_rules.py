"""How operations work on data whose axes are in another order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Constant, Node, Output
from hetero.ops.arithmetic import Broadcasting
from hetero.ops.checks import normalize_axis
from hetero.ops.elementwise import Unary
from hetero.ops.reduction import Reduction
from hetero.ops.values import exact_value
from hetero.passes.axis_orders import Order, of_some_axes, unchanged


def nothing(node: Any, order: Order) -> None:
    """Nothing in the node names an axis."""


def _any_order(order: Order) -> bool:
    return True


class Movement(NamedTuple):
    """The axes of an operation, and what becomes of it when they are in another order.

    ``inputs`` has for each input that is data, ``outputs`` for each output, which of the ``rank`` axes its dimensions
    are. With ``broadcasts``, inputs that lack some axes have length 1 there. ``rewrite(node, order)`` changes what in
    the node names axes; its data has been changed by then. ``elementwise``: devices make it a part of a convolution.
    """

    rank: int
    inputs: Mapping[int, Order]
    outputs: tuple[Order, ...]
    rewrite: Callable[[Any, Order], None] = nothing
    broadcasts: bool = False
    allows: Callable[[Order], bool] = _any_order
    elementwise: bool = False

    def lacks_axes(self, index: int) -> bool:
        """Whether an input is broadcast along axes that it does not have."""
        return self.broadcasts and len(self.inputs[index]) < self.rank


Rule = Callable[[Any], Movement | None]
_RULES: dict[type[Node], Rule] = {}


def movement_of(node: Node) -> Movement | None:
    """How the node can work in another order of axes; None where it cannot, or where too little is known."""
    for cls in type(node).__mro__:
        rule = _RULES.get(cls)
        if rule is not None:
            return rule(node)
    return None


def moves(*classes: type[Node]) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(classes, rule))
        return rule

    return register


def rank_of(value: Output) -> int:
    """The rank of a value; 0 while it is not known."""
    return len(value.partial_shape) if value.partial_shape.has_rank else 0


@functools.cache
def _as_it_is(rank: int) -> Movement | None:
    return Movement(rank, {0: unchanged(rank)}, (unchanged(rank),), elementwise=True) if rank > 1 else None


def same_axes(node: Node, rewrite: Callable[[Any, Order], None], data: int = 1) -> Movement | None:
    """The axes of input 0 are those of the first ``data`` inputs and of all outputs."""
    rank = rank_of(node.input_value(0))
    if rank < 2 or any(rank_of(node.input_value(index)) != rank for index in range(data)):
        return None
    axes = unchanged(rank)
    return Movement(rank, dict.fromkeys(range(data), axes), (axes,) * node.get_output_size(), rewrite)


@moves(Unary, ops.LogicalNot, ops.BitwiseNot, ops.IsFinite, ops.IsNaN, ops.IsInf, ops.Convert, ops.ConvertLike,
        ops.Cast, ops.BitCast, ops.Identity)  # fmt: skip
def _unary(node: Node) -> Movement | None:
    if not isinstance(node, ops.ConvertLike) and not all(_is_one(value) for value in node.input_values()[1:]):
        return None
    return _as_it_is(rank_of(node.input_value(0)))


@moves(ops.Bucketize)
def _of_first_input(node: Node) -> Movement | None:
    return _as_it_is(rank_of(node.input_value(0)))


def _is_one(value: Output) -> bool:
    return value.partial_shape.element_count() == 1


@moves(Broadcasting, ops.Select, ops.FakeQuantize, ops.FakeConvert)
def _broadcasting(node: Node) -> Movement | None:
    shapes = [value.partial_shape for value in node.input_values()]
    if not all(shape.has_rank for shape in shapes):
        return None
    return _broadcast(tuple(map(len, shapes)))


@functools.cache
def _broadcast(ranks: tuple[int, ...]) -> Movement | None:
    rank = max(ranks)
    inputs = {index: tuple(range(rank - own, rank)) for index, own in enumerate(ranks)}
    return Movement(rank, inputs, (unchanged(rank),), broadcasts=True, elementwise=True) if rank > 1 else None


@moves(ops.PRelu)
def _prelu(node: ops.PRelu) -> Movement | None:
    data, slope = (value.partial_shape for value in node.input_values())
    if not data.has_rank or not slope.has_rank or len(slope) > len(data) or len(data) < 2:
        return None
    movement = _broadcast((len(data), len(slope)))
    if len(slope) != 1 or slope[0] == 1:
        return movement
    axis = len(data) - 1
    if slope[0].compatible(data[1]):
        if slope[0].is_dynamic or data[1].is_dynamic:
            return None  # it goes with axis 1 or with the last one
        axis = 1
    # Along the last axis it would stay a vector, which goes with axis 1 where that happens to be as long.
    return movement._replace(inputs={0: unchanged(len(data)), 1: (axis,)}, allows=lambda order: order[-1] != axis)


@moves(ops.Softmax, ops.SoftmaxV1, ops.LogSoftmax, ops.TopK, ops.TopKV3, ops.TopKV1, ops.ShuffleChannels)
def _along_axis(node: Node) -> Movement | None:
    return same_axes(node, _set_axis)


@moves(ops.Concat)
def _concat(node: ops.Concat) -> Movement | None:
    return same_axes(node, _set_axis, data=node.get_input_size())


@moves(ops.GatherElements)
def _gather_elements(node: ops.GatherElements) -> Movement | None:
    return same_axes(node, _set_axis, data=2)


def _set_axis(node: Any, order: Order) -> None:
    node.axis = order.index(normalize_axis(node, node.axis, len(order)))


@moves(ops.ReverseSequence)
def _reverse_sequence(node: ops.ReverseSequence) -> Movement | None:
    return same_axes(node, _set_batch_and_sequence)


def _set_batch_and_sequence(node: ops.ReverseSequence, order: Order) -> None:
    node.batch_axis = order.index(normalize_axis(node, node.batch_axis, len(order)))
    node.seq_axis = order.index(normalize_axis(node, node.seq_axis, len(order)))


@moves(ops.Split, ops.VariadicSplit, ops.CumSum, ops.CumProd, ops.NormalizeL2, ops.MVN, ops.LRN)
def _along_axes_of_input(node: Node) -> Movement | None:
    return same_axes(node, set_axes_of_input) if exact_value(node.input_value(1)) is not None else None


@moves(ops.Roll)
def _roll(node: ops.Roll) -> Movement | None:
    if exact_value(node.input_value(2)) is None:
        return None
    return same_axes(node, functools.partial(set_axes_of_input, index=2))


@moves(ops.Reverse)
def _reverse(node: ops.Reverse) -> Movement | None:
    if node.mode == "mask":
        return same_axes(node, functools.partial(permute_inputs, indices=(1,)))
    return _along_axes_of_input(node)


def set_axes_of_input(node: Node, order: Order, index: int = 1) -> None:
    """Let an input name the places where its axes are now."""
    axes = exact_value(node.input_value(index))
    places = [order.index(normalize_axis(node, axis, len(order))) for axis in axes.reshape(-1).tolist()]
    set_constant(node, index, np.array(places, axes.dtype).reshape(axes.shape), "axes")


@moves(ops.MVNV2)
def _mvn(node: ops.MVNV2) -> Movement | None:
    return same_axes(node, _set_reduction_axes)


def _set_reduction_axes(node: ops.MVNV2, order: Order) -> None:
    node.reduction_axes = [order.index(axis % len(order)) for axis in node.reduction_axes]


@moves(Reduction)
def _reduction(node: Reduction) -> Movement | None:
    rank = rank_of(node.input_value(0))
    reduced = node.axes(rank) if rank > 1 else None
    if reduced is None:
        return None
    kept = unchanged(rank) if node.keep_dims else without(rank, reduced)
    return Movement(rank, {0: unchanged(rank)}, (kept,), set_axes_of_input)


def without(rank: int, axes: Sequence[int]) -> Order:
    return tuple(axis for axis in range(rank) if axis not in axes)


@moves(ops.Gather, ops.GatherV7, ops.GatherV1)
def _gather(node: Any) -> Movement | None:
    rank, indices, axis = (
        rank_of(node.input_value(0)),
        node.get_input_partial_shape(1),
        exact_value(node.input_value(2)),
    )
    if rank < 2 or axis is None or not indices.has_rank or len(indices) > 1 or node.batch_dims:
        return None
    place = normalize_axis(node, int(axis.reshape(-1)[0]), rank)
    kept = unchanged(rank) if len(indices) else without(rank, [place])
    return Movement(rank, {0: unchanged(rank)}, (kept,), functools.partial(set_axes_of_input, index=2))


@moves(ops.Pad, ops.PadV1)
def _pad(node: Node) -> Movement | None:
    return with_vectors(node, (1, 2))


@moves(ops.Tile)
def _tile(node: ops.Tile) -> Movement | None:
    return with_vectors(node, (1,))


@moves(ops.SpaceToBatch, ops.BatchToSpace)
def _batch_move(node: Any) -> Movement | None:
    blocks, movement = exact_value(node.input_value(1)), with_vectors(node, (1, 2, 3))
    if blocks is None or movement is None:
        return None
    # The batch holds the blocks of each axis in turn.
    split = tuple(axis for axis, block in enumerate(blocks.tolist()) if block > 1)
    in_turn = unchanged(len(split))
    return movement._replace(allows=lambda order: order[0] == 0 and of_some_axes(order, split) == in_turn)


def with_vectors(node: Node, indices: tuple[int, ...]) -> Movement | None:
    """Inputs hold a number for each axis."""
    rank = rank_of(node.input_value(0))
    if any(node.get_input_partial_shape(index) != [rank] for index in indices):
        return None
    return same_axes(node, functools.partial(permute_inputs, indices=indices))


def permute_inputs(node: Node, order: Order, indices: tuple[int, ...]) -> None:
    for index in indices:
        pick(node, index, order)


def pick(node: Node, index: int, places: Sequence[int | None], default: int = 0) -> None:
    """Let a vector that the node reads have its numbers in another order, the default where the place is None."""
    vector = node.input_value(index)
    known = exact_value(vector)
    if known is not None:
        numbers = [default if place is None else known[place] for place in places]
        return set_constant(node, index, np.array(numbers, known.dtype), node.inputs_declared[index])
    if None in places:
        more = Constant(np.array([default], vector.element_type.to_dtype()))
        places = [vector.shape[0] if place is None else place for place in places]
        vector = ops.Concat([vector, more], 0).output(0)
    picked = ops.Gather(vector, np.array(places, np.int64), np.int64(0))
    node.input(index).replace_source_output(picked.output(0))


def set_constant(node: Node, index: int, array: np.ndarray, what: str) -> None:
    """Let a node read a Constant of its own."""
    constant = Constant(array, name=f"{node.friendly_name}/{what.strip('?')}")
    node.input(index).replace_source_output(constant.output(0))


@moves(ops.Broadcast, ops.BroadcastV1)
def _broadcast_to(node: Any) -> Movement | None:
    rank, own = rank_of(node.output(0)), rank_of(node.input_value(0))
    if rank < 2 or not own or node.get_input_partial_shape(1) != [rank] or node.broadcast_spec == "explicit":
        return None
    rewrite = functools.partial(permute_inputs, indices=(1,))
    return Movement(rank, {0: tuple(range(rank - own, rank))}, (unchanged(rank),), rewrite, broadcasts=True)

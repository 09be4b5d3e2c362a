"""Shapes, slices, joins, splits, repetitions and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.elementwise import reinterpret_last_axis
from hetero.frontend.numerics.movement import flatten_range, pad_wrap, stack
from hetero.frontend.pytorch.node_context import TorchNodeContext, integer_vector, rows, translator, with_integers
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator
from hetero.frontend.translation.values import (
    axis_length,
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError

# What torch writes for the end of a slice that has none.
NO_END = 2**63 - 1


def _unflattened(value: Output, sizes: Output, axis: int) -> Node:
    """Divide an axis into several, of which one may be -1."""
    rank = rank_of(value)
    axis = normalize_axis(axis, rank)
    parts = [axis_length(value, range(axis)), sizes, axis_length(value, range(axis + 1, rank))]
    return ops.Reshape(value, ops.Concat(parts, 0), False)


def _squeezed(value: Output, axes: int | list[int] | None) -> Output | Node:
    """Remove axes of length 1; axes of other lengths stay."""
    rank = rank_of(value)
    axes = list(range(rank)) if axes is None else [axes] if isinstance(axes, int) else axes
    axes = [normalize_axis(axis, rank) for axis in axes] if rank else []
    if any(value.partial_shape[axis].is_dynamic for axis in axes):
        raise FrontendError("which axes have length 1 must be known")
    axes = [axis for axis in axes if value.partial_shape[axis].get_length() == 1]
    return ops.Squeeze(value, axes) if axes else value


def _permuted(value: Output, axes: Sequence[int]) -> Node:
    rank = rank_of(value)
    return ops.Transpose(value, int64([normalize_axis(axis, rank) for axis in axes]))


def _swapped(value: Output, first: int, second: int) -> Output | Node:
    """Swap two axes; matrices are at least that, vectors and scalars stay."""
    rank = rank_of(value)
    if rank < 2:
        return value
    order = list(range(rank))
    order[first], order[second] = order[second], order[first]
    return ops.Transpose(value, order)


def _moved(value: Output, source: int | list[int], destination: int | list[int]) -> Node:
    rank = rank_of(value)
    from_axes, to_axes = (
        [normalize_axis(axis, rank) for axis in ([axes] if isinstance(axes, int) else axes)]
        for axes in (source, destination)
    )
    order = [axis for axis in range(rank) if axis not in from_axes]
    for to, axis in sorted(zip(to_axes, from_axes)):
        order.insert(to, axis)
    return ops.Transpose(value, int64(order))


def _rolled(value: Output, shifts: int | list[int], axes: list[int]) -> Node:
    if axes:
        return ops.Roll(value, shifts, axes)
    return ops.Reshape(ops.Roll(reshape(value, [-1]), shifts, [0]), ops.ShapeOf(value), False)


def _of_rank(value: Output, rank: int) -> Output:
    """Return a value of at least this rank, with new axes as torch.atleast_1d and the others place them."""
    axes = {(0, 1): [0], (0, 2): [0, 1], (1, 2): [0], (0, 3): [0, 1, 2], (1, 3): [0, 2], (2, 3): [2]}
    added = axes.get((rank_of(value), rank))
    return ops.Unsqueeze(value, added).output(0) if added else value


def _broadcast_together(*tensors: Output) -> list[Node]:
    shape = ops.ShapeOf(tensors[0])
    for tensor in tensors[1:]:
        shape = ops.ShapeOf(ops.Broadcast(tensor, shape, broadcast_spec="BIDIRECTIONAL"))
    return [ops.Broadcast(tensor, shape) for tensor in tensors]


@translator("aten::view.dtype", "aten::view_copy.dtype")
def view_as_type(node: TorchNodeContext) -> Output:
    return reinterpret_last_axis(node.get_input("self"), node.get_attribute("dtype"))


_SWAPPED_AXES: dict[str, Any] = {"first": Attr("dim0", 0), "second": Attr("dim1", 1)}

rows({
    **{f"aten::{name}": Row(ops.Reshape, "self", "size", special_zero=False) for name in (
        "view", "_unsafe_view", "view_copy",
    )},
    "aten::reshape": Row(ops.Reshape, "self", "shape", special_zero=False),
    "aten::unflatten": Row(_unflattened, "self", "sizes", axis=Attr("dim")),
    "aten::repeat": Row(ops.Tile, "self", "repeats"), "aten::tile": Row(ops.Tile, "self", "dims"),
    "aten::narrow": Row(
        lambda value, start, length, axis: ops.Slice(value, start, ops.Add(start, length), [1], [axis]),
        "self", "start", "length", axis=Attr("dim"),
    ),
}, with_integers)  # fmt: skip
rows({
    "aten::view_as": Row(lambda value, other: ops.Reshape(value, ops.ShapeOf(other), False), "self", "other"),
    "aten::reshape_as": Row(lambda value, other: ops.Reshape(value, ops.ShapeOf(other), False), "self", "other"),
    "aten::expand_as": Row(lambda value, other: ops.Broadcast(value, ops.ShapeOf(other)), "self", "other"),
    "aten::ravel": Row(reshape, "self", shape=[-1]), "aten::item": Row(reshape, "self", shape=[]),
    "aten::_local_scalar_dense": Row(reshape, "self", shape=[]),
    "aten::flatten": Row(flatten_range, "self", first=Attr("start_dim", 0), last=Attr("end_dim", -1)),
    "aten::unsqueeze": Row(ops.Unsqueeze, "self", axes=Attr("dim")),
    "aten::unsqueeze_copy": Row(ops.Unsqueeze, "self", axes=Attr("dim")),
    "aten::squeeze": Row(_squeezed, "self", axes=Attr("dim", None)),
    "aten::squeeze_copy": Row(_squeezed, "self", axes=Attr("dim", None)),
    "aten::permute": Row(_permuted, "self", axes=Attr("dims")),
    "aten::permute_copy": Row(_permuted, "self", axes=Attr("dims")),
    **{f"aten::{name}": Row(_swapped, "self", **_SWAPPED_AXES) for name in (
        "transpose", "transpose_copy", "t", "t_copy", "swapdims",
    )},
    "aten::swapaxes": Row(_swapped, "self", first=Attr("axis0"), second=Attr("axis1")),
    **{f"aten::{name}": Row(_swapped, "self", first=-2, second=-1) for name in ("mT", "matrix_H", "adjoint")},
    "aten::numpy_T": Row(lambda value: _permuted(value, range(rank_of(value))[::-1]), "self"),
    "aten::movedim": Row(_moved, "self", source=Attr("source"), destination=Attr("destination")),
    "aten::moveaxis": Row(_moved, "self", source=Attr("source"), destination=Attr("destination")),
    "aten::roll": Row(_rolled, "self", shifts=Attr("shifts"), axes=Attr("dims", [])),
    "aten::sym_size": Row(axis_length, "self", axis=Attr("dim")),
    "aten::sym_numel": Row(lambda value: ops.ReduceProd(ops.ShapeOf(value), [0], False), "self"),
    "aten::numel": Row(lambda value: ops.ReduceProd(ops.ShapeOf(value), [0], False), "self"),
    "aten::broadcast_tensors": Row(_broadcast_together),
    **{
        f"aten::atleast_{rank}d": Row(lambda *values, rank: [_of_rank(value, rank) for value in values], rank=rank)
        for rank in (1, 2, 3)
    },
})  # fmt: skip


def _joined(row: Row) -> Translator:
    """Return the translator of a row whose inputs are ``tensors``, in the element type of the result."""
    return lambda node: row.make(node, [convert_to(part, node.output_type()) for part in node.get_inputs("tensors")])


def _concatenated(*parts: Output, axis: int) -> Node:
    # A vector without elements is left out, whatever the rank of the others.
    kept = [part for part in parts if part.partial_shape.is_dynamic or part.shape != (0,)]
    return ops.Concat(kept or parts[:1], axis)


rows({
    **{f"aten::{name}": Row(_concatenated, axis=Attr("dim", 0)) for name in ("cat", "concat", "concatenate")},
    "aten::stack": Row(
        lambda *parts, axis: stack(parts, axis), axis=Attr("dim", 0)
    ),
    "aten::hstack": Row(
        lambda *parts: ops.Concat([_of_rank(part, 1) for part in parts], int(rank_of(parts[0]) > 1))
    ),
    "aten::vstack": Row(lambda *parts: ops.Concat([_of_rank(part, 2) for part in parts], 0)),
    "aten::dstack": Row(lambda *parts: ops.Concat([_of_rank(part, 3) for part in parts], 2)),
    "aten::column_stack": Row(
        lambda *parts: ops.Concat([reshape(part, [-1, 1]) if rank_of(part) < 2 else part for part in parts], 1)
    ),
}, _joined)  # fmt: skip


@translator("aten::slice", "aten::slice_copy")
def slice_axis(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    axis = normalize_axis(node.get_attribute("dim", 0), rank_of(value))
    begin, end, step = node.integers("start", 0), node.integers("end", NO_END), node.integers("step", 1)
    return ops.Slice(value, begin, end, step, [axis])


@translator("aten::expand", "aten::expand_copy", "aten::broadcast_to")
def expand(node: TorchNodeContext) -> Translation:
    """Broadcast to a shape in which -1 keeps the length."""
    lengths = node.arguments["size" if "size" in node.arguments else "shape"]
    ones = [1 if isinstance(length, int) and length == -1 else length for length in lengths]
    return ops.Broadcast(node.get_input("self"), integer_vector(ones), broadcast_spec="BIDIRECTIONAL")


_SPLIT_AXES = {"aten::vsplit": 0, "aten::hsplit": 1, "aten::dsplit": 2}


@translator("aten::split", "aten::split_with_sizes", "aten::split_copy", "aten::split_with_sizes_copy", "aten::chunk",
            "aten::unsafe_split", "aten::unsafe_chunk", *_SPLIT_AXES)  # fmt: skip
def split(node: TorchNodeContext) -> Translation:
    value, count = node.get_input("self"), node.get_output_size()
    # The columns of a vector are its elements.
    axis = min(_SPLIT_AXES.get(node.get_op_type(), node.get_attribute("dim", 0)), rank_of(value) - 1)
    lengths = [node.output_tensor(index).partial_shape[axis] for index in range(count)]
    if sum(length.is_dynamic for length in lengths) <= 1:
        return ops.VariadicSplit(value, axis, [-1 if length.is_dynamic else length.get_length() for length in lengths])
    if "split_sizes" in node.arguments:
        return ops.VariadicSplit(value, axis, node.integers("split_sizes"))
    if "chunks" not in node.arguments:
        raise FrontendError("all lengths but one must be known")
    # All chunks but the last have the length of the axis divided by their number, rounded up.
    chunks = node.get_attribute("chunks")
    length = ops.Divide(ops.Add(axis_length(value, [axis]), chunks - 1), chunks)
    return ops.VariadicSplit(value, axis, ops.Concat([*[length] * (count - 1), [-1]], 0))


@translator("aten::unbind", "aten::unbind_copy")
def unbind(node: TorchNodeContext) -> Translation:
    value, axis = node.get_input("self"), node.get_attribute("dim", 0)
    return [ops.Gather(value, index, axis) for index in range(node.get_output_size())]


@translator("aten::constant_pad_nd", "aten::pad")
def pad(node: TorchNodeContext) -> Translation:
    """Pad, with pairs of lengths for the axes from the last one on; negative ones cut off."""
    value = node.get_input("self")
    begin, end = pad_lengths(node.get_attribute("pad"), rank_of(value))
    mode, fill = node.get_attribute("mode", "constant"), scalar_like(value, node.get_attribute("value", 0))
    if mode == "circular":
        cut = ops.Pad(value, int64(np.minimum(begin, 0)), int64(np.minimum(end, 0)), "constant", fill).output(0)
        return pad_wrap(cut, *(int64(np.maximum(pads, 0)).output(0) for pads in (begin, end)))
    mode = "edge" if mode == "replicate" else mode
    return ops.Pad(value, int64(begin), int64(end), mode, fill if mode == "constant" else None)


def pad_lengths(pairs: Sequence[int], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths before and after each axis from pairs of both, for the axes from the last one on."""
    begin, end = np.zeros(rank, np.int64), np.zeros(rank, np.int64)
    for index in range(len(pairs) // 2):
        begin[rank - 1 - index], end[rank - 1 - index] = pairs[2 * index], pairs[2 * index + 1]
    return begin, end


@translator("aten::diff")
def difference(node: TorchNodeContext) -> Translation:
    """The differences of neighbors, n times, with values before and after."""
    value, axis = node.get_input("self"), node.get_attribute("dim", -1)
    ends = [node.get_optional_input(name) for name in ("prepend", "append")]
    if any(end is not None for end in ends):
        value = ops.Concat([part for part in (ends[0], value, ends[1]) if part is not None], axis).output(0)
    operation = ops.NotEqual if value.element_type is Type.boolean else ops.Subtract
    for _ in range(node.get_attribute("n", 1)):
        after = ops.Slice(value, [1], [NO_END], [1], [axis])
        before = ops.Slice(value, [0], [-1], [1], [axis])
        value = operation(after, before).output(0)
    return value


@translator("aten::meshgrid")
def mesh_grid(node: TorchNodeContext) -> Translation:
    """Each vector along its own axis of a grid; the first two axes are swapped for images."""
    vectors = [reshape(vector, [-1]) for vector in node.get_inputs("tensors")]
    count = len(vectors)
    axes = list(range(count))
    if node.get_attribute("indexing", "ij") == "xy" and count > 1:
        axes[:2] = [1, 0]
    shape = ops.Concat([ops.ShapeOf(vectors[axes.index(axis)]) for axis in range(count)], 0)
    columns = [reshape(vector, [-1 if at == axis else 1 for at in range(count)]) for axis, vector in zip(axes, vectors)]
    return [ops.Broadcast(column, shape) for column in columns]

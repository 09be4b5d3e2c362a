"""Shapes, slices, joins and permutations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import pad_wrap
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.pytorch.node_context import TorchNodeContext, integer_vector
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, normalize_axis, rank_of, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError

# What torch writes for the end of a slice that has none.
NO_END = 2**63 - 1


@translator("aten::view", "aten::reshape", "aten::_unsafe_view", "aten::view_copy")
def view(node: TorchNodeContext) -> Translation:
    name = "size" if "size" in node.arguments else "shape"
    return ops.Reshape(node.get_input("self"), node.integers(name), False)


@translator("aten::flatten")
def flatten(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    rank = rank_of(value)
    if not rank:
        return ops.Reshape(value, int64([1]), False)
    first = normalize_axis(node.get_attribute("start_dim", 0), rank)
    last = normalize_axis(node.get_attribute("end_dim", -1), rank)
    kept = [*range(first), *range(last + 1, rank)]
    if sum(value.partial_shape[axis].is_dynamic for axis in kept) == 0:
        lengths = [value.partial_shape[axis].get_length() for axis in kept]
        joined = value.partial_shape[first : last + 1]
        # -1 is ambiguous if another length is 0.
        count = math.prod(length.get_length() for length in joined) if all(one.is_static for one in joined) else -1
        return ops.Reshape(value, int64([*lengths[:first], count, *lengths[first:]]), False)
    shape = ops.Concat([axis_length(value, range(first)), int64([-1]), axis_length(value, range(last + 1, rank))], 0)
    return ops.Reshape(value, shape, False)


@translator("aten::permute", "aten::permute_copy")
def permute(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    rank = rank_of(value)
    return ops.Transpose(value, int64([normalize_axis(axis, rank) for axis in node.get_attribute("dims")]))


@translator("aten::transpose", "aten::t", "aten::transpose_copy", "aten::t_copy")
def transpose(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    rank = rank_of(value)
    if rank < 2:
        return value
    order = list(range(rank))
    first, second = (normalize_axis(node.get_attribute(name, at), rank) for at, name in enumerate(("dim0", "dim1")))
    order[first], order[second] = second, first
    return ops.Transpose(value, int64(order))


@translator("aten::numpy_T", "aten::mT", "aten::matrix_H", "aten::adjoint")
def reversed_axes(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    order = list(range(rank_of(value)))
    order = order[::-1] if node.get_op_type() == "aten::numpy_T" else [*order[:-2], order[-1], order[-2]]
    return ops.Transpose(value, int64(order))


@translator("aten::unsqueeze", "aten::unsqueeze_copy")
def unsqueeze(node: TorchNodeContext) -> Translation:
    return ops.Unsqueeze(node.get_input("self"), int64([node.get_attribute("dim")]))


@translator("aten::squeeze", "aten::squeeze_copy")
def squeeze(node: TorchNodeContext) -> Translation:
    """Remove axes of length 1; axes of other lengths stay."""
    value = node.get_input("self")
    rank = rank_of(value)
    given = node.get_attribute("dim", list(range(rank)))
    axes = [normalize_axis(axis, max(rank, 1)) for axis in ([given] if isinstance(given, int) else given)]
    if any(value.partial_shape[axis].is_dynamic for axis in axes if rank):
        raise FrontendError("which axes have length 1 must be known")
    axes = [axis for axis in axes if rank and value.partial_shape[axis].get_length() == 1]
    return ops.Squeeze(value, int64(axes)) if axes else value


@translator("aten::cat", "aten::concat", "aten::concatenate")
def cat(node: TorchNodeContext) -> Translation:
    parts = promoted_tensors(node)
    # A vector without elements is left out, whatever the rank of the others.
    parts = [part for part in parts if part.partial_shape.is_dynamic or part.shape != (0,)] or parts[:1]
    return ops.Concat(parts, node.get_attribute("dim", 0))


def promoted_tensors(node: TorchNodeContext) -> list[Output]:
    """Return the tensors that an operator joins, in the element type of its result."""
    return [convert_to(part, node.output_type()) for part in node.tensors("tensors")]


@translator("aten::stack")
def stack(node: TorchNodeContext) -> Translation:
    axis = node.get_attribute("dim", 0)
    return ops.Concat([ops.Unsqueeze(part, int64([axis])) for part in promoted_tensors(node)], axis)


@translator("aten::slice", "aten::slice_copy")
def slice_axis(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    axis = normalize_axis(node.get_attribute("dim", 0), rank_of(value))
    begin, end, step = node.integers("start", 0), node.integers("end", NO_END), node.integers("step", 1)
    return ops.Slice(value, begin, end, step, int64([axis]))


@translator("aten::select", "aten::select_copy")
def select(node: TorchNodeContext) -> Translation:
    value = node.get_input("self")
    index = node.arguments["index"]
    return ops.Gather(value, index if isinstance(index, Output) else int64(index), int64(node.get_attribute("dim")))


@translator("aten::expand", "aten::expand_copy", "aten::broadcast_to")
def expand(node: TorchNodeContext) -> Translation:
    """Broadcast to a shape in which -1 keeps the length."""
    lengths = node.arguments["size" if "size" in node.arguments else "shape"]
    ones = [1 if isinstance(length, int) and length == -1 else length for length in lengths]
    return ops.Broadcast(node.get_input("self"), integer_vector(ones), broadcast_spec="BIDIRECTIONAL")


@translator("aten::repeat")
def repeat(node: TorchNodeContext) -> Translation:
    return ops.Tile(node.get_input("self"), node.integers("repeats"))


@translator("aten::split", "aten::split_with_sizes", "aten::split_copy", "aten::split_with_sizes_copy", "aten::chunk",
            "aten::unsafe_split", "aten::unsafe_chunk", "aten::unbind", "aten::unbind_copy")  # fmt: skip
def split(node: TorchNodeContext) -> Translation:
    value, axis = node.get_input("self"), node.get_attribute("dim", 0)
    if node.get_op_type().startswith("aten::unbind"):
        count = node.get_output_size()
        return [ops.Gather(value, int64(index), int64(axis)).output(0) for index in range(count)]
    lengths = [node.output_tensor(index).partial_shape[axis] for index in range(node.get_output_size())]
    if sum(length.is_dynamic for length in lengths) <= 1:
        known = [-1 if length.is_dynamic else length.get_length() for length in lengths]
        return ops.VariadicSplit(value, int64(axis), int64(known))
    if "split_sizes" in node.arguments:
        return ops.VariadicSplit(value, int64(axis), node.integers("split_sizes"))
    if "chunks" not in node.arguments:
        raise FrontendError("all lengths but one must be known")
    # All chunks but the last have the length of the axis divided by their number, rounded up.
    chunks = node.get_attribute("chunks")
    length = ops.Divide(ops.Add(axis_length(value, [axis]), int64(chunks - 1)), int64(chunks))
    return ops.VariadicSplit(value, int64(axis), ops.Concat([*[length] * (len(lengths) - 1), int64([-1])], 0))


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


@translator("aten::sym_size")
def length(node: TorchNodeContext) -> Translation:
    return axis_length(node.get_input("self"), node.get_attribute("dim"))


@translator("aten::embedding")
def embedding(node: TorchNodeContext) -> Translation:
    return ops.Gather(node.get_input("weight"), node.get_input("indices"), int64(0))


@translator("aten::index_select")
def index_select(node: TorchNodeContext) -> Translation:
    value, indices = node.get_input("self"), ops.Reshape(node.get_input("index"), int64([-1]), False)
    if rank_of(value) == 0:
        return value
    return ops.Gather(value, indices, int64(node.get_attribute("dim")))


@translator("aten::gather")
def gather(node: TorchNodeContext) -> Translation:
    value, indices = node.get_input("self"), node.get_input("index")
    if rank_of(value) == 0:
        return ops.Broadcast(value, ops.ShapeOf(indices))
    if rank_of(indices) == 0:
        indices = ops.Reshape(indices, int64([1]), False).output(0)
        return ops.Reshape(ops.GatherElements(value, indices, node.get_attribute("dim")), int64([]), False)
    axis = normalize_axis(node.get_attribute("dim"), rank_of(value))
    # The other axes of the data may be longer than those of the indices.
    others = [at for at in range(rank_of(value)) if at != axis and not _is_same_length(value, indices, at)]
    if others:
        zeros, ones = int64([0] * len(others)), int64([1] * len(others))
        value = ops.Slice(value, zeros, axis_length(indices, others), ones, int64(others)).output(0)
    return ops.GatherElements(value, indices, axis)


def _is_same_length(left: Output, right: Output, axis: int) -> bool:
    """Return whether two values are known to have the same length of an axis."""
    lengths = left.partial_shape[axis], right.partial_shape[axis]
    return all(length.is_static for length in lengths) and lengths[0] == lengths[1]


@translator("aten::unflatten")
def unflatten(node: TorchNodeContext) -> Translation:
    """Divide an axis into several, of which one may be -1."""
    value, sizes = node.get_input("self"), node.integers("sizes")
    rank = rank_of(value)
    axis = normalize_axis(node.get_attribute("dim"), rank)
    parts = [axis_length(value, range(axis)), sizes, axis_length(value, range(axis + 1, rank))]
    return ops.Reshape(value, ops.Concat(parts, 0), False)


@translator("aten::item", "aten::_local_scalar_dense")
def item(node: TorchNodeContext) -> Translation:
    return ops.Reshape(node.get_input("self"), int64([]), False)


@translator("aten::sym_numel", "aten::numel")
def element_count(node: TorchNodeContext) -> Translation:
    return ops.ReduceProd(ops.ShapeOf(node.get_input("self")), int64([0]), False)


@translator("aten::expand_as", "aten::view_as", "aten::reshape_as")
def like(node: TorchNodeContext) -> Translation:
    value, shape = node.get_input("self"), ops.ShapeOf(node.get_input("other"))
    return ops.Broadcast(value, shape) if "expand" in node.get_op_type() else ops.Reshape(value, shape, False)


@translator("aten::diff")
def difference(node: TorchNodeContext) -> Translation:
    """The differences of neighbors, n times, with values before and after."""
    value, axis = node.get_input("self"), node.get_attribute("dim", -1)
    ends = [node.get_optional_input(name) for name in ("prepend", "append")]
    if any(end is not None for end in ends):
        value = ops.Concat([part for part in (ends[0], value, ends[1]) if part is not None], axis).output(0)
    operation = ops.NotEqual if value.element_type is Type.boolean else ops.Subtract
    for _ in range(node.get_attribute("n", 1)):
        after = ops.Slice(value, int64([1]), int64([NO_END]), int64([1]), int64([axis]))
        before = ops.Slice(value, int64([0]), int64([-1]), int64([1]), int64([axis]))
        value = operation(after, before).output(0)
    return value

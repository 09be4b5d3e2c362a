"""StableHLO's elements in other places and shapes, and TensorFlow Lite's own DILATE, which is of the same kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import moving
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.scattering import slice_places, starts_within, with_slice
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_input, int64, rank_of, reshape, transpose
from hetero.graph import Output
from hetero.ops.values import exact_value
from hetero.types import Type


@translator("STABLEHLO_RESHAPE")
@moving
def stablehlo_reshape(node: TfliteNodeContext) -> Translation:
    return _shaped(node.get_input(0), _declared_shape(node))


def _shaped(value: Output, shape: Sequence[int]) -> Output:
    """The value in a shape, in which -1 is what is not known and 0 no more than a length."""
    if shape.count(-1) > 1:
        raise FrontendError(f"its shape {shape} has more than one dimension that is not known")
    return ops.Reshape(value, int64(shape), False).output(0) if 0 in shape else reshape(value, shape)


def _declared_shape(node: TfliteNodeContext) -> list[int]:
    """The shape of the output in the model, -1 for a dimension that may change."""
    return [length.get_length() if length.is_static else -1 for length in node.output_tensor(0).partial_shape]


@translator("STABLEHLO_TRANSPOSE")
@moving
def stablehlo_transpose(node: TfliteNodeContext) -> Translation:
    return transpose(node.get_input(0), node.get_attribute("permutation"))


@translator("STABLEHLO_BROADCAST_IN_DIM")
@moving
def broadcast_in_dim(node: TfliteNodeContext) -> Translation:
    """``broadcast_dimensions``: where each dimension of the operand goes, in any order."""
    value, axes, shape = node.get_input(0), node.get_attribute("broadcast_dimensions"), _declared_shape(node)
    if len(axes) != rank_of(value) or len(set(axes)) != len(axes) or any(not 0 <= a < len(shape) for a in axes):
        raise FrontendError(f"dimensions {list(axes)} are not places of {value.partial_shape} in {shape}")
    if list(axes) != sorted(axes):
        value = transpose(value, np.argsort(axes).tolist())
    missing = [axis for axis in range(len(shape)) if axis not in axes]
    if missing:
        value = ops.Unsqueeze(value, int64(missing)).output(0)
    # Dimensions that may change are the operand's.
    return ops.Broadcast(
        value, int64([1 if length < 0 else length for length in shape]), broadcast_spec="bidirectional"
    )


@translator("STABLEHLO_CONCATENATE")
@moving
def stablehlo_concatenate(node: TfliteNodeContext) -> Translation:
    return ops.Concat(node.get_inputs(), node.get_attribute("dimension"))


@translator("STABLEHLO_SLICE")
@moving
def stablehlo_slice(node: TfliteNodeContext) -> Translation:
    value, names = node.get_input(0), ("start_indices", "limit_indices", "strides")
    if not rank_of(value):
        return value
    return ops.Slice(value, *(int64(node.get_attribute(name)) for name in names), int64(range(rank_of(value))))


@translator("STABLEHLO_DYNAMIC_SLICE")
@moving
def dynamic_slice(node: TfliteNodeContext) -> Translation:
    """Of each axis the start, an input, is moved to where the slice is within."""
    value, sizes = node.get_input(0), node.get_attribute("slice_sizes")
    if not rank_of(value):
        return value
    starts = starts_within(value, _starts(node, 1, value), int64(sizes).output(0))
    known = exact_value(starts)
    if known is not None:
        return ops.Slice(value, int64(known), int64(known + sizes), int64([1] * len(sizes)), int64(range(len(sizes))))
    for axis, (size, length) in enumerate(zip(sizes, value.partial_shape)):
        # What is taken whole begins at 0.
        if length != size:
            value = ops.Gather(value, slice_places(starts, axis, size), int64(axis)).output(0)
    return value


@translator("STABLEHLO_DYNAMIC_UPDATE_SLICE")
@moving
def stablehlo_dynamic_update_slice(node: TfliteNodeContext) -> Translation:
    value, update = node.get_input(0), node.get_input(1)
    return with_slice(value, update, _starts(node, 2, value)) if rank_of(value) else update


def _starts(node: TfliteNodeContext, first: int, value: Output) -> Output:
    """The start of a slice on each axis, from the inputs from the first one on, i64[rank]."""
    rank = rank_of(value)
    if node.get_input_size() != first + rank:
        raise FrontendError(f"it has {node.get_input_size() - first} starts for {rank} dimensions")
    given = [reshape(converted(node.get_input(first + axis), Type.i64), (1,)) for axis in range(rank)]
    return ops.Concat(given, 0).output(0)


@translator("STABLEHLO_PAD")
@moving
def stablehlo_pad(node: TfliteNodeContext) -> Translation:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return padded(node.get_input(0), node.get_input(1), *(node.get_attribute(name) for name in names))


@translator("DILATE")
@moving
def dilate(node: TfliteNodeContext) -> Translation:
    factors = constant_input(node, 1, "dilations").reshape(-1)
    edges = [0] * factors.size
    return padded(node.get_input(0), node.get_input(2), edges, edges, (factors - 1).tolist())


def padded(value: Output, filler: Output, low: Sequence[int], high: Sequence[int], between: Sequence[int]) -> Output:
    """The value with a scalar added on each axis in front, behind and between elements.

    What is negative in front or behind is cut off. Raises FrontendError.
    """
    rank = rank_of(value)
    if not rank == len(low) == len(high) == len(between):
        raise FrontendError(f"{list(low)}, {list(high)} and {list(between)} must be of {rank} dimensions each")
    if any(count < 0 for count in between):
        raise FrontendError(f"there cannot be {min(between)} elements between others")
    # Between no elements nothing is added.
    between = [0 if length == 0 else count for length, count in zip(value.partial_shape, between)]
    if any(between):
        value = _spread(value, filler, between)
        high = [count - added for count, added in zip(high, between)]
    if not any(low) and not any(high):
        return value
    return ops.Pad(value, int64(low), int64(high), "constant", filler).output(0)


def _spread(value: Output, filler: Output, between: Sequence[int]) -> Output:
    """Each element with so many fillers behind it: on an axis of its own, which is then made one with that before."""
    axes = [axis for axis, count in enumerate(between) if count]
    behind = [added for count in between for added in ((0, count) if count else (0,))]
    apart = ops.Unsqueeze(value, int64([axis + 1 + place for place, axis in enumerate(axes)]))
    apart = ops.Pad(apart, int64([0] * len(behind)), int64(behind), "constant", filler).output(0)
    shape = value.partial_shape
    if shape.is_static:
        return _shaped(apart, [length * (count + 1) for length, count in zip(shape.to_shape(), between)])
    lengths = ops.Multiply(ops.ShapeOf(value), int64([count + 1 for count in between]))
    return ops.Reshape(apart, lengths, False).output(0)


@translator("STABLEHLO_IOTA")
def iota(node: TfliteNodeContext) -> Translation:
    """Each element is its place on an axis."""
    axis, shape, kind = node.get_attribute("iota_dimension"), _declared_shape(node), node.output_tensor(0).element_type
    if not 0 <= axis < len(shape) or -1 in shape:
        raise FrontendError(f"dimension {axis} of {shape} is not known")
    places = ops.Convert(ops.Range(int64(0), int64(shape[axis]), int64(1), Type.i64), kind).output(0)
    return ops.Broadcast(reshape(places, (-1, *[1] * (len(shape) - axis - 1))), int64(shape))

"""StableHLO reshapes, slices, pads and the like, and TensorFlow Lite's DILATE, a special case of PAD."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.xla import pad_with_interior, permute
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.translators.indexing import clamp_starts, slice_indices, update_slice
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import constant_input, convert_to, int64, rank_of, reshape, transpose
from hetero.graph import Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

rows(
    {
        "STABLEHLO_CONCATENATE": Row(ops.Concat, axis=Attr("dimension")),
        "STABLEHLO_PAD": Row(
            pad_with_interior,
            0,
            1,
            low=Attr("edge_padding_low"),
            high=Attr("edge_padding_high"),
            interior=Attr("interior_padding"),
        ),
        "STABLEHLO_TRANSPOSE": Row(transpose, 0, order=Attr("permutation")),
    },
    preserves_quantization,
)


rows(
    {
        "STABLEHLO_RESHAPE": preserves_quantization(lambda node: _reshape(node.get_input(0), _declared_shape(node))),
    }
)


def _reshape(value: Output, shape: Sequence[int]) -> Output:
    """Reshape to a shape in which -1 is an unknown dimension and 0 is a length of 0 (not "copy the dimension")."""
    if shape.count(-1) > 1:
        raise FrontendError(f"its shape {shape} has more than one unknown dimension")
    return ops.Reshape(value, int64(shape), False).output(0) if 0 in shape else reshape(value, shape)


def _declared_shape(node: TfliteNodeContext) -> list[int]:
    """Return the shape of the output in the file, with -1 for dynamic dimensions."""
    return [length.get_length() if length.is_static else -1 for length in node.output_tensor(0).partial_shape]


@translator("STABLEHLO_BROADCAST_IN_DIM")
@preserves_quantization
def broadcast_in_dim(node: TfliteNodeContext) -> Translation:
    """``broadcast_dimensions``: the output axis of each operand axis, in any order."""
    value, axes, shape = node.get_input(0), node.get_attribute("broadcast_dimensions"), _declared_shape(node)
    if len(axes) != rank_of(value) or len(set(axes)) != len(axes) or any(not 0 <= a < len(shape) for a in axes):
        raise FrontendError(f"broadcast_dimensions {list(axes)} do not map {value.partial_shape} to axes of {shape}")
    value = permute(value, np.argsort(axes).tolist())
    missing = [axis for axis in range(len(shape)) if axis not in axes]
    if missing:
        value = ops.Unsqueeze(value, int64(missing)).output(0)
    # Dynamic dimensions take the operand's length: bidirectional broadcasting with 1.
    return ops.Broadcast(
        value, int64([1 if length < 0 else length for length in shape]), broadcast_spec="bidirectional"
    )


@translator("STABLEHLO_SLICE")
@preserves_quantization
def stablehlo_slice(node: TfliteNodeContext) -> Translation:
    value, names = node.get_input(0), ("start_indices", "limit_indices", "strides")
    if not rank_of(value):
        return value
    return ops.Slice(value, *(int64(node.get_attribute(name)) for name in names), int64(range(rank_of(value))))


@translator("STABLEHLO_DYNAMIC_SLICE")
@preserves_quantization
def dynamic_slice(node: TfliteNodeContext) -> Translation:
    """The start on each axis is an input, clamped so that the slice lies within the operand."""
    value, sizes = node.get_input(0), node.get_attribute("slice_sizes")
    if not rank_of(value):
        return value
    starts = clamp_starts(value, _starts(node, 1, value), int64(sizes).output(0))
    known = exact_value(starts)
    if known is not None:
        return ops.Slice(value, int64(known), int64(known + sizes), int64([1] * len(sizes)), int64(range(len(sizes))))
    for axis, (size, length) in enumerate(zip(sizes, value.partial_shape)):
        # An axis that the slice covers needs no Gather.
        if length != size:
            value = ops.Gather(value, slice_indices(starts, axis, size), int64(axis)).output(0)
    return value


@translator("STABLEHLO_DYNAMIC_UPDATE_SLICE")
@preserves_quantization
def stablehlo_dynamic_update_slice(node: TfliteNodeContext) -> Translation:
    value, update = node.get_input(0), node.get_input(1)
    return update_slice(value, update, _starts(node, 2, value)) if rank_of(value) else update


def _starts(node: TfliteNodeContext, first: int, value: Output) -> Output:
    """Return the slice starts, the inputs from ``first`` on, as one i64[rank]."""
    rank = rank_of(value)
    if node.get_input_size() != first + rank:
        raise FrontendError(f"it has {node.get_input_size() - first} starts for {rank} dimensions")
    starts = [reshape(convert_to(node.get_input(first + axis), Type.i64), (1,)) for axis in range(rank)]
    return ops.Concat(starts, 0).output(0)


@translator("DILATE")
@preserves_quantization
def dilate(node: TfliteNodeContext) -> Translation:
    factors = constant_input(node, 1, "dilations").reshape(-1)
    edges = [0] * factors.size
    return pad_with_interior(node.get_input(0), node.get_input(2), edges, edges, (factors - 1).tolist())


@translator("STABLEHLO_IOTA")
def iota(node: TfliteNodeContext) -> Translation:
    """Return a tensor whose elements are their indices on an axis."""
    axis, shape, kind = node.get_attribute("iota_dimension"), _declared_shape(node), node.output_type(0)
    if not 0 <= axis < len(shape) or -1 in shape:
        raise FrontendError(f"iota_dimension {axis} must be an axis of its shape {shape}, which must be static")
    indices = ops.Convert(ops.Range(int64(0), int64(shape[axis]), int64(1), Type.i64), kind).output(0)
    return ops.Broadcast(reshape(indices, (-1, *[1] * (len(shape) - axis - 1))), int64(shape))

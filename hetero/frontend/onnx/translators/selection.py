"""Slice, gather and other operators that select elements of a value."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, normalize_axis, rank_of, reshape, scalar_like
from hetero.graph import Constant, Node, Output


@translator("Slice")
def slice_axes(node: OnnxNodeContext) -> Translation:
    starts, ends = (node.get_input_or_attribute(index, name) for index, name in ((1, "starts"), (2, "ends")))
    steps = node.get_input(4) if node.has_input(4) else _ones_like(starts)
    return ops.Slice(node.get_input(0), starts, ends, steps, node.get_optional_input_or_attribute(3, "axes"))


def _ones_like(value: Output) -> Node:
    shape = value.partial_shape
    if shape.is_dynamic:
        return ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(value))
    return Constant(np.ones(shape.to_shape(), value.element_type.to_dtype()))


register_direct({"Gather": lambda value, indices, axis: ops.Gather(value, indices, int64(axis))}, 2, axis=0)
register_direct({"NonZero": ops.NonZero}, 1, since=9)
register_direct({"GatherND": ops.GatherND}, 2, since=11, batch_dims=0)
register_direct({"ReverseSequence": ops.ReverseSequence}, 2, since=10, batch_axis=1, time_axis=0)


@translator("GatherElements", since=11)
def gather_elements(node: OnnxNodeContext) -> Translation:
    value, indices, axis = node.get_input(0), node.get_input(1), node.get_attribute("axis", 0)
    if not value.partial_shape.has_rank:
        return ops.GatherElements(value, indices, axis)
    rank = rank_of(value)
    axis = normalize_axis(axis, rank)
    # ONNX allows fewer indices than elements along the other axes; GatherElements-6 needs equal lengths.
    other = [dimension for dimension in range(rank) if dimension != axis]
    if any(_may_differ(value, indices, dimension) for dimension in other):
        zeros, ones = int64([0] * len(other)), int64([1] * len(other))
        value = ops.Slice(value, zeros, axis_length(indices, other), ones, int64(other)).output(0)
    return ops.GatherElements(value, indices, axis)


def _may_differ(value: Output, indices: Output, axis: int) -> bool:
    """Return whether the lengths of an axis differ or are unknown."""
    length, counts = value.partial_shape[axis], indices.partial_shape
    return length.is_dynamic or not counts.has_rank or counts[axis] != length


@translator("Compress", since=9)
def compress(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    if not node.has_attribute("axis"):
        value = reshape(value, (-1,))
    indices = reshape(ops.NonZero(node.get_input(1), "i64").output(0), (-1,))
    return ops.Gather(value, indices, int64(node.get_attribute("axis", 0)))


@translator("OneHot", since=9)
def one_hot(node: OnnxNodeContext) -> Translation:
    indices, depth = (convert_to(node.get_input(index), Type.i64) for index in (0, 1))
    off, on = (ops.Gather(node.get_input(2), int64(index), int64(0)) for index in (0, 1))
    return ops.OneHot(indices, reshape(depth, ()), on, off, node.get_attribute("axis", -1), "normalize")

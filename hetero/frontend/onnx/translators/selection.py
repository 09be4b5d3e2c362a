"""Slice, gather and scatter: operators that select elements of a value, or write into a copy of it."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import gather_elements
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, OptionalInput, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output
from hetero.system.errors import FrontendError


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


def _scatter_elements(data: Output, indices: Output, updates: Output, axis: int, reduction: str) -> Op:
    return ops.ScatterElementsUpdate(data, indices, updates, int64(axis), reduction)


_AXIS = Attr("axis", 0)
_REDUCTION = Attr("reduction", "none", values={"add": "sum", "mul": "prod"})
rows({
    "DynamicSlice": Row(  # an experimental operator that ONNX has removed
        lambda value, starts, ends, axes: ops.Slice(value, starts, ends, _ones_like(starts), axes),
        0, 1, 2, OptionalInput(3),
    ),
    "Gather": Row(lambda value, indices, axis: ops.Gather(value, indices, int64(axis)), axis=_AXIS),
    "GatherElements": Row(gather_elements, since=11, axis=_AXIS),
    "GatherND": Row(ops.GatherND, since=11, batch_dims=Attr("batch_dims", 0)),
    "NonZero": Row(ops.NonZero, since=9),
    "ReverseSequence": Row(
        ops.ReverseSequence, since=10, batch_axis=Attr("batch_axis", 1), seq_axis=Attr("time_axis", 0)
    ),
    "Scatter": Row(_scatter_elements, since=9, axis=_AXIS, reduction="none"),
    "ScatterElements": Row(_scatter_elements, since=11, axis=_AXIS, reduction=_REDUCTION),
    "ScatterND": Row(ops.ScatterNDUpdate, since=11, reduction=_REDUCTION),
})  # fmt: skip


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


@translator("TensorScatter", since=24)
def tensor_scatter(node: OnnxNodeContext) -> Translation:
    """Write each batch element's update at its own start index; in circular mode it wraps around at the end."""
    cache, update = node.get_input(0), node.get_input(1)
    rank = rank_of(cache)
    axis = normalize_axis(node.get_attribute("axis", -2), rank)
    mode = node.get_attribute("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise FrontendError(f"axis must not be 0 and mode must be linear or circular, but they are {axis} and {mode}")
    positions = arange(axis_length(update, axis))
    if node.has_input(2):
        positions = ops.Add(ops.Unsqueeze(node.get_input(2), int64([1])), positions).output(0)
    if mode == "circular":
        positions = ops.FloorMod(positions, axis_length(cache, axis)).output(0)
    rows = ops.Unsqueeze(arange(axis_length(update, 0)), int64([1]))
    # Adding 0 times the other broadcasts both to [batch, positions].
    zero = int64(0)
    pair = (ops.Add(rows, ops.Multiply(positions, zero)), ops.Add(positions, ops.Multiply(rows, zero)))
    indices = ops.Concat([ops.Unsqueeze(part, int64([2])) for part in pair], 2)
    # ScatterND writes along leading axes, so the axis is moved behind the batch and back.
    order = [0, axis, *(other for other in range(1, rank) if other != axis)]
    inverse = [order.index(dimension) for dimension in range(rank)]
    data, updates = (ops.Transpose(value, int64(order)) for value in (cache, update))
    return ops.Transpose(ops.ScatterNDUpdate(data, indices, updates), int64(inverse))


@translator("MaxUnpool", since=9)
def max_unpool(node: OnnxNodeContext) -> Translation:
    """Write each element at its flat index into a result of zeros."""
    value, indices = node.get_input(0), node.get_input(1)
    kernel = node.get_attribute("kernel_shape")
    count = len(kernel)
    strides = node.get_attribute("strides", (1,) * count)
    pads = node.get_attribute("pads", (0,) * (2 * count))
    # Each spatial length is (length - 1) · stride + kernel - pads.
    offsets = [k - s - b - e for k, s, b, e in zip(kernel, strides, pads[:count], pads[count:])]
    shape = ops.Add(ops.Multiply(ops.ShapeOf(value), int64([1, 1, *strides])), int64([0, 0, *offsets]))
    zeros = ops.Broadcast(scalar_like(value, 0), ops.ReduceProd(shape, int64([0]), True))
    flat = ops.ScatterUpdate(zeros, reshape(indices, (-1,)), reshape(value, (-1,)), int64(0))
    result = ops.Reshape(flat, shape, False)
    if not node.has_input(2):
        return result
    pads_end = ops.Subtract(node.get_input(2), shape)
    return ops.Pad(result, ops.Multiply(pads_end, int64(0)), pads_end, "constant", scalar_like(value, 0))

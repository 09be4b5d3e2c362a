"""Scatter operators, which write updates into a copy of a value."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, normalize_axis, rank_of, reshape, scalar_like
from hetero.system.errors import FrontendError

_REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}


def _reduction(node: OnnxNodeContext) -> str:
    name = node.get_attribute("reduction", "none")
    if name not in _REDUCTIONS:
        raise FrontendError(f"reduction must be one of {', '.join(_REDUCTIONS)}, but is {name}")
    return _REDUCTIONS[name]


@translator("Scatter", since=9)
@translator("ScatterElements", since=11)
def scatter_elements(node: OnnxNodeContext) -> Translation:
    data, indices, updates = (node.get_input(index) for index in range(3))
    return ops.ScatterElementsUpdate(data, indices, updates, int64(node.get_attribute("axis", 0)), _reduction(node))


@translator("ScatterND", since=11)
def scatter_nd(node: OnnxNodeContext) -> Translation:
    return ops.ScatterNDUpdate(*(node.get_input(index) for index in range(3)), _reduction(node))


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

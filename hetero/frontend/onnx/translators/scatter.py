"""Operators that write into a copy of a value."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, length_of, normalize_axis, rank_of, reshape, scalar_like
from hetero.graph import Output

_REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}


def _reduction(node: OnnxNodeContext) -> str:
    name = node.get_attribute("reduction", "none")
    if name not in _REDUCTIONS:
        raise FrontendError(f"reduction {name} is none of {', '.join(_REDUCTIONS)}")
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
    """Each element of the batch is written from its own index on, where circular again at the front from the end on."""
    cache, update = node.get_input(0), node.get_input(1)
    rank = rank_of(cache)
    axis = normalize_axis(node.get_attribute("axis", -2), rank)
    mode = node.get_attribute("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise FrontendError(f"axis {axis} must not be the batch and mode {mode} must be linear or circular")
    batch, count = (length_of(update, place) for place in (0, axis))
    places = ops.Range(int64(0), count, int64(1), "i64")
    if node.has_input(2):
        places = ops.Add(ops.Unsqueeze(node.get_input(2), int64([1])), places)
    if mode == "circular":
        places = ops.FloorMod(places, length_of(cache, axis))
    rows = ops.Unsqueeze(ops.Range(int64(0), batch, int64(1), "i64"), int64([1]))
    both = ops.Concat([ops.Unsqueeze(reach, int64([2])) for reach in _broadcast(rows, places)], 2)
    # The axis stands behind the batch while it is written.
    order = [0, axis, *(place for place in range(1, rank) if place != axis)]
    back = [order.index(place) for place in range(rank)]
    moved = (ops.Transpose(value, int64(order)) for value in (cache, update))
    data, updates = moved
    return ops.Transpose(ops.ScatterNDUpdate(data, both, updates), int64(back))


def _broadcast(rows: Output, places: Output) -> tuple[Output, Output]:
    """Two values in the shape that both broadcast to."""
    zero = int64(0)
    return ops.Add(rows, ops.Multiply(places, zero)), ops.Add(places, ops.Multiply(rows, zero))


@translator("MaxUnpool", since=9)
def max_unpool(node: OnnxNodeContext) -> Translation:
    """Each element goes where its index, counted over the whole result, says; what is left is 0."""
    value, indices = node.get_input(0), node.get_input(1)
    kernel = node.get_attribute("kernel_shape")
    count = len(kernel)
    strides = node.get_attribute("strides", (1,) * count)
    pads = node.get_attribute("pads", (0,) * (2 * count))
    added = [k - s - b - e for k, s, b, e in zip(kernel, strides, pads[:count], pads[count:])]
    shape = ops.ShapeOf(value)
    shape = ops.Add(ops.Multiply(shape, int64([1, 1, *strides])), int64([0, 0, *added]))
    size = ops.ReduceProd(shape, int64([0]), True)
    empty = ops.Broadcast(scalar_like(value, 0), size)
    flat = ops.ScatterUpdate(empty, reshape(indices, (-1,)), reshape(value, (-1,)), int64(0))
    result = ops.Reshape(flat, shape, False)
    if node.has_input(2):
        more = ops.Subtract(node.get_input(2), shape)
        none = ops.Multiply(more, int64(0))
        result = ops.Pad(result, none, more, "constant", scalar_like(value, 0))
    return result

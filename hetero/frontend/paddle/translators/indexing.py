"""Selection of elements by index or condition, and replacement of them."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import gather_elements, stack
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, ConversionResult, Row
from hetero.frontend.translation.values import (
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    scalar_like,
)
from hetero.graph import Output
from hetero.system.errors import FrontendError

# The reductions of ScatterElementsUpdate by those of put_along_axis.
_REDUCTIONS = {
    "assign": "none", "add": "sum", "mul": "prod", "multiply": "prod", "amax": "max", "amin": "min", "mean": "mean",
}  # fmt: skip


@translator("gather")
def gather(node: PaddleNodeContext) -> ConversionResult:
    value, index = node.get_input("X"), node.get_input("Index")
    if rank_of(index) == 2:
        index = reshape(index, (-1,))
    return ops.Gather(value, index, int64(node.known_integer("axis", "Axis", default=0)))


@translator("gather_nd")
def gather_nd(node: PaddleNodeContext) -> ConversionResult:
    value, index = node.get_input("X"), node.get_input("Index")
    if index.partial_shape[-1] == 0:
        # No index selects the whole tensor, once for each row.
        shape = ops.Concat([ops.Slice(ops.ShapeOf(index), int64([0]), int64([-1]), int64([1])), ops.ShapeOf(value)], 0)
        return ops.Broadcast(value, shape)
    return ops.GatherND(value, index)


@translator("put_along_axis")
def put_along_axis(node: PaddleNodeContext) -> ConversionResult:
    value, index, updates = (node.get_input(name) for name in ("Input", "Index", "Value"))
    reduction = node.get_attribute("Reduce", "assign")
    if reduction not in _REDUCTIONS:
        raise FrontendError(f"reduction {reduction} is not supported")
    updates = ops.Broadcast(updates, ops.ShapeOf(index)).output(0)
    axis = int64(node.get_attribute("Axis", 0))
    return ops.ScatterElementsUpdate(
        value, index, updates, axis, _REDUCTIONS[reduction], node.get_attribute("include_self", True)
    )


@translator("scatter")
def scatter(node: PaddleNodeContext) -> ConversionResult:
    """Replace rows, or with ``overwrite`` off, set them to the sum of their updates."""
    value, index, updates = (node.get_input(name) for name in ("X", "Ids", "Updates"))
    if rank_of(index) == 2:
        index = reshape(index, (-1,))
    if node.get_attribute("overwrite", True):
        return ops.ScatterUpdate(value, index, updates, int64(0))
    places = reshape(index, (-1, 1))
    cleared = ops.ScatterUpdate(value, index, ops.Multiply(updates, scalar_like(updates, 0)), int64(0))
    return ops.ScatterNDUpdate(cleared, places, updates, "sum")


@translator("masked_select")
def masked_select(node: PaddleNodeContext) -> ConversionResult:
    value, mask = node.get_input("X"), node.get_input("Mask")
    if value.partial_shape.is_dynamic or value.partial_shape != mask.partial_shape:
        value, mask = (
            ops.Broadcast(part, ops.ShapeOf(other), broadcast_spec="BIDIRECTIONAL").output(0)
            for part, other in ((value, mask), (mask, value))
        )
    places = ops.Transpose(ops.NonZero(mask, "i64"), int64([1, 0]))
    return {"Y": ops.GatherND(value, places)}


@translator("lookup_table", "lookup_table_v2")
def embedding(node: PaddleNodeContext) -> ConversionResult:
    """Rows of a table; those of ``padding_idx`` are zero."""
    index, table, padding = node.get_input("Ids"), node.get_input("W"), node.get_attribute("padding_idx", -1)
    if node.get_op_type() == "lookup_table":
        index = ops.Squeeze(index, int64([-1])).output(0)
    rows = ops.Gather(table, index, int64(0))
    if padding < 0:
        return rows
    is_padding = ops.Unsqueeze(ops.Equal(index, scalar_like(index, padding)), int64([-1]))
    return ops.Select(is_padding, scalar_like(table, 0), rows)


@translator("one_hot_v2", "one_hot")
def one_hot(node: PaddleNodeContext) -> ConversionResult:
    index = node.get_input("X")
    if node.get_op_type() == "one_hot":
        index = ops.Squeeze(index, int64([-1])).output(0)
    kind = node.type_attribute("dtype") or Type.f32
    depth = node.scalar("depth", "depth_tensor", Type.i64)
    on, off = (np.array(number, kind.to_dtype()) for number in (1, 0))
    return ops.OneHot(index, depth, on, off, -1)


@translator("multiplex")
def multiplex(node: PaddleNodeContext) -> ConversionResult:
    """For each row the index of the tensor that it comes from."""
    index = ops.Reshape(node.get_input("Ids"), int64([-1]), False)
    stacked = stack(node.get_inputs("X"), 1)
    places = ops.Unsqueeze(ops.Convert(index, Type.i64), int64([1]))
    return ops.GatherND(stacked, places, 1)


@translator("index_put")
def index_put(node: PaddleNodeContext) -> ConversionResult:
    """Replace, or with ``accumulate`` increase, elements at indices that broadcast; a condition is its true places."""
    value, updates = node.get_input("x"), node.get_input("value")
    indices: list[Output] = []
    for index in node.get_inputs("indices"):
        if index.element_type is Type.boolean:
            places = ops.NonZero(index, "i64")
            indices += [ops.Gather(places, int64(row), int64(0)).output(0) for row in range(rank_of(index))]
        else:
            indices.append(convert_to(index, Type.i64))
    total = indices[0]
    for other in indices[1:]:
        total = ops.Add(total, other).output(0)
    shape = ops.ShapeOf(total)
    joined = stack((ops.Broadcast(index, shape) for index in indices), -1)
    rest = ops.Slice(ops.ShapeOf(value), int64([len(indices)]), int64([np.iinfo(np.int64).max]), int64([1]))
    updates = ops.Broadcast(updates, ops.Concat([shape, rest], 0)).output(0)
    positive = _positive(joined.output(0), value, len(indices))
    reduction = "sum" if node.get_attribute("accumulate", False) else "none"
    return ops.ScatterNDUpdate(value, positive, updates, reduction)


def _positive(places: Output, value: Output, count: int) -> Output:
    lengths = ops.Slice(ops.ShapeOf(value), int64([0]), int64([count]), int64([1]))
    places = convert_to(places, Type.i64)
    return ops.Select(ops.Less(places, int64(0)), ops.Add(places, lengths), places).output(0)


@translator("index_add")
def index_add(node: PaddleNodeContext) -> ConversionResult:
    """Add slices to those of an axis at the indices."""
    value, index, updates = (node.get_input(name) for name in ("X", "Index", "AddValue"))
    axis = normalize_axis(node.get_attribute("axis", 0), rank_of(value))
    lengths = [1 if at != axis else -1 for at in range(rank_of(value))]
    places = ops.Broadcast(reshape(convert_to(index, Type.i64), lengths), ops.ShapeOf(updates))
    return ops.ScatterElementsUpdate(value, places, updates, int64(axis), "sum", True)


@translator("fold")
def fold(node: PaddleNodeContext) -> ConversionResult:
    """The sum of windows at their places in an image: the inverse of ``unfold``."""
    sizes, kernel = node.get_attribute("output_sizes"), node.get_attribute("kernel_sizes")
    pads = list(node.get_attribute("paddings"))
    begin, end = (pads, pads) if len(pads) == 2 else (pads[:2], pads[2:])
    return {
        "Y": ops.Col2Im(
            node.get_input("X"), int64(sizes), int64(kernel), node.get_attribute("strides"),
            node.get_attribute("dilations"), begin, end,
        )
    }  # fmt: skip


@translator("unfold")
def unfold(node: PaddleNodeContext) -> ConversionResult:
    """Windows of an image as columns ``[N, channels · window, places]``."""
    value = node.get_input("X")
    sizes, strides, dilations = (node.get_attribute(name) for name in ("kernel_sizes", "strides", "dilations"))
    pads = node.get_attribute("paddings")
    pads = [*pads, *pads] if len(pads) == 2 else pads
    begin, end = int64([0, 0, *pads[:2]]), int64([0, 0, *pads[2:]])
    padded = ops.Pad(value, begin, end, "constant", scalar_like(value, 0)).output(0)
    channels = value.partial_shape[1].get_length()
    patches = ops.ExtractImagePatches(padded, sizes, strides, dilations, "valid").output(0)
    # The patches have the order [window, channels], the columns [channels, window].
    split = ops.Reshape(patches, int64([0, sizes[0] * sizes[1], channels, -1]), True)
    return ops.Reshape(ops.Transpose(split, int64([0, 2, 1, 3])), int64([0, channels * sizes[0] * sizes[1], -1]), True)


rows(
    {
        "index_sample": Row(ops.GatherElements, "X", "Index", axis=1),
        "index_select": Row(
            lambda value, index, axis: ops.Gather(value, index, int64(axis)), "X", "Index", axis=Attr("dim", 0)
        ),
        "scatter_nd_add": Row(ops.ScatterNDUpdate, "X", "Index", "Updates", reduction="sum"),
        "take_along_axis": Row(gather_elements, "Input", "Index", axis=Attr("Axis", 0)),
        "where": Row(
            lambda condition, x, y: ops.Select(convert_to(condition, Type.boolean), x, y), "Condition", "X", "Y"
        ),
        "where_index": Row(lambda value: ops.Transpose(ops.NonZero(value, "i64"), int64([1, 0])), "Condition"),
    }
)

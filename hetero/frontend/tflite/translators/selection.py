"""Operators that take elements by their places, or find the places."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, length_of, reshape, scalar_like
from hetero.graph import Constant, Output
from hetero.types import Type


@translator("GATHER")
def gather(node: TfliteNodeContext) -> Translation:
    """Of packed integers they may be whole ones."""
    axis, batch = node.get_attribute("axis", 0), node.get_attribute("batch_dims", 0)
    taken = ops.Gather(node.get_input(0), node.get_input(1), int64(axis), batch).output(0)
    return converted(taken, node.output_tensor(0).element_type)


@translator("GATHER_ND")
def gather_nd(node: TfliteNodeContext) -> Translation:
    return ops.GatherND(node.get_input(0), node.get_input(1), 0)


@translator("WHERE")
def where(node: TfliteNodeContext) -> Translation:
    """The places of what is not zero, a row each."""
    return ops.Transpose(ops.NonZero(node.get_input(0)), int64([1, 0]))


@translator("UNIQUE")
def unique(node: TfliteNodeContext) -> Translation:
    """Different elements in the order in which they come, and the place of each element among them."""
    found = ops.Unique(node.get_input(0), None, False, node.output_tensor(1).element_type)
    return [found.output(0), found.output(2)]


@translator("TOPK_V2")
def top_k(node: TfliteNodeContext) -> Translation:
    kind = node.output_tensor(1).element_type
    index = kind if kind in (Type.i32, Type.i64) else Type.i32
    best = ops.TopK(node.get_input(0), reshape(node.get_input(1), ()), -1, "max", "value", index, True)
    return [best.output(0), best.output(1) if kind is index else ops.Convert(best.output(1), kind)]


@translator("BUCKETIZE")
def bucketize(node: TfliteNodeContext) -> Translation:
    bounds = Constant(np.array(node.get_attribute("boundaries", ()), np.float32))
    return ops.Bucketize(node.get_input(0), bounds, Type.i32, False)


@translator("HASHTABLE_LOOKUP")
def hashtable_lookup(node: TfliteNodeContext) -> Translation:
    """Rows by sorted keys, zeros for keys that are not there; and whether each is there."""
    wanted, keys, rows = (node.get_input(index) for index in range(3))
    place = ops.SearchSorted(keys, wanted, False, Type.i64)
    place = ops.Minimum(place, ops.Subtract(length_of(keys, 0), int64(1)))
    found = ops.Equal(ops.Gather(keys, place, int64(0)), wanted)
    taken = ops.Gather(rows, place, int64(0)).output(0)
    behind = len(taken.partial_shape) - 1
    each = reshape(found.output(0), (-1, *[1] * behind)) if behind else found
    return [ops.Select(each, taken, _nothing_like(taken)), ops.Convert(found, Type.u8)]


def _nothing_like(value: Output) -> Constant:
    return Constant(np.array("")) if value.element_type is Type.string else scalar_like(value, 0)

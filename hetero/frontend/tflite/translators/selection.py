"""Gather, non-zero indices, unique elements, top-k, bucketize and lookup by key."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, reshape, scalar_like
from hetero.graph import Constant, Output


@translator("GATHER")
def gather(node: TfliteNodeContext) -> Translation:
    """The output of 4-bit integers may be wider ones."""
    axis, batch = node.get_attribute("axis", 0), node.get_attribute("batch_dims", 0)
    gathered = ops.Gather(node.get_input(0), node.get_input(1), int64(axis), batch).output(0)
    return convert_to(gathered, node.output_type(0))


@translator("WHERE")
def where(node: TfliteNodeContext) -> Translation:
    """Return the indices of non-zero elements, one row each."""
    return ops.Transpose(ops.NonZero(node.get_input(0)), int64([1, 0]))


@translator("UNIQUE")
def unique(node: TfliteNodeContext) -> Translation:
    """Return the unique elements in the order of their first occurrence, and the index of each element among them."""
    operation = ops.Unique(node.get_input(0), None, False, node.output_type(1))
    return [operation.output(0), operation.output(2)]


@translator("TOPK_V2")
def top_k(node: TfliteNodeContext) -> Translation:
    kind = node.output_type(1)
    index = kind if kind in (Type.i32, Type.i64) else Type.i32
    best = ops.TopK(node.get_input(0), reshape(node.get_input(1), ()), -1, "max", "value", index, True)
    return [best.output(0), best.output(1) if kind is index else ops.Convert(best.output(1), kind)]


@translator("BUCKETIZE")
def bucketize(node: TfliteNodeContext) -> Translation:
    bounds = Constant(np.array(node.get_attribute("boundaries", ()), np.float32))
    return ops.Bucketize(node.get_input(0), bounds, Type.i32, False)


@translator("HASHTABLE_LOOKUP")
def hashtable_lookup(node: TfliteNodeContext) -> Translation:
    """Return the rows of keys, zeros for missing keys, and whether each key was found. The table's keys are sorted."""
    wanted, keys, rows = (node.get_input(index) for index in range(3))
    position = ops.SearchSorted(keys, wanted, False, Type.i64)
    index = ops.Minimum(position, ops.Subtract(axis_length(keys, 0), int64(1)))
    found = ops.Equal(ops.Gather(keys, index, int64(0)), wanted)
    gathered = ops.Gather(rows, index, int64(0)).output(0)
    row_rank = len(gathered.partial_shape) - 1
    mask = reshape(found.output(0), (-1, *[1] * row_rank)) if row_rank else found
    return [ops.Select(mask, gathered, _empty_like(gathered)), ops.Convert(found, Type.u8)]


def _empty_like(value: Output) -> Constant:
    """Return a scalar 0, or "" for strings."""
    return Constant(np.array("")) if value.element_type is Type.string else scalar_like(value, 0)

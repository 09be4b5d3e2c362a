"""TopK, ArgMax, ArgMin and Unique."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, reshape


@translator("TopK")
def top_k(node: OnnxNodeContext) -> Translation:
    count = reshape(node.get_input_or_attribute(1, "k"), ())
    mode = "max" if node.get_attribute("largest", 1) else "min"
    order = "value" if node.get_attribute("sorted", 1) else "none"
    return ops.TopK(node.get_input(0), count, node.get_attribute("axis", -1), mode, order, "i64", True)


@translator("ArgMax", "ArgMin")
def arg_max_or_min(node: OnnxNodeContext) -> Translation:
    value, axis = node.get_input(0), node.get_attribute("axis", 0)
    mode = "max" if node.get_op_type() == "ArgMax" else "min"
    last = node.get_attribute("select_last_index", 0)
    if last:  # search the first index in the reversed value
        value = ops.Slice(value, int64([-1]), int64([-(2**63)]), int64([-1]), int64([axis])).output(0)
    index = ops.TopK(value, int64(1), axis, mode, "value", "i64", True).output(1)
    if last:
        index = ops.Subtract(ops.Subtract(axis_length(value, axis), int64(1)), index).output(0)
    return index if node.get_attribute("keepdims", 1) else ops.Squeeze(index, int64([axis]))


@translator("Unique", since=11)
def unique(node: OnnxNodeContext) -> Translation:
    axis = int64(node.get_attribute("axis")) if node.has_attribute("axis") else None
    return ops.Unique(node.get_input(0), axis, node.get_attribute("sorted", 1))

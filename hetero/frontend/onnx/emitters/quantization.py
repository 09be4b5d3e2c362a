"""FakeQuantize."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import NodeWriter


@emitter(ops.FakeQuantize)
def fake_quantize(node: NodeWriter) -> str:
    """Round to levels between input_low and input_high, mapped to the range from output_low to output_high."""
    data, low, high, output_low, output_high = node.inputs
    steps = node.number(node.op.levels - 1)
    position = node.add("Div", node.add("Sub", data, low), node.add("Sub", high, low))
    level = node.add("Div", node.add("Round", node.add("Mul", position, steps)), steps)
    inside = node.add("Add", node.add("Mul", level, node.add("Sub", output_high, output_low)), output_low)
    bounded = node.add("Where", node.add("Greater", data, node.add("Max", low, high)), output_high, inside)
    return node.add("Where", node.add("LessOrEqual", data, node.add("Min", low, high)), output_low, bounded)

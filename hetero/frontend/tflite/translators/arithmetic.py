"""Element-wise arithmetic."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import on_numbers
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.translation import Translation

_BINARY = {"ADD": ops.Add, "SUB": ops.Subtract, "MUL": ops.Multiply, "DIV": ops.Divide}


@translator(*_BINARY)
@on_numbers
def binary(node: TfliteNodeContext) -> Translation:
    return activated(node, _BINARY[node.get_op_type()](node.get_input(0), node.get_input(1)))

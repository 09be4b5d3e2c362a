"""Basic arithmetic, activation functions and bias addition."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation

_BINARY = {
    "Add": ops.Add, "AddV2": ops.Add, "Sub": ops.Subtract, "Mul": ops.Multiply, "Maximum": ops.Maximum,
    "Minimum": ops.Minimum,
}  # fmt: skip
_UNARY = {
    "Relu": ops.Relu, "Sigmoid": ops.Sigmoid, "Tanh": ops.Tanh, "Exp": ops.Exp, "Sqrt": ops.Sqrt, "Erf": ops.Erf,
    "Neg": ops.Negative, "Abs": ops.Abs, "Log": ops.Log,
}  # fmt: skip


@translator(*_BINARY)
def binary(node: TensorflowNodeContext) -> Translation:
    return _BINARY[node.get_op_type()](node.get_input(0), node.get_input(1))


@translator(*_UNARY)
def unary(node: TensorflowNodeContext) -> Translation:
    return _UNARY[node.get_op_type()](node.get_input(0))

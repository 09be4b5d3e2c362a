"""Integers that are computed at run time, from the lengths of the inputs, and checks of them."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Output, as_output

_OPERATIONS = {
    "add": ops.Add, "sub": ops.Subtract, "mul": ops.Multiply, "floordiv": ops.Divide, "mod": ops.FloorMod,
    "eq": ops.Equal, "ne": ops.NotEqual, "lt": ops.Less, "le": ops.LessEqual, "gt": ops.Greater,
    "ge": ops.GreaterEqual,
}  # fmt: skip


@translator(*(f"_operator.{name}" for name in _OPERATIONS))
def number(node: TorchNodeContext) -> Translation:
    left, right = (as_output(Constant(value)) if not isinstance(value, Output) else value
                   for value in node.arguments.values())  # fmt: skip
    return _OPERATIONS[node.get_op_type().removeprefix("_operator.")](left, right)


@translator("aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata", "aten::sym_constrain_range",
            "aten::sym_constrain_range_for_size")  # fmt: skip
def check(node: TorchNodeContext) -> Translation:
    """Checks that torch makes at run time, of lengths that shape inference knows."""
    return []

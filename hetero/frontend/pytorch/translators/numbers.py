"""Integers that are computed at run time, from the lengths of the inputs, and checks of them."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.promotion import promoted_type
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation

_OPERATIONS = {
    "add": ops.Add, "sub": ops.Subtract, "mul": ops.Multiply, "floordiv": ops.Divide, "mod": ops.FloorMod,
    "eq": ops.Equal, "ne": ops.NotEqual, "lt": ops.Less, "le": ops.LessEqual, "gt": ops.Greater,
    "ge": ops.GreaterEqual, "pow": ops.Power, "sym_max": ops.Maximum, "sym_min": ops.Minimum, "truediv": ops.Divide,
}  # fmt: skip


@translator(*(f"torch.{name}" if name.startswith("sym_") else f"_operator.{name}" for name in _OPERATIONS))
def number(node: TorchNodeContext) -> Translation:
    name = node.get_op_type().partition(".")[2]
    kind = Type.f64 if name == "truediv" else promoted_type(tuple(node.arguments.values()))
    return _OPERATIONS[name](*(node.converted(key, kind) for key in node.arguments))


@translator("aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata", "aten::sym_constrain_range",
            "aten::sym_constrain_range_for_size")  # fmt: skip
def check(node: TorchNodeContext) -> Translation:
    """Checks that torch makes at run time, of lengths that shape inference knows."""
    return []

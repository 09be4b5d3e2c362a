"""Element-wise functions of one input: mathematics, activation functions, classification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.numerics import elementwise
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import rows, translator
from hetero.frontend.translation.operator_table import Row
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import scalar_like
from hetero.graph import Output

_FUNCTIONS: dict[str, Callable[[Output], Any]] = {
    "Acos": ops.Acos, "Acosh": ops.Acosh, "Asin": ops.Asin, "Asinh": ops.Asinh, "Atan": ops.Atan, "Atanh": ops.Atanh,
    "Ceil": ops.Ceiling, "Cos": ops.Cos, "Cosh": ops.Cosh, "Floor": ops.Floor, "Invert": ops.BitwiseNot,
    "IsFinite": ops.IsFinite, "IsInf": ops.IsInf, "IsNan": ops.IsNaN, "Mish": ops.Mish, "Rint": ops.Round,
    "Sign": ops.Sign, "Sin": ops.Sin, "Sinh": ops.Sinh, "Softsign": ops.SoftSign, "Swish": ops.Swish, "Tan": ops.Tan,
}  # fmt: skip


@translator(*_FUNCTIONS)
def unary(node: TensorflowNodeContext) -> Translation:
    return _FUNCTIONS[node.get_op_type()](node.get_input(0))


@translator("Round")
def round_half_to_even(node: TensorflowNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Round(value) if value.element_type.is_real() else value


rows(
    {
        "Reciprocal": Row(elementwise.reciprocal), "Inv": Row(elementwise.reciprocal), "Log1p": Row(elementwise.log1p),
        "Expm1": Row(elementwise.expm1), "Erfc": Row(elementwise.erfc),
    }
)  # fmt: skip


@translator("ToBool")
def to_bool(node: TensorflowNodeContext) -> Translation:
    """A scalar is true if it is not 0, another tensor if it is not empty."""
    value = node.get_input(0)
    if value.partial_shape.has_rank and len(value.partial_shape) == 0:
        return ops.NotEqual(value, scalar_like(value, 0))
    size = ops.ReduceProd(ops.ShapeOf(value), np.array([0]), False)
    return ops.NotEqual(size, np.int64(0))

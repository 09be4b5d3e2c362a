"""The error function by polynomials, for those that are no part of a GELU, as oneDNN has none.

The coefficients are those of N. Juffa's erff, whose error is one unit in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Model, Node, Output, copy_rt_info
from hetero.passes import changes_numerics, keeps_values

# Up to this magnitude x · (1 + a polynomial of x²), then 1 - exp(|x| · (a polynomial of |x| - 1)), and from 4 on 1.
_LIMIT = 475 / 512
_SMALL = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
_LARGE = (
    -1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1, -1.28717512e-1,
)  # fmt: skip
_ERF_OF_LIMIT = math.erf(_LIMIT)


@changes_numerics
@keeps_values
def compute_erf_by_polynomials(model: Model) -> bool:
    """Replace Erf of f32 by element-wise operations. Requires: GELUs are fused."""
    nodes = [node for node in model.get_ordered_ops() if type(node) is ops.Erf and node.get_element_type() is Type.f32]
    for node in nodes:
        made = _erf(node.input_value(0))
        made.friendly_name = node.friendly_name
        copy_rt_info([node], made)
        node.output(0).replace(made.output(0))
        node.disconnect()
    return bool(nodes)


def _erf(x: Output) -> Node:
    small = ops.Clamp(x, -_LIMIT, _LIMIT)
    near_zero = ops.Add(ops.Multiply(_polynomial(_SMALL, ops.Multiply(small, small)), small), small)
    magnitude = ops.Clamp(ops.Abs(x), _LIMIT, 4.0)
    exponent = ops.Subtract(ops.Multiply(_polynomial(_LARGE, magnitude), magnitude), magnitude)
    rest = ops.Subtract(np.float32(1 - _ERF_OF_LIMIT), ops.Exp(exponent))
    # 0 up to the limit, then the sign.
    sign = ops.Clamp(ops.Multiply(ops.Subtract(x, small), np.finfo(np.float32).max), -1.0, 1.0)
    return ops.Add(near_zero, ops.Multiply(sign, rest))


def _polynomial(coefficients: Sequence[float], x: Node) -> Node:
    value = ops.Add(ops.Multiply(x, np.float32(coefficients[0])), np.float32(coefficients[1]))
    for coefficient in coefficients[2:]:
        value = ops.Add(ops.Multiply(value, x), np.float32(coefficient))
    return value

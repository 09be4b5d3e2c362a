"""Select of a number where data are 0, as in scales of dynamic quantization, by arithmetic: oneDNN has no booleans."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Model, Node, Output
from hetero.passes import keeps_values
from hetero.passes.matching.rewriting import only_reader, replace, rewrite_each
from hetero_onednn.quantization import single_number

# Their product with the least denormal number is above 1, and each is below the largest number.
_FACTORS = (1e30, 1e16)


@keeps_values
def replace_zeros_by_arithmetic(model: Model) -> bool:
    """Replace ``Select(Equal(x, 0), number, x)`` of f32, which nothing else reads the condition of, by arithmetic.

    The results are equal, also for NaN, infinities and denormal numbers.
    """
    return rewrite_each(model, (ops.Select,), _rewrite)


def _rewrite(select: ops.Select) -> bool:
    condition, number, x = select.input_values()
    equal, replacement = condition.node, single_number(number)
    if type(equal) is not ops.Equal or only_reader(equal) is None or x.element_type is not Type.f32:
        return False
    data, zero = equal.input_values()
    if data != x or single_number(zero) != 0 or replacement is None or not np.isfinite(replacement):
        return False
    if number.shape or x.partial_shape != select.output(0).partial_shape:
        return False
    replace([equal, select], ops.Add(x, ops.Subtract(number, ops.Multiply(_is_not_zero(x), number))))
    return True


def _is_not_zero(x: Output) -> Node:
    """Return 1 for numbers that are not 0, else 0. NaN gives any number."""
    first, second = _FACTORS
    magnitude = ops.Multiply(ops.Clamp(ops.Abs(x), 0.0, 1 / first), np.float32(first))
    return ops.Clamp(ops.Multiply(magnitude, np.float32(second)), 0.0, 1.0)

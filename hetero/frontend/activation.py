"""Activation functions that formats state otherwise than OpenVINO's operations do."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.values import reshape, scalar_like
from hetero.graph import Output


def prelu_broadcasting(value: Output, slope: Output) -> Output:
    """x where x > 0, else slope · x, with a slope that broadcasts as numpy has it.

    PRelu-1 takes a slope of one dimension as one for each channel.
    """
    if slope.partial_shape.has_rank:
        one_dimension = len(slope.partial_shape) == 1
        return ops.PRelu(value, reshape(slope, (1, -1)) if one_dimension else slope).output(0)
    zero = scalar_like(value, 0)
    negative = ops.Multiply(ops.Minimum(value, zero), slope)
    return ops.Add(ops.Maximum(value, zero), negative).output(0)
